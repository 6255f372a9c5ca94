use super::{Case, OVERLAP, within};
use fencepost::Scenario;
use fencepost::setup::scenario::{Hold, Servers};
use fencepost::setup::span::{Span, SpanRange};
use fencepost_faults::{Direction, Fault, FaultPlan, Micros, Node, SimTime, TimedFault};
use fencepost_reports::{Cause, Kind};

pub(crate) struct Written {
    pub(crate) id: &'static str,
    pub(crate) flawed: Case,
    pub(crate) twin: Case,
    pub(crate) plan: fn() -> FaultPlan,
    pub(crate) families: &'static str,
    pub(crate) about: &'static str,
    pub(crate) kinds: &'static [Kind],
    pub(crate) cause: Cause,
    pub(crate) seeds: u64,
}

pub(crate) const WRITTEN: &[Written] = &[Written {
    id: "E2",
    flawed: within("curator-any-session", often_idle),
    twin: within("curator-mutex", often_idle),
    plan: reply_lost_and_cut_off,
    families: "lost-reply+partition",
    about: "a reply to client-1 is lost between 6 s and 7.5 s, and client-1 is cut off from 7.5 s to \
            15.9 s",
    kinds: OVERLAP,
    cause: Cause::SessionExpired,
    seeds: 40,
}];

fn often_idle() -> Scenario {
    Scenario {
        processes: 2,
        hold: Hold::Drawn(SpanRange::new(Span::millis(700), Span::secs(1))),
        think: SpanRange::new(Span::secs(1), Span::secs(3)),
        servers: Servers { ensemble: 1, ..Servers::default() },
        ..Scenario::default()
    }
}

/// The client looks for its node in a new session, up to 2 s before the old session expires.
fn reply_lost_and_cut_off() -> FaultPlan {
    let (server, client) = (Node::Server(1), Node::Client(1));
    let lost = Fault::LostReply { server, client, duration_us: Micros::from_millis(1_500) };
    let cut = Fault::Partition {
        side_a: vec![client],
        side_b: vec![server],
        direction: Direction::Both,
        duration_us: Micros::from_millis(8_400),
    };
    let at = |ms: u64, id, fault| TimedFault { id, at_us: SimTime(ms * 1_000), fault };
    FaultPlan::new(vec![at(6_000, 1, lost), at(7_500, 2, cut)])
}
