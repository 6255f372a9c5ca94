use crate::drawn::drawn;
use fencepost::setup::scenario::Hold;
use fencepost::{RunSpec, Scenario};
use fencepost_reports::Kind;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pinned {
    pub(crate) client: &'static str,
    pub(crate) fault: &'static str,
    pub(crate) seed: u64,
    pub(crate) kind: Kind,
    pub(crate) hold: Option<Hold>,
}

pub(crate) const PINNED: &[Pinned] = &[
    pinned("single-node", "pause", 1, Kind::Overlap),
    pinned("single-node", "pause", 1, Kind::StaleWrite),
    pinned("single-node", "failover", 2, Kind::Overlap),
    pinned("single-node", "restart", 0, Kind::Overlap),
    pinned("single-node", "clock-jump", 0, Kind::Overlap),
    pinned("redlock", "pause", 2, Kind::Overlap),
    pinned("redlock", "pause", 9, Kind::StaleWrite),
    pinned("redlock", "suspend", 5, Kind::LostUpdate),
    pinned("redlock", "restart", 3, Kind::Overlap),
    pinned("redlock", "clock-jump", 3, Kind::Overlap),
    Pinned {
        hold: Some(Hold::UntilValidity),
        ..pinned("redlock", "clock-drift", 1, Kind::Overlap)
    },
    pinned("redlock", "storage-delay", 0, Kind::StaleWrite),
    pinned("fencing", "pause", 0, Kind::Overlap),
    pinned("fencing", "failover", 0, Kind::TokenRegression),
];

const fn pinned(client: &'static str, fault: &'static str, seed: u64, kind: Kind) -> Pinned {
    Pinned { client, fault, seed, kind, hold: None }
}

impl Pinned {
    pub(crate) fn spec(&self) -> RunSpec {
        let mut scenario = Scenario::default();
        scenario.hold = self.hold.unwrap_or(scenario.hold);
        drawn(self.client, self.fault, self.seed, scenario)
    }
}
