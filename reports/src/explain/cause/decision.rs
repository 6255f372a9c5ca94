//! The [`TABLE`] of rules for causes, in the order in which they are tried.
//!
//! `classify` asks the [`Question`]s of a finding in order. For each question, `classify` tries the
//! rows from the top, and the first row that applies gives the cause. If no row applies, `classify`
//! asks the next question. A row does not apply if its cause needs an event that did not happen
//! before the end of the violation. If several servers lost a lock early for different reasons, the
//! reason whose row comes first is the cause.

use super::Cause;
use crate::explain::evidence::{
    Case, EarlyExpiry, InFlightWrite, LateRelease, Loss, Obstacle, Remover, SessionLoss,
    Standstill, UntrueAnswer,
};
use crate::record::history::Change;
use fencepost_faults::FaultKind;
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Question {
    /// Why does no process get the lock, or why is a waiter not served?
    Standstill,
    Overtaken,
    Held,
    UntrueAnswer,
    Owners,
    /// Did a process remove the lock while acquiring it?
    Takeover,
    /// Did the only holder write a value that it had computed from an outdated value?
    OldValue,
    /// Had the first process that did a job already left its critical section?
    Unrecorded,
    Counter,
    /// Was a late write delayed, or sent too late?
    InFlight,
    Session,
    /// How did the servers lose the lock before the end of its lease?
    EarlyLoss,
    /// Why was the holder still in its critical section when the lease expired?
    Overrun,
    /// How did a release remove another process's lock?
    InTransit,
}

pub(super) struct Row {
    pub(super) question: Question,
    pub(super) cause: Cause,
    pub(super) asks: &'static str,
    pub(super) holds: Test,
    /// Reason to try this row before others; may be empty if the order does not matter.
    pub(super) first: &'static str,
}

