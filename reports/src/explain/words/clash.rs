//! The sentence that states why two acquisitions could stand against each other.

use crate::explain::cause::{Cause, release};
use crate::explain::meaning::of_cause;
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::timeline::{Acquisition, FaultSpan, Grant, KeyEnd, Moment, Timeline};
use crate::record::history::{Change, What};
use fencepost_faults::{FaultKind, Impact, Micros, Node, SimTime};

/// What can be named in a sentence about two acquisitions that stood against each other.
pub(super) struct Scene<'t, 'h> {
    timeline: &'t Timeline<'h>,
    kind: Kind,
    holder: &'t Acquisition<'h>,
    taker: &'t Acquisition<'h>,
    at: SimTime,
    /// The removal that it tells of.
    removed: Option<Moment>,
}

const UNORDERED_TOKENS: &str = "The tokens are not drawn from one counter, so that their order is \
                                not that of the grants.";
const STALE_TAKEOVER: &str =
    "A process that was asking for the lock removed the one that stood, whoever had it by then.";
const LOST_REPLY: &str = "A server applied a command whose sender never heard of it.";
pub(super) const UNEXPLAINED: &str = "The recorded events do not say why.";

fn shared_client_id(holder: &str, taker: &str) -> String {
    format!(
        "{holder} and {taker} have one client id, so that each finds the row of the other its own."
    )
}

fn old_value(holder: &str, taker: &str) -> String {
    format!(
        "{taker} had the lock to itself: {holder} had written and left before. {taker} computed \
         what it wrote from an older value."
    )
}

fn storage_delay(kind: Kind, holder: &str, taker: &str) -> String {
    if matches!(kind, Kind::Overlap | Kind::TokenRegression) {
        return format!("{holder} waited for the storage until its lease was over.");
    }
    let on_its_way = "The write was still on its way to the storage when";
    match holder == taker {
        true => format!("{on_its_way} {taker} was granted the lock again."),
        false => format!("{on_its_way} the lock passed from {holder} to {taker}."),
    }
}

fn failover_forgets(holder: &str, held_at: &str, taken_at: &str) -> String {
    format!(
        "{holder} had the lock on its connection with {held_at}. A failover made {taken_at} the \
         primary, which was never told of it: what a connection has is not replicated."
    )
}

fn stale_read(holder: &str) -> String {
    format!(
        "A server that was behind told {holder} that it was the first of the queue, when its node \
         was already gone."
    )
}

impl<'t, 'h> Scene<'t, 'h> {
    pub(super) fn new(
        timeline: &'t Timeline<'h>,
        finding: &Finding,
        clash: Clash,
    ) -> Scene<'t, 'h> {
        let (holder, taker) =
            (&timeline.acquisitions[clash.earlier], &timeline.acquisitions[clash.later]);
        let (at, removed) = (finding.at + finding.duration, release::removal(timeline, finding));
        Scene { timeline, kind: finding.kind, holder, taker, at, removed }
    }

    /// Who was promoted is told by what the servers did: a replica followed, and then served.
    fn split_brain(&self, held_at: &str, taken_at: &str) -> String {
        let [holder, taker] = [self.holder, self.taker].map(|one| one.process.to_string());
        let [first, second] = [self.holder, self.taker].map(|one| {
            let grant = one.grant.as_ref();
            grant.is_some_and(|grant| self.was_promoted(grant.node))
        });
        let primaries = match (first, second) {
            (true, false) => format!(
                "{held_at}, once a replica, had been promoted, and {taken_at} went on as primary"
            ),
            (false, true) => format!(
                "{taken_at}, once a replica, had been promoted, and {held_at} went on as primary"
            ),
            _ => format!("{held_at} and {taken_at} both acted as primary"),
        };
        format!(
            "{primaries}: {held_at} granted {holder} and {taken_at} granted {taker}, and neither \
             knew of the other."
        )
    }

