//! What programs leave behind besides the history: what they printed, how they ended, and the
//! calls that they made.

use fencepost_faults::{Node, SimTime};
use fencepost_programs::{CallMade, Channel, Ending, FilesUsed};
use fencepost_reports::record::programs::{Printed, ProgramReport};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// One life of a program: from a start of its host to a crash or its own end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Life {
    /// Its host.
    pub node: Node,
    /// When it started.
    pub started: SimTime,
    /// How it ended; `None` if its host crashed or the run was over.
    pub ending: Option<(SimTime, Ending)>,
    /// What it printed.
    pub output: Vec<(SimTime, Channel, Vec<u8>)>,
    /// Bytes that it printed beyond what is kept.
    pub output_dropped: usize,
    /// Whether it told the judge anything.
    pub has_spoken: bool,
    /// The keys that it named to servers of the lock first.
    pub keys: Vec<String>,
    /// The calls at which it was stopped.
    pub calls: Vec<CallMade>,
    /// The files that it ran and read.
    pub used: FilesUsed,
    /// How often a thread had to be interrupted.
    pub preempted: u32,
}

/// The lives of all programs of a run, in the order in which they began.
#[derive(Default)]
pub(crate) struct Lives(pub(crate) RefCell<Vec<Life>>);

impl Lives {
    /// A life begins; returns its place.
    pub(crate) fn begins(&self, node: Node, started: SimTime) -> usize {
        let mut lives = self.0.borrow_mut();
        lives.push(Life {
            node,
            started,
            ending: None,
            output: Vec::new(),
            output_dropped: 0,
            has_spoken: false,
            keys: Vec::new(),
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
    /// As reports tell it.
    pub fn report(&self) -> ProgramReport {
        ProgramReport {
            process: self.node,
            started_us: self.started,
            ended_us: self.ending.as_ref().map(|(time, _)| *time),
            ending: self.ending.as_ref().map(|(_, ending)| in_words(ending)),
            failed: self.failure().is_some(),
            output: self.lines(),
            output_dropped: self.output_dropped as u64,
            calls: self.calls.len() as u64,
            preempted: self.preempted,
        }
    }

    /// What it printed, line by line: a line may be printed in pieces, and has the time of its
    /// first.
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

    /// The last thing that it complained of, shortened.
    fn last_words(&self) -> Option<String> {
        const LETTERS_MAX: usize = 200;
        let lines = self.lines();
        let last = lines.iter().rev().find(|line| line.is_error && !line.text.trim().is_empty())?;
        Some(last.text.trim().chars().take(LETTERS_MAX).collect())
    }

    /// Whether the program had to be stopped because it goes on, or waits, without end.
    pub fn is_stuck(&self) -> bool {
        matches!(self.ending, Some((_, Ending::Stuck(_))))
    }

    /// Why the program did not do what it was to do, if so.
    pub fn failure(&self) -> Option<String> {
        let (time, ending) = self.ending.as_ref()?;
        let at = format!("{}.{:03} s", time.0 / 1_000_000, time.0 / 1_000 % 1_000);
        match ending {
            Ending::Exited(0) if self.has_spoken => None,
            Ending::Exited(0) => Some(format!("{} ended without a word to the judge", self.node)),
            other => {
                let said = self.last_words().map_or(String::new(), |words| format!(": {words}"));
                Some(format!("{} {} at {at}{said}", self.node, in_words(other)))
            }
        }
    }
}

/// What programs whose lock no server tells of may have locked instead, if they wrote to any other
/// key than this one.
pub fn locked_elsewhere(lives: &[Life], key: &str) -> Option<String> {
    let keys: BTreeSet<&String> = lives.iter().flat_map(|life| &life.keys).collect();
    let first = keys.first().filter(|_| !keys.iter().any(|named| *named == key))?;
    let all: Vec<String> = keys.iter().map(|named| format!("'{named}'")).collect();
    Some(format!(
        "no server was asked for the key '{key}', and the programs wrote to {}: name the key of \
         their lock, with --lock-key '{first}' for example",
        all.join(", ")
    ))
}

fn in_words(ending: &Ending) -> String {
    match ending {
        Ending::Exited(status) => format!("exited with status {status}"),
        Ending::Killed(signal) => format!("was killed by signal {signal}"),
        Ending::NotEmulated(text) => format!("was stopped: {text}"),
        Ending::Stuck(text) => format!("was stopped: {text}"),
    }
}

/// The first call in which two runs of the same programs differ.
pub fn first_difference(one: &[Life], other: &[Life]) -> Option<String> {
    if one.len() != other.len() {
        return Some(format!(
            "{} starts of programs in one run, {} in the other",
            one.len(),
            other.len()
        ));
    }
    one.iter().zip(other).find_map(|(one, other)| {
        let place = one.calls.iter().zip(&other.calls).position(|(one, other)| one != other);
        let place = place.or_else(|| {
            (one.calls.len() != other.calls.len()).then(|| one.calls.len().min(other.calls.len()))
        })?;
        let said = |calls: &[CallMade]| match calls.get(place) {
            Some(call) => {
                let name = fencepost_programs::name_of_call(call.number);
                let bytes = match call.bytes {
                    0 => String::new(),
                    bytes => format!(" of bytes with the checksum {bytes:08x}"),
                };
                let looks = match call.looks {
                    0 => String::new(),
                    looks => format!(" after {looks} looks at a clock"),
                };
                format!("{name} = {} in thread {}{bytes}{looks}", call.result, call.thread)
            }
            None => "no further call".to_owned(),
        };
        Some(format!(
            "call {place} of {} (started at {} us): {} in one run, {} in the other",
            one.node,
            one.started.0,
            said(&one.calls),
            said(&other.calls)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(output: &[(u64, Channel, &str)], ending: Option<Ending>) -> Life {
        let lives = Lives::default();
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
    fn a_lock_under_another_key_is_told_of() {
        let mut one = life(&[], None);
        assert_eq!(locked_elsewhere(&[one.clone()], "lock:orders"), None);
        one.keys = vec!["mutex:orders".to_owned()];
        let told = locked_elsewhere(&[life(&[], None), one.clone()], "lock:orders").unwrap();
        assert!(told.ends_with("with --lock-key 'mutex:orders' for example"), "{told}");
        one.keys.push("lock:orders".to_owned());
        assert_eq!(locked_elsewhere(&[one], "lock:orders"), None);
    }

    #[test]
    fn a_failure_is_told_with_the_last_words() {
        let of = |output, ending| life(output, Some(ending)).failure();
        let output =
            [(1, Channel::Stderr, "Traceback:\nno such lock"), (2, Channel::Stderr, "\n\n")];
        assert_eq!(
            of(&output, Ending::Exited(3)).as_deref(),
            Some("client-1 exited with status 3 at 0.007 s: no such lock")
        );
        let quiet = of(&[(1, Channel::Stdout, "hello\n")], Ending::Killed(9));
        assert_eq!(quiet.as_deref(), Some("client-1 was killed by signal 9 at 0.007 s"));
        let silent = of(&[], Ending::Exited(0));
        assert_eq!(silent.as_deref(), Some("client-1 ended without a word to the judge"));
    }
}
