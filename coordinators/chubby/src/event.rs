//! Session events ([`Events`]). The master sends them in answers to KeepAlives (2.5, 2.8).

use std::collections::VecDeque;
use std::fmt::Write;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    FailedOver,
    Acquired { lock: String },
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    first: u64,
    queue: VecDeque<Event>,
}

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        self.queue.push_back(event);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn acknowledge(&mut self, count: u64) {
        while self.first < count && self.queue.pop_front().is_some() {
            self.first += 1;
        }
    }

    pub(crate) fn words(&self) -> String {
        let mut words = (self.first + self.queue.len() as u64).to_string();
        for event in &self.queue {
            let _ = match event {
                Event::FailedOver => write!(words, " failed-over"),
                Event::Acquired { lock } => write!(words, " acquired {lock}"),
            };
        }
        words
    }
}