    /// Whether a server was seen to follow a primary, and then to be one, before the clash ended.
    fn was_promoted(&self, node: Node) -> bool {
        let events = self.timeline.history.events.iter();
        let as_primary = events.take_while(|event| event.time_us <= self.at).filter_map(|event| {
            match &event.what {
                What::Server { primary, .. } if event.node == node => Some(*primary),
                _ => None,
            }
        });
        let as_primary: Vec<bool> = as_primary.collect();
        as_primary.windows(2).any(|pair| !pair[0] && pair[1])
    }

    /// The sentence that states the cause.
    pub(super) fn why(&self, cause: Cause) -> String {
        let [holder, taker] = [self.holder, self.taker].map(|one| one.process.to_string());
        let (held_at, taken_at) = (server(self.holder), server(self.taker));
        match cause {
            Cause::HolderPause => self.pause(&holder),
            Cause::HoldTooLong => {
                format!("{holder} worked longer than its lease of {}.", self.ttl())
            }
            Cause::AsyncReplicationLoss => self.replication_loss(&holder, &taker),
            Cause::MissedRenewal => self.missed_renewal(&holder),
            Cause::SplitBrain => self.split_brain(&held_at, &taken_at),
            Cause::RestartWithoutDelay => format!(
                "{} restarted without the lock of {holder} and granted it again within the lease.",
                self.shared_server().unwrap_or(taken_at)
            ),
            Cause::RestartDataLoss => format!("{held_at} restarted without its counter of tokens."),
            Cause::UnorderedTokens => UNORDERED_TOKENS.to_owned(),
            Cause::ClockJump => format!(
                "{}, so the lock of {holder} ran out too early.",
                self.fault(FaultKind::ClockJump, "The clock", "was stepped")
            ),
            Cause::ClockDrift => format!(
                "{}, so the lease of {holder} was over sooner at the server than by its own clock.",
                self.fault(FaultKind::ClockDrift, "The clock", "ran at the wrong rate")
            ),
            Cause::CoarseExpiry => self.coarse_expiry(&holder, &held_at),
            Cause::Eviction => format!("{held_at} was out of memory and evicted it."),
            Cause::Flush => format!("{held_at} was flushed."),
            Cause::ForeignRelease => format!("Another process had removed the lock of {holder}."),
            Cause::StaleTakeover => STALE_TAKEOVER.to_owned(),
            Cause::EarlyRelease => format!(
                "A command of {holder} itself had removed its lock while it was in its section."
            ),
            Cause::LostReply => LOST_REPLY.to_owned(),
            Cause::LostRelease => self.lost_release(&holder, &taker),
            Cause::StorageDelay => storage_delay(self.kind, &holder, &taker),
            Cause::Latency => format!(
                "The answer that {holder} was granted the lock came so late that most of the lease \
                 was over."
            ),
            Cause::Interleaving => {
                format!("The steps of {holder} and {taker} interleaved; no fault was needed.")
            }
            Cause::SharedOwner => format!(
                "{holder} and {taker} have one owner value, and the server took the one for the \
                 other."
            ),
            Cause::SessionExpired => self.session_expired(&holder, &taker),
            Cause::StaleRead => stale_read(&holder),
            Cause::ClockSkew => self.clock_skew(&holder),
            Cause::OldValue => old_value(&holder, &taker),
            Cause::SharedClientId => shared_client_id(&holder, &taker),
            Cause::ConnectionLost => self.connection_lost(&holder, &held_at),
            Cause::FailoverForgets => failover_forgets(&holder, &held_at, &taken_at),
            Cause::ExpiredWaiter => self.expired_waiter(),
            // Those of nobody's getting the lock have no second acquisition.
            Cause::OrphanRenewal
            | Cause::HolderCrash
            | Cause::WaiterCrash
            | Cause::MissedWakeup
            | Cause::LostPlace
            | Cause::OrphanNode
            | Cause::LostWatch
            | Cause::ServerOutage
            | Cause::Partition => of_cause(cause).what.to_owned(),
            Cause::Unexplained => UNEXPLAINED.to_owned(),
        }
    }

