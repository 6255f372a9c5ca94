use super::error_text::{error_line, is_of_dead_thread, is_of_traceback};
use fencepost_faults::{Node, SimTime};
use fencepost_programs::{CallMade, Channel, Ending, FilesUsed};
use fencepost_reports::record::programs::{Printed, ProgramReport};
use fencepost_reports::{Action, Event, What};
use std::cell::RefCell;
use std::collections::BTreeMap;

const EXECVE: u16 = 59;
const THREAD_DIED: &str = "lost a thread to an uncaught error";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doing {
    Nothing,
    /// In an operation, such as an acquire, or in the critical section.
    Call,
}

/// One execution of a program or a server, until it ends or its host crashes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Life {
    pub node: Node,
    pub started: SimTime,
    /// `None` if the host crashed, or if the run ended before the program did.
    pub ending: Option<(SimTime, Ending)>,
    pub died_inside: bool,
    pub output: Vec<(SimTime, Channel, Vec<u8>)>,
    pub output_dropped: usize,
    /// `true` if the program has reported to the judge, or need not report.
    pub has_spoken: bool,
    pub sent_last: Option<SimTime>,
    /// `true` if the program sent HTTP/2, as gRPC does, to a server that does not support it.
    pub sent_http2: bool,
    /// `true` if the program connected to a Sentinel.
    pub asked_sentinel: bool,
    pub crashed: Option<SimTime>,
    /// Time at which a thread died of an uncaught error, although its process continued.
    pub died: Option<SimTime>,
    pub calls: Vec<CallMade>,
    pub used: FilesUsed,
    /// Number of times that the tracer preempted a thread; the run may then not be reproducible.
    pub preempted: u32,
}

#[derive(Default)]
pub(crate) struct ProgramLives(pub(crate) RefCell<Vec<Life>>);

impl ProgramLives {
    pub(crate) fn begins(&self, node: Node, started: SimTime) -> usize {
        let mut lives = self.0.borrow_mut();
        lives.push(Life {
            node,
            started,
            ending: None,
            died_inside: false,
            output: Vec::new(),
            output_dropped: 0,
            has_spoken: false,
            sent_last: None,
            sent_http2: false,
            asked_sentinel: false,
            crashed: None,
            died: None,
            calls: Vec::new(),
            used: FilesUsed::default(),
            preempted: 0,
        });
        lives.len() - 1
    }

    pub(crate) fn with(&self, place: usize, change: impl FnOnce(&mut Life)) {
        if let Some(life) = self.0.borrow_mut().get_mut(place) {
            change(life);
        }
    }

    pub(crate) fn take(&self) -> Vec<Life> {
        std::mem::take(&mut self.0.borrow_mut())
    }
}

impl Life {
    pub fn report(&self) -> ProgramReport {
        ProgramReport {
            process: self.node,
            started_us: self.started,
            ended_us: self.ending.as_ref().map(|(time, _)| *time).or(self.died).or(self.crashed),
            ending: match (&self.ending, self.died, self.crashed) {
                (Some((_, ending)), ..) => Some(self.ending_in_words(ending)),
                (None, Some(_), _) => Some(THREAD_DIED.to_owned()),
                (None, None, Some(_)) => Some("died when its host crashed".to_owned()),
                (None, None, None) => None,
            },
            failed: self.failure().is_some(),
            error: self.failure().and_then(|_| self.error_text()),
            output: self.lines(),
            output_dropped: self.output_dropped as u64,
            calls: self.calls.len() as u64,
            preempted: self.preempted,
        }
    }

    fn ending_in_words(&self, ending: &Ending) -> String {
        match self.died_inside {
            true => format!("{} in its critical section", in_words(ending)),
            false => in_words(ending),
        }
    }

