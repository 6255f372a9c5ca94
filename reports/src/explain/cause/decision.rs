//! The order in which causes are tried, as one table.
//!
//! Each finding has a few [`Question`]s, in the order of `classify`. The rows of a question are
//! tried from the top: the first that holds names the cause, and if none does the next question
//! follows. Rows are skipped if their cause needs an event that the run did not have. If several
//! servers lost a lock before its lease was over, each for another reason, the reason further up
//! counts.

use super::Cause;
use crate::explain::evidence::{
    Case, Gone, HeldUp, Loss, Misheard, Obstacle, OnItsWay, RanOut, Remover, Standstill,
};
use crate::record::history::Change;
use fencepost_faults::FaultKind;
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Question {
    /// Why does no process get in, or is a waiter not served?
    Standstill,
    /// Why did a later requester get in first?
    Overtaken,
    /// Why is the lock kept for so long?
    Held,
    /// Why was a process told what is not so?
    Misheard,
    /// Can the lock not distinguish two owners?
    Owners,
    /// Did a process that was acquiring the lock remove it?
    Takeover,
    /// Did a process that had the lock alone write a value computed from an older one?
    OldValue,
    /// Had the first process that did a job given its lock back before?
    Unrecorded,
    /// What happened to the counter of tokens?
    Counter,
    /// What delayed a write that was sent while its writer still had the lock?
    InFlight,
    /// For a lock in a session or a connection: did that end?
    Session,
    /// How did the servers lose the lock before its lease was over?
    EarlyLoss,
    /// Why was its holder still there when its lease was over?
    Overrun,
    /// What delayed the release that removed another's lock?
    Astray,
}

pub(super) struct Row {
    pub(super) question: Question,
    pub(super) cause: Cause,
    /// The condition on the history.
    pub(super) asks: &'static str,
    pub(super) holds: Test,
    /// Why it is tried before the rows below. Empty for the last one, and if at most one row can
    /// apply.
    pub(super) first: &'static str,
}

/// The condition of a row.
pub(super) enum Test {
    Case(fn(&Case<'_, '_>) -> bool),
    /// On a server's loss of the lock; replicas follow their primary.
    Loss(fn(&Case<'_, '_>, &Loss<'_, '_>) -> bool),
    /// The same, for losses that affect one server only.
    LossThere(fn(&Case<'_, '_>, &Loss<'_, '_>) -> bool),
}

use Test::{Case as When, Loss as Lost, LossThere as LostThere};
macro_rules! table {
    ($($question:ident { $($cause:ident: $asks:literal, $holds:expr; $($first:literal)?)* })*) => {
        pub(super) static TABLE: &[Row] = &[$($(Row {
            question: Question::$question,
            cause: Cause::$cause,
            asks: $asks,
            holds: $holds,
            first: concat!($($first)?),
        },)*)*];
    };
}