    fn session_expired(&self, holder: &str, taker: &str) -> String {
        let told = self.holder.completed;
        let gone = self.timeline.gone(self.holder);
        let when = match told.zip(gone).is_some_and(|(told, (gone, _))| gone < told) {
            true => format!("before {holder} had heard that it was the first of the queue"),
            false => format!("while {holder} was in its section"),
        };
        let (node, session) = self.timeline.history.header.place();
        format!(
            "The servers ended the {session} of {holder}, and its {node} with it, {when}; so \
             {taker} became the first of the queue."
        )
    }

    fn expired_waiter(&self) -> String {
        let waiter = if self.holder.grant.is_none() { self.holder } else { self.taker };
        let waiter = waiter.process;
        format!(
            "The lease of {waiter} ended while it waited, and its key went with it; when everybody \
             in front was gone {waiter} was told all the same that it has the lock."
        )
    }

    fn clock_skew(&self, holder: &str) -> String {
        let gone = self.timeline.gone(self.holder).map(|(gone, _)| gone);
        let replacer = gone.and_then(|gone| self.timeline.replacer(gone));
        let replacer = replacer.unwrap_or(self.taker.process);
        let both = [self.holder.process, replacer].map(Node::machine);
        let is_skew = |fault: &&FaultSpan<'_>| {
            matches!(fault.kind, FaultKind::ClockJump | FaultKind::ClockDrift)
                && fault.from.time <= self.at
                && fault.nodes.iter().any(|node| both.contains(node))
        };
        let faults = &self.timeline.faults;
        let what = faults.iter().rev().find(is_skew).map_or(String::new(), |fault| {
            let hit: Vec<Node> =
                fault.nodes.iter().copied().filter(|node| both.contains(node)).collect();
            let verb = match fault.kind {
                FaultKind::ClockJump => "was stepped at",
                _ => "ran at the wrong rate from",
            };
            let (hit, from, id) = (names(&hit), fault.from.time, fault.id);
            format!("The clock of {hit} {verb} {from} (fault {id}). ")
        });
        format!(
            "{what}Processes compare the time in the row with their own clocks, so that {replacer} \
             took the lock of {holder} before its {} were over.",
            self.ttl()
        )
    }

    fn connection_lost(&self, holder: &str, held_at: &str) -> String {
        let gone = self.timeline.gone(self.holder).map(|(_, how)| how);
        match gone {
            Some(KeyEnd::Changed { change: Change::Forgotten, .. }) => format!(
                "{held_at} restarted: the connection of {holder} ended, and the lock that it had on \
                 it, while {holder} was in its section."
            ),
            _ => format!(
                "{held_at} ended the connection of {holder}, and the lock that it had on it, while \
                 {holder} was in its section."
            ),
        }
    }

    fn missed_renewal(&self, holder: &str) -> String {
        format!(
            "The lock renews its lease by itself, but for the {} before it was over no renewal of \
             {holder} reached the server.",
            self.ttl()
        )
    }

    fn coarse_expiry(&self, holder: &str, held_at: &str) -> String {
        format!(
            "{held_at} counts leases in whole seconds, so the lock of {holder} ran out up to a \
             second before its {} were over.",
            self.ttl()
        )
    }

    fn replication_loss(&self, holder: &str, taker: &str) -> String {
        let (held_at, taken_at) = (server(self.holder), server(self.taker));
        if held_at != taken_at {
            return format!(
                "{held_at} had granted {holder}, but {taken_at}, which granted {taker}, never had \
                 that write: replication is asynchronous."
            );
        }
        if self.kind == Kind::ForeignRelease {
            return format!(
                "{holder} had been granted its lock by {held_at}, which a failover had replaced, \
                 and released what stood at another server."
            );
        }
        format!(
            "{held_at} discarded what it had granted when it resynchronised with another primary."
        )
    }

    fn lost_release(&self, holder: &str, taker: &str) -> String {
        let sent = |arrived: Option<Moment>| {
            let sent = release::sent(self.timeline, self.holder.process, arrived?)?;
            Some(format!(" at {}", sent.time))
        };
        if self.kind == Kind::ForeignRelease {
            let at = sent(self.removed).unwrap_or_default();
            return format!(
                "{holder} had sent that release{at}, before {taker} was granted the lock, and the \
                 network delivered it after that."
            );
        }
        let machine = self.holder.process.machine();
        let at = sent(self.timeline.gone(self.holder).map(|(gone, _)| gone)).unwrap_or_default();
        format!(
            "A release that {machine} had sent{at} for an earlier lock arrived late and removed \
             this one."
        )
    }

    fn pause(&self, holder: &str) -> String {
        let acquisition = self.holder;
        let from =
            acquisition.grant.as_ref().map_or(acquisition.invoked, |grant| grant.moment).time;
        let pauses = self
            .timeline
            .faults
            .iter()
            .filter(|fault| fault.does(Impact::Freezes, acquisition.process));
        let longest = pauses.max_by_key(|fault| fault.within(from, self.at));
        let Some(fault) = longest else { return format!("{holder} stood still.") };
        let suspended = if fault.kind == FaultKind::Suspend {
            "was suspended, its monotonic clock with it,"
        } else {
            "stood still"
        };
        let what = match self.timeline.history.header.lives_with_session {
            true => format!("{} ended", self.timeline.history.header.place().1),
            false => format!("lease of {} ran out", self.ttl()),
        };
        format!(
            "{holder} {suspended} for {} from {} on, and its {what} unnoticed.",
            length(fault, self.timeline.end),
            fault.from.time
        )
    }

    /// The last fault of a kind before the end of the finding, as the beginning of a sentence.
    fn fault(&self, kind: FaultKind, subject: &str, verb: &str) -> String {
        let mut faults = self
            .timeline
            .faults
            .iter()
            .rev()
            .filter(|fault| fault.kind == kind && fault.from.time <= self.at);
        let relevant =
            |fault: &&FaultSpan<'_>| fault.nodes.iter().any(|machine| self.involves(*machine));
        match faults.find(relevant) {
            Some(fault) => {
                format!(
                    "{subject} of {} {verb} at {} (fault {})",
                    names(fault.nodes),
                    fault.from.time,
                    fault.id
                )
            }
            None => format!("{subject} of a host {verb}"),
        }
    }

    fn involves(&self, machine: Node) -> bool {
        let mut both = [self.holder, self.taker].into_iter();
        both.any(|one| {
            one.process.machine() == machine
                || one
                    .grant
                    .as_ref()
                    .is_some_and(|grant| grant.servers.iter().any(|(server, _)| *server == machine))
        })
    }

    /// The first server that granted both.
    fn shared_server(&self) -> Option<String> {
        let (held, taken) = (self.holder.grant.as_ref()?, self.taker.grant.as_ref()?);
        let mut lost = self.timeline.history.events.iter().filter_map(|event| match &event.what {
            What::Server { change: Change::Forgotten, .. } => Some(event.node),
            _ => None,
        });
        let granted =
            |grant: &Grant, node: Node| grant.servers.iter().any(|(server, _)| *server == node);
        lost.find(|node| granted(held, *node) && granted(taken, *node)).map(|node| node.to_string())
    }

    fn ttl(&self) -> Micros {
        self.timeline.history.header.ttl_us
    }
}

fn server(acquisition: &Acquisition<'_>) -> String {
    let grant = acquisition.grant.as_ref();
    grant.map_or("the server".to_owned(), |grant| grant.node.to_string())
}

fn length(fault: &FaultSpan<'_>, end: SimTime) -> Micros {
    fault.to.map_or(end, |to| to.time).since(fault.from.time)
}

fn names(nodes: &[Node]) -> String {
    let names: Vec<String> = nodes.iter().map(Node::to_string).collect();
    names.join(", ")
}