    fn lines(&self) -> Vec<Printed> {
        let mut lines: Vec<(Printed, Vec<u8>)> = Vec::new();
        let mut open: BTreeMap<Channel, usize> = BTreeMap::new();
        for (time, channel, bytes) in &self.output {
            for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                let place = *open.entry(*channel).or_insert(lines.len());
                if place == lines.len() {
                    let is_error = *channel == Channel::Stderr;
                    let line = Printed { time_us: *time, is_error, text: String::new() };
                    lines.push((line, Vec::new()));
                }
                match piece.strip_suffix(b"\n") {
                    Some(end) => {
                        lines[place].1.extend_from_slice(end);
                        open.remove(channel);
                    }
                    None => lines[place].1.extend_from_slice(piece),
                }
            }
        }
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            text.strip_suffix('\r').map_or(text.clone(), str::to_owned)
        };
        lines.into_iter().map(|(line, bytes)| Printed { text: text(bytes), ..line }).collect()
    }

    fn error_text(&self) -> Option<String> {
        const LETTERS_MAX: usize = 200;
        let lines = self.lines();
        let complained = lines.iter().filter(|line| line.is_error).map(|line| line.text.as_str());
        let error = error_line(&complained.collect::<Vec<_>>())?;
        Some(error.chars().take(LETTERS_MAX).collect())
    }

    fn died_at(&self) -> Option<SimTime> {
        let lives_on = matches!(self.ending, None | Some((_, Ending::Exited(0))));
        let lines = self.lines();
        let mut errors = lines.iter().rev().filter(|line| line.is_error);
        // A shell may have run other processes before it became the program.
        let replaced = self.calls.iter().rposition(|call| call.number == EXECVE);
        let calls = &self.calls[replaced.map_or(0, |at| at + 1)..];
        let has_threads = || calls.iter().any(|call| call.thread != calls[0].thread);
        let is_last = |time: SimTime| self.sent_last.is_none_or(|sent| sent <= time);
        let dies = |line: &&Printed| {
            is_of_dead_thread(&line.text)
                || is_of_traceback(&line.text) && has_threads() && is_last(line.time_us)
        };
        errors.find(dies).map(|line| line.time_us).filter(|_| lives_on)
    }

    /// Returns what the process was doing at `time`; `None` if it reports something after `time`.
    fn doing_at(&self, time: SimTime, events: &[Event]) -> Option<Doing> {
        let mut calls: BTreeMap<u64, &Action> = BTreeMap::new();
        // Number of open critical sections of each thread. A re-entrant lock can have several.
        let mut sections: BTreeMap<Node, u32> = BTreeMap::new();
        let mut doing = Doing::Nothing;
        let own = events.iter().filter(|event| event.node.machine() == self.node);
        for event in own.filter(|event| self.started <= event.time_us) {
            let of_thread = sections.entry(event.node).or_default();
            let now = match &event.what {
                What::Invoke { operation, action } => {
                    calls.insert(*operation, action);
                    let is_release = matches!(action, Action::Release);
                    Some((*of_thread).saturating_sub(u32::from(is_release)))
                }
                What::Ok { operation, .. }
                | What::Fail { operation, .. }
                | What::Info { operation, .. } => match calls.get(operation) {
                    Some(Action::Acquire) => {
                        let is_acquired = matches!(event.what, What::Ok { .. });
                        Some(*of_thread + u32::from(is_acquired))
                    }
                    Some(Action::Release) | None => Some(*of_thread),
                    // Requests to the storage and extensions do not end a critical section.
                    Some(_) => None,
                },
                What::Lost => Some(0),
                _ => continue,
            };
            if time < event.time_us {
                return None;
            }
            let Some(now) = now else { continue };
            *of_thread = now;
            let is_asked = matches!(event.what, What::Invoke { .. });
            doing = match is_asked || sections.values().any(|open| *open > 0) {
                true => Doing::Call,
                false => Doing::Nothing,
            };
        }
        Some(doing)
    }

    /// Returns `true` if fencepost stopped the program because the program ran or waited endlessly.
    pub fn is_stuck(&self) -> bool {
        matches!(self.ending, Some((_, Ending::Stuck(_))))
    }

    /// Returns why the program could not reach its servers, if they do not support its protocol.
    pub fn foreign_protocol(&self) -> Option<String> {
        self.sent_http2.then(|| {
            format!(
                "{} uses gRPC, but the simulated etcd serves only its JSON gateway: add --servers \
                 real --deployment single",
                self.node
            )
        })
    }

    pub fn failure(&self) -> Option<String> {
        let told = |time: SimTime, how: &str| {
            let said = self.error_text().map_or(String::new(), |words| format!(": {words}"));
            let (seconds, ms) = (time.0 / 1_000_000, time.0 / 1_000 % 1_000);
            Some(format!("{} {how} at {seconds}.{ms:03} s{said}", self.node))
        };
        match (&self.ending, self.died) {
            (None, died) => died.and_then(|time| told(time, THREAD_DIED)),
            (Some((time, ending)), None) if self.died_inside => {
                told(*time, &self.ending_in_words(ending))
            }
            (Some((_, Ending::Exited(0))), Some(died)) => told(died, THREAD_DIED),
            (Some((_, Ending::Exited(0))), _) if self.has_spoken && self.node.is_process() => None,
            (Some((_, Ending::Exited(0))), _) if self.node.is_process() => {
                Some(format!("{} ended without reporting to the judge", self.node))
            }
            (Some((time, other)), _) => told(*time, &in_words(other)),
        }
    }
}