pub(super) enum Test {
    Case(fn(&Case<'_, '_>) -> bool),
    /// Tests how a server lost the lock. The loss at the server of the earlier grant takes
    /// precedence if the other server may have copied that loss.
    Loss(fn(&Case<'_, '_>, &Loss<'_, '_>) -> bool),
    /// Tests how the server of the later grant lost the lock.
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
    // Rows with different `Standstill`s exclude each other; `evidence/standstill.rs` decides which
    // row applies.
    Standstill {
        LockOrder: "a waiting process holds this lock and waits for another",
            When(|case| case.is_at(Standstill::HeldByWaiter));
        OrphanRenewal: "the lock's owner is outside its critical section and extends the lock",
            When(|case| case.is_at(Standstill::OwnerRenews));
            "an owner that sends renewals has not crashed"
        AsyncReplicationLoss: "a removal at the old primary never reached the new one",
            When(|case| case.is_at(Standstill::ReleaseNotCopied));
            "the owner did release the lock"
        LostReply: "the lock's owner never received the grant, because a message was lost",
            When(|case| case.is_at(Standstill::OwnerUnaware(Obstacle::Loss)));
            "the loss alone explains the missing grant"
        LostReply: "the release only lowered a count that an acquire without an answer had raised",
            When(|case| case.is_at(Standstill::KeptByCount));
            "the loss alone explains the missing answer"
        Latency: "the release only lowered a count that an acquire with a late answer had raised",
            When(|case| case.is_at(Standstill::KeptByCount));
        HolderPause: "the lock's owner never received the grant, because it was paused",
            When(|case| case.is_at(Standstill::OwnerUnaware(Obstacle::Pause)));
            "the answer had arrived by the time the owner resumed"
        Latency: "the lock's owner never received the grant, because the answer was late; only if \
                  no loss and no pause explains it",
            When(|case| case.is_at(Standstill::OwnerUnaware(Obstacle::Delay)));
        UnfoundedAnswer: "the lock's owner was refused although no fault interfered",
            When(|case| case.is_at(Standstill::OwnerMisinformed));
        UnfoundedAnswer: "the lock's own code told the owner that the lock was released",
            When(|case| case.is_at(Standstill::OwnerReleased));
        GivenUpCall: "the lock remained from a call that the application abandoned",
            When(|case| case.is_at(Standstill::CallGivenUp));
        LostRelease: "the lock's owner released it and never received a confirmation",
            When(|case| case.is_at(Standstill::ReleaseUnanswered));
        HolderCrash: "the lock's owner crashed",
            When(|case| case.is_at(Standstill::OwnerDied));
        WaiterCrash: "no lock is set, and a process crashed while it waited",
            When(|case| case.is_at(Standstill::WaiterDied));
        WaiterPause: "the first process in the queue was paused",
            When(|case| case.is_at(Standstill::WaiterPaused));
        LostWatch: "a waiting process's node is first in the queue",
            When(|case| case.is_at(Standstill::NotNotified) && case.has_queue());
            "only a queue of nodes has watches"
        MissedWakeup: "the lock became free, and no waiting process sent anything",
            When(|case| case.is_at(Standstill::NotNotified));
        Interleaving: "several processes split the servers among them",
            When(|case| case.is_at(Standstill::VotesSplit));
        OrphanNode: "no process knows of the first node in the queue",
            When(|case| case.is_at(Standstill::UnknownNode));
        ClockSkew: "the clocks that are compared with a row differ",
            When(|case| case.is_at(Standstill::ClocksDiffer));
        ConnectionLost: "all waiting processes wait on connections that have ended",
            When(|case| case.is_at(Standstill::OnDeadConnections));
        DiskFailure: "servers stopped or refused writes because their disks failed to sync",
            When(|case| case.is_at(Standstill::DiskFailed));
        ServerOutage: "a server was down or paused for most of the time",
            When(|case| case.is_at(Standstill::ServersAway));
            "a primary that is down cannot be reached either"
        NoPrimary: "for most of the time clients were sent to servers that were not primaries",
            When(|case| case.is_at(Standstill::NoPrimary));
            "replicas grant no locks, even to clients that can reach them"
        Partition: "a server was partitioned from the network",
            When(|case| case.is_at(Standstill::NetworkCut));
            "a partition stops messages that a delay only slows down"
        Latency: "messages to or from a server were delayed",
            When(|case| case.is_at(Standstill::MessagesLate));
    }
    Overtaken {
        LostPlace: "a lock that promises an order did not keep the order", When(|_| true);
    }
    Held {
        HolderPause: "without its pauses the holder would have met the bound",
            When(|case| case.held().is_some_and(|held| held.was_paused()));
            "a pause also makes a critical section longer than the bound"
        HoldTooLong: "the holder worked beyond the bound",
            When(|case| case.held().is_some());
    }
    UntrueAnswer {
        OrphanNode: "the process waited with a second node",
            When(|case| case.is_untrue_answer(UntrueAnswer::OfAnotherNode));
            "the process got a true answer about the other node"
        LostReply: "the process was refused the lock, and a message had been lost",
            When(|case| case.is_untrue_answer(UntrueAnswer::Refused(Obstacle::Loss)));
        LostReply: "the release only lowered a count that an acquire without an answer had raised",
            When(|case| case.is_untrue_answer(UntrueAnswer::KeptByCount));
            "the loss alone explains the missing answer"
        Latency: "the release only lowered a count that an acquire with a late answer had raised",
            When(|case| case.is_untrue_answer(UntrueAnswer::KeptByCount));
        LostRelease: "the process reported a successful release, and a message had been lost",
            When(|case| case.is_untrue_answer(UntrueAnswer::Succeeded(Obstacle::Loss)));
        LostRelease: "a release of the process removed the lock that the process was acquiring, \
                      while a fault delayed messages",
            When(|case| case.is_untrue_answer(UntrueAnswer::TakenBack));
            "the history records the removal"
        Partition: "the process received its grant after the lease, because a partition delayed \
                    the answer",
            When(|case| case.is_untrue_answer(UntrueAnswer::CutOff));
        LostReply: "the process received its grant after the lease, and a message had been lost",
            When(|case| case.is_untrue_answer(UntrueAnswer::Late(Obstacle::Loss)));
        HolderPause: "the process was paused during its call", When(is_hidden_by_pause);
        Latency: "messages or the server were slow during the process's call",
            When(is_hidden_by_delay);
        UnfoundedAnswer: "no fault interfered between the process and the servers, or no server \
                          had granted the lock",
            When(|case| case.is_untrue_answer(UntrueAnswer::Unfounded));
    }
    Owners {
        SharedOwner: "two threads share an owner value, and the server admitted the second; or two \
                      processes do, and one entered without a grant",
            When(|case| case.shares_owner());
            "threads of one process also share a client id"
        SharedClientId: "two processes share a client id in a row",
            When(|case| case.shares_client_id());
            "processes with the same id overlap even without a fault"
    }
    Takeover {
        StaleTakeover: "the remover was acquiring, and it had no release in transit",
            When(|case| case.is_takeover());
    }
    OldValue {
        OldValue: "the writer was the only holder, and the value that it overwrote was older than \
                   its grant",
            When(|case| case.is_overwritten());
    }
    Unrecorded {
        UnrecordedJob: "the first process had left its critical section before the second was \
                        granted the lock, and had left no record of the job",
            When(|case| case.left_no_record());
    }
    Counter {
        UnorderedTokens: "several servers count independently",
            When(|case| case.counter().is_some_and(|counter| counter.is_one_of_many()));
            "the order of such tokens never had a meaning"
        Flush: "a server was flushed between the grants",
            When(|case| case.counter().is_some_and(|counter| counter.was_flushed()));
            "a flush also reaches replicas and disks"
        Eviction: "a key other than the lock was evicted",
            When(|case| case.counter().is_some_and(|counter| counter.was_evicted()));
            "an eviction also reaches replicas"
        SplitBrain: "both servers were primaries when they granted the lock",
            When(|case| case.counter().is_some_and(|counter| counter.has_two_primaries()));
            "two primaries also never receive each other's writes"
        RestartDataLoss: "the later token's server had the earlier lock and lost it in a restart",
            When(|case| case.counter().is_some_and(|counter| counter.lost_earlier_lock()));
            "the earlier lock had been replicated"
        AsyncReplicationLoss: "the later token is from another server, or from replaced data",
            When(|case| case.counter().is_some_and(|counter| counter.is_a_copy()));
            "after a failover a crash of the old primary does not matter"
        RestartDataLoss: "the server crashed between the grants",
            When(|case| case.counter().is_some_and(|counter| counter.was_forgotten()));
            "a new counter may repeat the tokens of a lost one"
        UnorderedTokens: "one server issued a token twice and lost nothing in between",
            When(|case| case.counter().is_some_and(|counter| counter.is_no_counter()));
    }
    InFlight {
        EarlyRelease: "the writer sent the write after it had left its critical section",
            When(|case| case.is_in_flight(InFlightWrite::AfterLeaving));
            "the writer had released the lock, whatever delayed the write afterwards"
        StorageDelay: "a fault delayed the write or the storage",
            When(|case| case.is_in_flight(InFlightWrite::Delayed));
            "a pause after sending does not delay the write"
        HolderPause: "the writer was paused after it had sent the write",
            When(|case| case.is_in_flight(InFlightWrite::OfPausedProcess));
            "a pause is recorded, but ordinary latency is not"
        StorageDelay: "the writer had left before the lock changed hands",
            When(|case| case.is_in_flight(InFlightWrite::OfFormerHolder));
    }
    Session {
        ExpiredWaiter: "one process waited for half a ttl or longer, and its key was never the \
                        first in the queue at any server",
            When(|case| case.is_gone(SessionLoss::WasNeverFirst));
            "after a wait that long, the lease may have ended"
        UnfoundedAnswer: "one process got the lock less than half a ttl after it asked, although \
                          its key was not the first in the queue at any server",
            When(|case| case.is_gone(SessionLoss::EnteredInQueue));
        SplitBrain: "both servers were primaries when the second one granted a connection's lock",
            When(|case| case.is_gone(SessionLoss::TwoPrimaries));
        FailoverForgets: "another server granted a connection's lock after its promotion",
            When(|case| case.is_gone(SessionLoss::GrantedElsewhere));
        ConnectionLost: "the connection or its server ended",
            When(|case| case.is_gone(SessionLoss::WithConnection));
        StaleRead: "the holder's node was deleted before the holder learned that it was first",
            When(|case| case.is_gone(SessionLoss::ToldByStaleServer));
        SessionExpired: "the holder's session ended",
            When(|case| case.is_gone(SessionLoss::WithSession));
    }
    // Removals of the lock come first, then losses at a server, then early ends of leases and
    // replaced locks.
    EarlyLoss {
        StaleTakeover: "another process removed the lock while acquiring it",
            Lost(is_taken_over);
            "such a removal is not a release"
        SharedOwner: "another thread of the process removed the lock, not by a late release",
            LostThere(is_of_a_thread);
            "the remover is not another process"
        ForeignRelease: "another process removed the lock",
            Lost(|_, loss| matches!(loss.remover(), Some(Remover::Process(_))));
            "the recorded removal decides, whatever else happened"
        LostReply: "the holder's own process removed the lock after a lost reply",
            Lost(|_, loss| loss.remover() == Some(Remover::Itself) && loss.lost_a_reply());
            "the loss makes the process release the lock again"
        LostRelease: "the holder's own process removed the lock by a release of an earlier one",
            Lost(is_late);
            "a late release can also arrive inside a critical section"
        EarlyRelease: "the holder's own process removed the lock while it was in use",
            Lost(|_, loss| loss.remover() == Some(Remover::Itself) && loss.is_in_use());
            "the history records the remover"
        SessionExpired: "the holder's session ended",
            LostThere(|_, loss| loss.ended_with_session());
            "a session is not replicated by itself"
        Flush: "the lock's server was flushed", Lost(|_, loss| loss.ended_by(Change::Flushed));
            "the history records the change that ended the key"
        Eviction: "the server evicted the lock", Lost(|_, loss| loss.ended_by(Change::Evicted));
            "the history records the change that ended the key"
        RestartWithoutDelay: "the server restarted without the lock",
            LostThere(|_, loss| loss.was_forgotten());
            "the history records the change that ended the key"
        SplitBrain: "both servers were primaries when the second one granted the lock",
            LostThere(|_, loss| loss.has_two_primaries());
            "two primaries also never receive each other's writes"
        AsyncReplicationLoss: "the server never had the lock, or replaced its data",
            LostThere(|_, loss| loss.is_not_replicated());
            "a server without the key cannot expire it"
        OrphanRenewal: "another process had set a shorter lease",
            Lost(|_, loss| loss.ran_out() == Some(EarlyExpiry::ByOtherLease));
            "the recorded lease had expired by every clock"
        ClockJump: "the lock expired after a clock was stepped",
            Lost(|_, loss| loss.is_by_clock(FaultKind::ClockJump));
            "a step acts immediately, and a wrong rate only over time"
        ClockDrift: "the lock expired while a clock ran at a wrong rate",
            Lost(|_, loss| loss.is_by_clock(FaultKind::ClockDrift));
            "the server's clock decides if the server compares the time"
        ClockSkew: "a process with a wrong clock took the lock",
            LostThere(|_, loss| loss.is_by_clocks_of_processes());
            "a wrong clock is recorded, but rounding is not"
        CoarseExpiry: "the server recorded a lease that was up to a second shorter than the ttl",
            LostThere(is_rounded);
            "the history records the shorter lease"
        OrphanRenewal: "an earlier holder renewed its own lease, which replaced the lock",
            LostThere(|_, loss| loss.is_renewed_over());
            "a renewal is not part of an acquire"
        Interleaving: "another value replaced the lock while it was held",
            LostThere(|_, loss| loss.was_replaced());
    }
    Overrun {
        HolderPause: "without its pauses the holder would have left in time",
            When(|case| case.overrun().is_some_and(|overrun| overrun.was_paused()));
            "a paused process cannot check any clock"
        ClockDrift: "the lock states a validity, and a clock ran at a wrong rate",
            When(|case| case.overrun().is_some_and(|overrun| overrun.clock_ran_wrong()));
            "with a correct clock the holder leaves before its validity ends"
        Partition: "without the partition, which delayed the answer by a tenth of the lease or \
                    more, the holder would have left in time",
            When(|case| case.overrun().is_some_and(|overrun| overrun.answer_was_cut_off()));
            "a partition stops messages that a delay only slows down"
        Latency: "without the delay of the answer, a tenth of the lease or more, the holder would \
                  have left in time",
            When(|case| case.overrun().is_some_and(|overrun| overrun.was_answered_late()));
            "the answer arrives before the critical section begins"
        StorageDelay: "without waiting for the storage the holder would have left in time",
            When(|case| case.overrun().is_some_and(|overrun| overrun.waited_for_storage()));
            "the wait was not the holder's own work"
        MissedRenewal: "the holder was in its critical section for too long, and the lock renews \
                        its lease",
            When(|case| case.overrun().is_some_and(|overrun| overrun.missed_renewals()));
            "a renewed lease need not be long enough for the work"
        UnfoundedAnswer: "the holder left before the validity that its lock stated had ended, but \
                          the servers did not hold the lock for that long",
            When(|case| case.is_promised_too_long() && case.overrun().is_some());
            "a holder that keeps to the stated validity did not work for too long"
        HoldTooLong: "the holder was in its critical section for longer than its lease",
            When(|case| case.overrun().is_some());
            "the lease had expired, regardless of other grants"
        UnfoundedAnswer: "one process entered although no server, or fewer than a quorum of \
                          several, had granted it the lock",
            When(|case| case.is_entered_ungranted());
    }
    InTransit {
        HolderPause: "the remover was paused in the middle of its release",
            When(|case| case.late_release() == Some(LateRelease::InProcess));
            "the network cannot delay a message that a paused process has not sent yet"
        ForeignRelease: "the remover sent its release again after the server had been down",
            When(|case| case.late_release() == Some(LateRelease::SentAgain));
            "a broken connection delivers nothing"
        ForeignRelease: "the release had already removed the remover's own lock",
            When(|case| case.late_release() == Some(LateRelease::SentTwice));
            "only a command that is executed again removes a second lock"
        LostRelease: "the server was paused before it executed the release",
            When(|case| case.late_release() == Some(LateRelease::AtPausedServer));
            "a paused server still receives messages"
        LostRelease: "the network delayed the release",
            When(|case| case.late_release() == Some(LateRelease::InTransit));
            "a release in transit was sent before the lock changed hands"
        AsyncReplicationLoss: "the remover's own lock was never at that server",
            When(|case| case.was_never_recorded());
    }
}

fn is_hidden_by(case: &Case<'_, '_>, obstacle: Obstacle) -> bool {
    let by = [UntrueAnswer::Refused, UntrueAnswer::Succeeded, UntrueAnswer::Late];
    by.iter().any(|misheard| case.is_untrue_answer(misheard(obstacle)))
}

fn is_hidden_by_pause(case: &Case<'_, '_>) -> bool {
    is_hidden_by(case, Obstacle::Pause)
}

fn is_hidden_by_delay(case: &Case<'_, '_>) -> bool {
    is_hidden_by(case, Obstacle::Delay)
}

fn is_taken_over(_: &Case<'_, '_>, loss: &Loss<'_, '_>) -> bool {
    matches!(loss.remover(), Some(Remover::Process(by)) if loss.is_takeover_of(by))
}

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

/// Returns whether rounding to whole seconds ended the lease early, and no release was late.
fn is_rounded(case: &Case<'_, '_>, loss: &Loss<'_, '_>) -> bool {
    loss.ran_out() == Some(EarlyExpiry::InWholeSeconds) && case.late_release().is_none()
}