table! {
    // `evidence/standstill.rs` finds one obstacle, in the order given there.
    Standstill {
        OrphanRenewal: "the owner of what stands is in no section and extends it",
            When(|case| case.is_at(Standstill::OwnerRenews));
            "an owner that sends renewals has not died, whatever it has heard"
        AsyncReplicationLoss: "a removal at the old primary never reached the new one",
            When(|case| case.is_at(Standstill::ReleaseNotCopied));
            "the owner did give the lock back"
        LostReply: "its owner never heard of its grant: a message was lost",
            When(|case| case.is_at(Standstill::OwnerUnaware(Obstacle::Loss)));
            "a loss explains it without any pause or delay"
        HolderPause: "its owner never heard of its grant: it was paused",
            When(|case| case.is_at(Standstill::OwnerUnaware(Obstacle::Pause)));
            "the answer was there when the owner ran again"
        Latency: "its owner never heard of its grant: the answer was late",
            When(|case| case.is_at(Standstill::OwnerUnaware(Obstacle::Delay)));
            "the weakest of the three obstacles"
        UnfoundedAnswer: "its owner was refused though nothing came between",
            When(|case| case.is_at(Standstill::OwnerMisled));
        UnfoundedAnswer: "its owner was told that it had given it back",
            When(|case| case.is_at(Standstill::OwnerReleased));
        GivenUpCall: "what stands is left of a call that the application gave up",
            When(|case| case.is_at(Standstill::CallGivenUp));
        LostRelease: "its owner gave it back and never heard of an answer",
            When(|case| case.is_at(Standstill::ReleaseUnheard));
        HolderCrash: "its owner died",
            When(|case| case.is_at(Standstill::OwnerDied));
        WaiterCrash: "nothing stands, and a process died while it waited",
            When(|case| case.is_at(Standstill::WaiterDied));
        WaiterPause: "the first in the queue stood still",
            When(|case| case.is_at(Standstill::WaiterStoodStill));
        LostWatch: "the node of one that waits is the first of the queue",
            When(|case| case.is_at(Standstill::NotTold) && case.lives_with_session());
            "a queue of nodes has watches, other locks have none"
        MissedWakeup: "the lock became free, and all who wait sent nothing",
            When(|case| case.is_at(Standstill::NotTold));
        Interleaving: "several processes divided the servers among them",
            When(|case| case.is_at(Standstill::VotesSplit));
        OrphanNode: "no process knows of the first node of the queue",
            When(|case| case.is_at(Standstill::UnknownNode));
        ClockSkew: "the clocks by which a row is read differ",
            When(|case| case.is_at(Standstill::ClocksDiffer));
        ConnectionLost: "all who wait do so on connections that ended",
            When(|case| case.is_at(Standstill::OnDeadConnections));
        ServerOutage: "a server was away for most of the time",
            When(|case| case.is_at(Standstill::ServersAway));
            "a primary that is down cannot be reached either"
        NoPrimary: "no server that clients were sent to was a primary for most of the time",
            When(|case| case.is_at(Standstill::NoPrimary));
            "replicas grant nothing, whoever can reach them"
        Partition: "the network was cut at a server",
            When(|case| case.is_at(Standstill::NetworkCut));
            "a cut stops what a delay only slows down"
        Latency: "messages to or from a server were delayed",
            When(|case| case.is_at(Standstill::MessagesLate));
    }
    Overtaken {
        LostPlace: "a lock that promises an order did not keep it", When(|_| true);
    }
    Held {
        HolderPause: "without its pauses the holder would have kept to the bound",
            When(|case| case.held().is_some_and(|held| held.stood_still()));
            "else every section beyond the bound was too long"
        HoldTooLong: "the holder worked beyond the bound",
            When(|case| case.held().is_some());
    }
    Misheard {
        OrphanNode: "the process waited with a second node",
            When(|case| case.is_misheard(Misheard::OfAnotherNode));
            "it was told the truth about that one"
        LostReply: "it was refused, and a message had been lost",
            When(|case| case.is_misheard(Misheard::Refused(Obstacle::Loss)));
        LostRelease: "its release succeeded, it says, and a message had been lost",
            When(|case| case.is_misheard(Misheard::Succeeded(Obstacle::Loss)));
        Partition: "it heard of its grant after the lease: a cut held the answer up",
            When(|case| case.is_misheard(Misheard::CutOff));
        LostReply: "it heard of its grant after the lease, and a message had been lost",
            When(|case| case.is_misheard(Misheard::Late(Obstacle::Loss)));
        HolderPause: "it stood still while its call was open", When(misheard_by_pause);
        Latency: "messages or the server were slow while its call was open",
            When(misheard_by_delay);
        UnfoundedAnswer: "nothing came between it and the servers, or none had granted the lock",
            When(|case| case.is_misheard(Misheard::Unfounded));
    }
    Owners {
        SharedOwner: "two threads have one owner value, and the server let the second in",
            When(|case| case.shares_owner());
            "threads of one process have one client id, too"
        SharedClientId: "two processes have one client id in a row",
            When(|case| case.shares_client_id());
            "who cannot be told apart needs no fault"
    }
    Takeover {
        StaleTakeover: "the remover was acquiring, and no release of its own was under way",
            When(|case| case.is_takeover());
    }
    OldValue {
        OldValue: "the earlier writer had left before the later one was granted the lock",
            When(|case| case.is_overwritten());
    }
    Unrecorded {
        UnrecordedJob: "the first had left its section before the second was granted the lock",
            When(|case| case.is_repeated_later());
    }
    Counter {
        UnorderedTokens: "several servers count by themselves",
            When(|case| case.counter().is_some_and(|counter| counter.is_one_of_many()));
            "their order never meant anything"
        Flush: "a server was flushed between the grants",
            When(|case| case.counter().is_some_and(|counter| counter.was_flushed()));
            "a flush reaches replicas and disks, too"
        Eviction: "a key beside the lock was evicted",
            When(|case| case.counter().is_some_and(|counter| counter.was_evicted()));
            "an eviction reaches replicas, too"
        SplitBrain: "both servers were primaries when they granted",
            When(|case| case.counter().is_some_and(|counter| counter.has_two_primaries()));
            "two primaries are also two servers without each other's writes"
        AsyncReplicationLoss: "the later token is of another server, or of replaced data",
            When(|case| case.counter().is_some_and(|counter| counter.is_a_copy()));
            "an old primary that died as well decided nothing"
        RestartDataLoss: "the server died between the grants",
            When(|case| case.counter().is_some_and(|counter| counter.was_forgotten()));
    }
    InFlight {
        StorageDelay: "a fault held up the write or the storage",
            When(|case| case.is_on_its_way(OnItsWay::HeldUp));
            "a process that is paused after it sent is no reason for the delay"
        HolderPause: "the writer stood still after it had sent the write",
            When(|case| case.is_on_its_way(OnItsWay::OfOneWhoStoodStill));
            "a pause is recorded, and ordinary latency is not"
        StorageDelay: "the writer had left before the lock changed hands",
            When(|case| case.is_on_its_way(OnItsWay::OfOneWhoHadLeft));
    }
    Session {
        ExpiredWaiter: "no server ever had the key of one of both as the first",
            When(|case| case.is_gone(Gone::WasNeverFirst));
        FailoverForgets: "another server granted the lock of a connection",
            When(|case| case.is_gone(Gone::GrantedElsewhere));
        ConnectionLost: "the connection or its server ended",
            When(|case| case.is_gone(Gone::WithConnection));
        StaleRead: "its node was gone before it heard that it was first",
            When(|case| case.is_gone(Gone::ToldByOneBehind));
        SessionExpired: "its session ended",
            When(|case| case.is_gone(Gone::WithSession));
    }
    // Actions on the lock precede losses of a server, and those precede faults of a clock.
    EarlyLoss {
        StaleTakeover: "another process removed it while it was acquiring itself",
            Lost(is_taken_over);
            "a removal by a process that has not released"
        SharedOwner: "another thread of the process removed it, not by a late release",
            LostThere(is_of_a_thread);
            "threads are not other processes"
        ForeignRelease: "another process removed it",
            Lost(|_, loss| matches!(loss.remover(), Some(Remover::Process(_))));
            "whatever else happened, this removed it"
        LostReply: "its own process removed it after a lost reply",
            Lost(|_, loss| loss.remover() == Some(Remover::Itself) && loss.lost_a_reply());
            "a release that is sent again follows from the loss"
        LostRelease: "its own process removed it by a release of an earlier lock", Lost(is_late);
            "a late release arrives inside a section, too"
        EarlyRelease: "its own process removed it while the lock was in use",
            Lost(|_, loss| loss.remover() == Some(Remover::Itself) && loss.is_in_use());
            "who removed it is recorded"
        SessionExpired: "its session ended", LostThere(|_, loss| loss.ended_with_session());
            "a session is not replicated by itself"
        Flush: "its server was flushed", Lost(|_, loss| loss.ended_by(Change::Flushed));
            "one change ends a key"
        Eviction: "its server evicted it", Lost(|_, loss| loss.ended_by(Change::Evicted));
            "one change ends a key"
        RestartWithoutDelay: "its server came back without it",
            LostThere(|_, loss| loss.was_forgotten());
            "one change ends a key"
        SplitBrain: "the other server was a primary when this one granted",
            LostThere(|_, loss| loss.has_two_primaries());
            "two primaries also never receive each other's writes"
        AsyncReplicationLoss: "the server never had it, or replaced its data",
            LostThere(|_, loss| loss.is_not_replicated());
            "a key that is not there has no expiry"
        OrphanRenewal: "another process had set a shorter lease",
            Lost(|_, loss| loss.ran_out() == Some(RanOut::AsAnotherSet));
            "the lease that was recorded was over, by any clock"
        ClockJump: "it ran out after a clock was stepped",
            Lost(|_, loss| loss.is_by_clock(FaultKind::ClockJump));
            "a step counts at once, a rate in time"
        ClockDrift: "it ran out while a clock ran at a wrong rate",
            Lost(|_, loss| loss.is_by_clock(FaultKind::ClockDrift));
            "the clock of the server decides, where it does"
        ClockSkew: "a process took it that reads a row by a wrong clock",
            LostThere(|_, loss| loss.is_by_clocks_of_processes());
            "a wrong clock is recorded, rounding is not"
        CoarseExpiry: "its server gave it up to a second less", LostThere(is_rounded);
            "the server recorded a shorter lease"
        Interleaving: "another value took its place while it stood",
            LostThere(|_, loss| loss.was_replaced());
    }
    Overrun {
        HolderPause: "without its pauses the holder would have left in time",
            When(|case| case.overrun().is_some_and(|overrun| overrun.stood_still()));
            "a process that does not run cannot look at any clock"
        ClockDrift: "its lease states a validity, and a clock ran at a wrong rate",
            When(|case| case.overrun().is_some_and(|overrun| overrun.clock_ran_wrong()));
            "a lease with a validity is left in time by a right clock"
        Partition: "a cut held the answer up for a tenth of the lease, or it had left in time",
            When(|case| case.overrun().is_some_and(|overrun| overrun.answer_was_cut_off()));
            "a cut stops what a delay only slows down"
        Latency: "the answer took a tenth of the lease, without which it had left in time",
            When(|case| case.overrun().is_some_and(|overrun| overrun.was_answered_late()));
            "the answer comes before what the holder did with it"
        StorageDelay: "without waiting for the storage it would have left in time",
            When(|case| case.overrun().is_some_and(|overrun| overrun.waited_for_storage()));
            "the wait was not its own work"
        MissedRenewal: "it was in its section for too long, and the lock renews its lease",
            When(|case| case.overrun().is_some_and(|overrun| overrun.missed_renewals()));
            "a lease that is renewed need not be long enough"
        HoldTooLong: "it was in its section for longer than its lease",
            When(|case| case.overrun().is_some_and(|overrun| overrun.is_too_long()));
            "the lease was over, whatever the servers granted"
        UnfoundedAnswer: "one of both entered though no server had granted it the lock",
            When(|case| case.is_entered_ungranted());
    }
    Astray {
        HolderPause: "the remover stood still in the middle of its release",
            When(|case| case.held_up() == Some(HeldUp::AtItsProcess));
            "what a paused process has not sent yet, no network holds up"
        ForeignRelease: "the remover sent its release again after the server had been down",
            When(|case| case.held_up() == Some(HeldUp::SentAgain));
            "a connection that died delivers nothing"
        LostRelease: "the network held the release up",
            When(|case| case.held_up() == Some(HeldUp::OnItsWay));
            "a release that is under way was sent before the lock changed hands"
        AsyncReplicationLoss: "the remover's own lock was never at that server",
            When(|case| case.was_never_there());
    }
}

