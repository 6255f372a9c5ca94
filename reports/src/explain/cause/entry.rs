//! What the file of a cause says of it.

use super::Cause;
use crate::explain::evidence::{Case, Loss};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;
use crate::record::history::Header;
use std::sync::LazyLock;

/// All of one cause.
pub(super) struct Entry {
    /// What it means, for somebody who meets the name for the first time.
    pub(super) meaning: Meaning,
    /// When it is the cause, besides what `loss` says.
    pub(super) rules: &'static [Rule],
    /// Whether a lock was lost by it at a server before its lease was over.
    pub(super) loss: Option<LossRule>,
    /// The sentence of two acquisitions that stood against each other; without one, what it means.
    pub(super) between: Option<fn(&Scene<'_, '_>) -> String>,
    /// The sentence of a lock that is kept, or that nobody gets; without one, what it means.
    pub(super) alone: Option<fn(Kind, &Header) -> String>,
    /// The number of a fault that decides whether it comes about.
    pub(super) measure: Option<Measure>,
}

impl Entry {
    /// A cause of which there is only what it means.
    pub(super) const fn new(meaning: Meaning) -> Entry {
        Entry { meaning, rules: &[], loss: None, between: None, alone: None, measure: None }
    }
}

/// One rule by which a cause is found.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// At which question it is asked.
    pub(super) step: Step,
    /// When, among the rules of that step: those with less come first, and the first that holds
    /// decides. No two rules of a step have the same.
    pub(super) turn: u8,
    pub(super) holds: fn(&Case<'_, '_>) -> bool,
}

/// A rule that is asked at a step.
pub(super) const fn at(step: Step, turn: u8, holds: fn(&Case<'_, '_>) -> bool) -> Rule {
    Rule { step, turn, holds }
}

/// The questions that are asked of a finding; `classify` says of which finding which of them are,
/// in which order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Step {
    /// Why does nobody get in, or is one that waits not served?
    Standstill,
    /// Why did one that asked later come first?
    Overtaken,
    /// Why is the lock kept for so long?
    Held,
    /// Why was a process told what is not so?
    Misheard,
    /// Can the lock not tell two owners apart?
    Owners,
    /// Was it removed by a process that was asking for it?
    Takeover,
    /// Did a process that had the lock to itself write what it had computed from an older value?
    OldValue,
    /// What happened to the counter of tokens?
    Counter,
    /// What held up a write that was sent while the lock was still its writer's?
    InFlight,
    /// Where a lock lives as long as a session or a connection: did that end?
    Session,
    /// How was the lock lost at the servers before its lease was over?
    EarlyLoss,
    /// Why was its holder still there when its lease was over?
    Overrun,
    /// Where had the release been that removed another's lock?
    Astray,
}

/// The rule by which a loss of a lock is that of a cause. If the servers give different reasons,
/// the one with the least turn counts: what somebody did to the lock comes before what a server
/// lost, that before what a clock did.
#[derive(Clone, Copy)]
pub(super) struct LossRule {
    pub(super) turn: u8,
    pub(super) reach: Reach,
    pub(super) holds: fn(&Case<'_, '_>, &Loss<'_, '_>) -> bool,
}

/// How far it reaches what happens to a lock at a primary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    /// No further.
    Server,
    /// Its replicas too.
    Replicas,
}

/// The number of a fault that a cause is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// For how long a process stood still.
    Pause,
    /// By how much a clock was stepped.
    ClockStep,
    /// At which rate a clock ran.
    ClockRate,
    /// How late a message to the storage came.
    StorageDelay,
    /// How late an answer came.
    Latency,
    /// How late a replica got a write.
    ReplicationLag,
    /// For how long a server was away: the shorter, the worse.
    Absence,
}

/// The rules of all causes, in the order in which they are asked.
pub(super) static RULES: LazyLock<Vec<(Rule, Cause)>> = LazyLock::new(|| {
    let of = |cause: Cause| cause.entry().rules.iter().map(move |rule| (*rule, cause));
    let mut rules: Vec<(Rule, Cause)> = Cause::ALL.iter().copied().flat_map(of).collect();
    rules.sort_by_key(|(rule, _)| (rule.step, rule.turn));
    rules
});

/// The rules of all causes for a loss, in the order in which they count.
pub(super) static LOSS_RULES: LazyLock<Vec<(LossRule, Cause)>> = LazyLock::new(|| {
    let of = |cause: &Cause| Some((cause.entry().loss?, *cause));
    let mut rules: Vec<(LossRule, Cause)> = Cause::ALL.iter().filter_map(of).collect();
    rules.sort_by_key(|(rule, _)| rule.turn);
    rules
});