pub(crate) fn end_dead(lives: &mut [Life], events: &mut Vec<Event>) {
    for life in lives {
        let node = life.node;
        let is_own = |event: &Event| event.node.machine() == node;
        if life.ending.is_none() {
            let mut after = events.iter().filter(|event| life.started <= event.time_us);
            let crash = after.find(|event| event.node == node && event.what == What::Crashed);
            life.crashed = crash.map(|event| event.time_us);
        }
        let Some(died) = life.died_at().filter(|_| life.crashed.is_none()) else { continue };
        let Some(doing) = life.doing_at(died, events) else { continue };
        if life.ending.is_some() && doing == Doing::Nothing {
            continue;
        }
        life.died = Some(died);
        if doing == Doing::Call {
            let is_waiting =
                |event: &Event| is_own(event) && matches!(event.what, What::Silent { .. });
            // The death of the thread replaces the later silences and exit of its process.
            let is_exit = |event: &Event| event.node == node && event.what == What::Crashed;
            events.retain(|event| !is_waiting(event) && !is_exit(event) || event.time_us <= died);
            let place = events.partition_point(|event| event.time_us <= died);
            events.insert(place, Event { sequence: 0, time_us: died, node, what: What::Crashed });
        }
    }
    for (sequence, event) in events.iter_mut().enumerate() {
        event.sequence = sequence as u64;
    }
}