fn misheard_by(case: &Case<'_, '_>, obstacle: Obstacle) -> bool {
    let by = [Misheard::Refused, Misheard::Succeeded, Misheard::Late];
    by.iter().any(|misheard| case.is_misheard(misheard(obstacle)))
}

fn misheard_by_pause(case: &Case<'_, '_>) -> bool {
    misheard_by(case, Obstacle::Pause)
}

fn misheard_by_delay(case: &Case<'_, '_>) -> bool {
    misheard_by(case, Obstacle::Delay)
}

fn is_taken_over(_: &Case<'_, '_>, loss: &Loss<'_, '_>) -> bool {
    matches!(loss.remover(), Some(Remover::Process(by)) if loss.is_takeover_by(by))
}

/// Another thread of the process may also have sent it for an earlier lock under the same owner
/// value; that is another cause.
fn is_of_a_thread(_: &Case<'_, '_>, loss: &Loss<'_, '_>) -> bool {
    matches!(loss.remover(), Some(Remover::Thread(by)) if !loss.may_be_a_late_release_of(by))
}

fn is_late(_: &Case<'_, '_>, loss: &Loss<'_, '_>) -> bool {
    match loss.remover() {
        Some(Remover::Itself) => loss.may_be_a_late_release(),
        Some(Remover::Thread(by)) => loss.may_be_a_late_release_of(by),
        Some(Remover::Process(_)) | None => false,
    }
}

/// The last second does not matter for a holder that had left its critical section by then, and
/// whose release was delayed.
fn is_rounded(case: &Case<'_, '_>, loss: &Loss<'_, '_>) -> bool {
    loss.ran_out() == Some(RanOut::InWholeSeconds) && case.held_up().is_none()
}
