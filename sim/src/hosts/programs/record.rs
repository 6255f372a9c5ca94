//! What programs leave behind besides the history: what they printed, how they ended, and the
//! calls that they made.

use fencepost_faults::{Node, SimTime};
use fencepost_programs::{CallMade, Channel, Ending};
use fencepost_reports::record::programs::{Printed, ProgramReport};
use std::cell::RefCell;

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
    /// The calls at which it was stopped.
    pub calls: Vec<CallMade>,
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
            calls: Vec::new(),
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
        let mut lines: Vec<Printed> = Vec::new();
        for (time, channel, bytes) in &self.output {
            for line in String::from_utf8_lossy(bytes).lines() {
                let is_error = *channel == Channel::Stderr;
                lines.push(Printed { time_us: *time, is_error, text: line.to_owned() });
            }
        }
        ProgramReport {
            process: self.node,
            started_us: self.started,
            ended_us: self.ending.as_ref().map(|(time, _)| *time),
            ending: self.ending.as_ref().map(|(_, ending)| in_words(ending)),
            failed: self.failure().is_some(),
            output: lines,
            output_dropped: self.output_dropped as u64,
            preempted: self.preempted,
        }
    }

    /// Why the program did not do what it was to do, if so.
    pub fn failure(&self) -> Option<String> {
        let (time, ending) = self.ending.as_ref()?;
        let at = format!("{}.{:03} s", time.0 / 1_000_000, time.0 / 1_000 % 1_000);
        match ending {
            Ending::Exited(0) if self.has_spoken => None,
            Ending::Exited(0) => Some(format!("{} ended without a word to the judge", self.node)),
            other => Some(format!("{} {} at {at}", self.node, in_words(other))),
        }
    }
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
                format!("{name} = {} in thread {}", call.result, call.thread)
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
