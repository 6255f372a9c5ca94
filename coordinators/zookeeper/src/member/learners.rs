use super::message::{Message, Progress};
use crate::config::{Config, MemberId};
use fencepost_machine::{ConnectionId, Output, Outputs};
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Stage {
    Informed,
    Confirmed,
    Sent,
    Level,
    Admitted,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Learner {
    pub(crate) id: MemberId,
    pub(crate) stage: Stage,
    pub(crate) accepted: u32,
    pub(crate) is_new: bool,
    pub(crate) progress: Progress,
    pub(crate) acked: i64,
    pub(crate) heard_at: u64,
}

impl Learner {
    pub(crate) fn counts(&self) -> bool {
        self.stage >= Stage::Confirmed && self.is_new
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Learners {
    pub(crate) learners: BTreeMap<ConnectionId, Learner>,
}

impl Learners {
    pub(crate) fn connections(&self) -> Vec<ConnectionId> {
        self.learners.keys().copied().collect()
    }

    pub(crate) fn count(&self, is_counted: impl Fn(&Learner) -> bool) -> usize {
        self.learners.values().filter(|learner| is_counted(learner)).count()
    }

    pub(crate) fn accepted_max(&self) -> u32 {
        self.learners.values().map(|learner| learner.accepted).max().unwrap_or(0)
    }

    pub(crate) fn at(&self, stage: Stage) -> Vec<ConnectionId> {
        let there = self.learners.iter().filter(|(_, learner)| learner.stage == stage);
        there.map(|(connection, _)| *connection).collect()
    }

    pub(crate) fn send(
        &self,
        is_told: impl Fn(&Learner) -> bool,
        message: &Message,
        out: &mut Outputs,
    ) {
        let told = self.learners.iter().filter(|(_, learner)| is_told(learner));
        let bytes = message.encode();
        out.list.extend(
            told.map(|(connection, _)| Output::Send {
                connection: *connection,
                bytes: bytes.clone(),
            }),
        );
    }

    pub(crate) fn admit(&mut self, out: &mut Outputs) {
        self.send(|learner| learner.stage == Stage::Level, &Message::UpToDate, out);
        let level = self.learners.values_mut().filter(|learner| learner.stage == Stage::Level);
        level.for_each(|learner| learner.stage = Stage::Admitted);
    }

    pub(crate) fn silent(&self, config: &Config, now_ms: u64) -> Vec<ConnectionId> {
        let limit = |learner: &Learner| match learner.stage {
            Stage::Admitted => config.sync_ms(),
            _ => config.init_ms(),
        };
        let silent = self.learners.iter();
        let silent = silent.filter(|(_, one)| one.heard_at + limit(one) <= now_ms);
        silent.map(|(connection, _)| *connection).collect()
    }
}