pub(crate) fn in_words(ending: &Ending) -> String {
    match ending {
        Ending::Exited(status) => format!("exited with status {status}"),
        Ending::Killed(25) => {
            "was killed by signal 25, because it wrote a file of 1 GiB".to_owned()
        }
        Ending::Killed(signal) => format!("was killed by signal {signal}"),
        Ending::NotEmulated(text) => format!("was stopped: {text}"),
        Ending::Stuck(text) => format!("was stopped: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_faults::Micros;

    fn life(output: &[(u64, Channel, &str)], ending: Option<Ending>) -> Life {
        let lives = ProgramLives::default();
        lives.begins(Node::Client(1), SimTime(0));
        lives.with(0, |life| {
            let printed = output.iter();
            let printed =
                printed.map(|(at, it, text)| (SimTime(*at), *it, text.as_bytes().to_vec()));
            life.output = printed.collect();
            life.ending = ending.map(|ending| (SimTime(7_000), ending));
        });
        lives.take().remove(0)
    }

    #[test]
    fn a_line_that_is_printed_in_pieces_is_one_line() {
        use Channel::{Stderr, Stdout};
        let pieces =
            [(1, Stdout, "a"), (2, Stderr, "x\n\ny"), (3, Stdout, "b\r\nc"), (4, Stderr, "\n")];
        let told: Vec<(u64, bool, String)> = life(&pieces, None)
            .report()
            .output
            .into_iter()
            .map(|line| (line.time_us.0, line.is_error, line.text))
            .collect();
        let line = |at, is_error, text: &str| (at, is_error, text.to_owned());
        let expected = [
            line(1, false, "ab"),
            line(2, true, "x"),
            line(2, true, ""),
            line(2, true, "y"),
            line(3, false, "c"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_thread_that_dies_ends_what_its_process_was_doing() {
        let dies = |sent_last| {
            let mut one = life(&[(5, Channel::Stderr, "Traceback (most recent call last):")], None);
            one.calls = vec![call(1), call(2)];
            one.sent_last = Some(SimTime(sent_last));
            let event =
                |at, what| Event { sequence: 0, time_us: SimTime(at), node: Node::Client(1), what };
            let invoke = What::Invoke { operation: 0, action: Action::Acquire };
            let silent = What::Silent { since_us: SimTime(4), bound_us: Micros(1), ahead: true };
            let mut events = vec![event(4, invoke), event(9, silent)];
            let mut lives = vec![one];
            end_dead(&mut lives, &mut events);
            let died = events.iter().filter(|event| event.what == What::Crashed);
            let died: Vec<u64> = died.map(|event| event.time_us.0).collect();
            (died, events.len(), lives.remove(0).failure())
        };
        let said = "client-1 lost a thread to an uncaught error at 0.000 s: \
                    Traceback (most recent call last):";
        assert_eq!(dies(4), (vec![5], 2, Some(said.to_owned())));
        assert_eq!(dies(6), (vec![], 2, None), "it went on");
    }

    fn call(thread: u32) -> CallMade {
        CallMade { thread, number: 0, result: 0, bytes: 0, clock_reads: 0, monotonic_us: 0 }
    }

    #[test]
    fn a_thread_that_dies_after_a_request_in_its_critical_section_ends_the_section() {
        let event =
            |at, what| Event { sequence: 0, time_us: SimTime(at), node: Node::Client(1), what };
        let invoke = |operation, action| What::Invoke { operation, action };
        let ok = |operation, owner: Option<&str>| What::Ok {
            operation,
            owner: owner.map(str::to_owned),
            token: None,
            valid_for_us: None,
            value: None,
        };
        let mut events = vec![
            event(1, invoke(0, Action::Acquire)),
            event(2, ok(0, Some("a"))),
            event(3, invoke(1, Action::Read { acquisition: 0 })),
            event(4, ok(1, None)),
        ];
        let printed = [(5, Channel::Stderr, "Exception in thread Thread-1 (run):")];
        let mut lives = vec![life(&printed, Some(Ending::Exited(0)))];
        end_dead(&mut lives, &mut events);
        assert_eq!(events.last().map(|last| last.time_us), Some(SimTime(5)));
        assert_eq!(events.last().map(|last| &last.what), Some(&What::Crashed));
    }

    #[test]
    fn a_thread_that_dies_after_an_inner_call_ends_its_outer_section() {
        let thread = Node::Client(1).for_thread(2);
        let acquire = |operation| What::Invoke { operation, action: Action::Acquire };
        let release = |operation| What::Invoke { operation, action: Action::Release };
        let ok = |operation| What::Ok {
            operation,
            owner: None,
            token: None,
            valid_for_us: None,
            value: None,
        };
        let fail = |operation| What::Fail { operation, reason: "held".to_owned() };
        let outer = [acquire(0), ok(0)];
        let crashes = |rest: &[What]| {
            let all = outer.iter().chain(rest).cloned();
            let event = |what| Event { sequence: 0, time_us: SimTime(4), node: thread, what };
            let mut events: Vec<Event> = all.map(event).collect();
            let printed = [(5, Channel::Stderr, "Exception in thread Thread-1 (run):")];
            end_dead(&mut [life(&printed, None)], &mut events);
            events.last().is_some_and(|last| last.what == What::Crashed)
        };
        let inner = [acquire(1), ok(1), release(2), ok(2)];
        assert!(crashes(&inner));
        assert!(crashes(&[acquire(1), fail(1)]));
        assert!(!crashes(&[&inner[..], &[release(3), ok(3)]].concat()));
        assert!(!crashes(&[acquire(1), ok(1), What::Lost]), "a loss ends all sections");
        assert!(!crashes(&[acquire(1), ok(1), What::Lost, release(2), ok(2)]));
    }

    #[test]
    fn other_processes_of_a_shell_are_no_threads() {
        let mut one = life(&[(5, Channel::Stderr, "Traceback (most recent call last):")], None);
        one.calls = vec![call(2), CallMade { number: EXECVE, ..call(1) }, call(1)];
        assert_eq!(one.died_at(), None);
        one.calls.push(call(3));
        assert_eq!(one.died_at(), Some(SimTime(5)));
    }

    fn thread_of(
        threads: u32,
        printed: &str,
        ending: Option<Ending>,
        goes_on: bool,
    ) -> (Vec<u64>, Option<String>) {
        let mut one = life(&[(5, Channel::Stderr, printed)], ending);
        one.calls = (1..=threads).map(call).collect();
        one.has_spoken = true;
        let event =
            |at, what| Event { sequence: 0, time_us: SimTime(at), node: Node::Client(1), what };
        let invoke = What::Invoke { operation: 0, action: Action::Acquire };
        let mut events = vec![event(4, invoke)];
        if goes_on {
            events.push(event(6, What::Fail { operation: 0, reason: "held".to_owned() }));
        }
        let mut lives = vec![one];
        end_dead(&mut lives, &mut events);
        let died = events.iter().filter(|event| event.what == What::Crashed);
        (died.map(|event| event.time_us.0).collect(), lives.remove(0).failure())
    }

    #[test]
    fn a_thread_may_die_in_a_process_that_later_ends_well() {
        let dies = "Exception in thread Thread-1 (run):\nTraceback (most recent call last):\n  \
                    File \"w.py\"\nKeyError: 'x'";
        let (died, failure) = thread_of(2, dies, Some(Ending::Exited(0)), false);
        assert_eq!(died, [5]);
        assert_eq!(
            failure.as_deref(),
            Some("client-1 lost a thread to an uncaught error at 0.000 s: KeyError: 'x'")
        );
        assert_eq!(thread_of(2, dies, Some(Ending::Exited(0)), true), (vec![], None));
    }

    #[test]
    fn a_traceback_of_the_only_thread_is_of_an_error_that_it_caught() {
        let caught = "Traceback (most recent call last):\nValueError: x";
        assert_eq!(thread_of(1, caught, None, false), (vec![], None));
        assert_eq!(thread_of(2, caught, None, false).0, [5]);
    }

    #[test]
    fn a_failure_is_told_with_its_error() {
        let of = |output, ending| life(output, Some(ending)).failure();
        let output =
            [(1, Channel::Stderr, "Traceback:\nno such lock"), (2, Channel::Stderr, "\n\n")];
        assert_eq!(
            of(&output, Ending::Exited(3)).as_deref(),
            Some("client-1 exited with status 3 at 0.007 s: no such lock")
        );
        let quiet = of(&[(1, Channel::Stdout, "hello\n")], Ending::Killed(9));
        assert_eq!(quiet.as_deref(), Some("client-1 was killed by signal 9 at 0.007 s"));
        let mut inside = life(&[], Some(Ending::Exited(0)));
        (inside.has_spoken, inside.died_inside) = (true, true);
        assert_eq!(
            inside.failure().as_deref(),
            Some("client-1 exited with status 0 in its critical section at 0.007 s")
        );
        let ending = inside.report().ending;
        assert_eq!(ending.as_deref(), Some("exited with status 0 in its critical section"));
        let silent = of(&[], Ending::Exited(0));
        assert_eq!(silent.as_deref(), Some("client-1 ended without reporting to the judge"));
    }
}
