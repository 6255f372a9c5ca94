use super::{SentinelConfig, event::Event};
use crate::protocol::outgoing::OutgoingIds;
use fencepost_machine::Outputs;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) announce: super::Address,
    pub(crate) my_id: String,
    pub(crate) epoch: u64,
    pub(crate) now: i64,
    pub(crate) tilt_since: Option<i64>,
    /// `true` if a change may require action, so that the next check must run soon.
    pub(crate) attention: bool,
    pub(crate) unsaved: bool,
    pub(crate) ids: OutgoingIds,
    pub(crate) events: Vec<Event>,
    random: ChaCha8Rng,
}

pub(crate) struct Context<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) out: &'a mut Outputs,
}

impl Core {
    pub(crate) fn new(config: &SentinelConfig, seed: u64, now: i64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        Self {
            announce: super::Address::new(config.announce_host.clone(), config.announce_port),
            my_id: draw_run_id(&mut random),
            epoch: 0,
            now,
            tilt_since: None,
            attention: true,
            unsaved: true,
            ids: OutgoingIds::default(),
            events: Vec::new(),
            random,
        }
    }

    pub(crate) fn draw_below(&mut self, bound: u64) -> i64 {
        let wide = u128::from(self.random.next_u64()) * u128::from(bound);
        i64::try_from(wide >> 64).unwrap_or(i64::MAX)
    }

    pub(crate) fn raise_epoch(&mut self, epoch: u64) {
        assert!(epoch > self.epoch, "epoch {epoch} is not above {}", self.epoch);
        self.epoch = epoch;
        self.unsaved = true;
        self.event("+new-epoch", epoch.to_string());
    }

    pub(crate) fn event(&mut self, channel: &'static str, message: String) {
        self.events.push(Event { channel, message });
    }
}

fn draw_run_id(random: &mut ChaCha8Rng) -> String {
    let mut bytes = [0_u8; 20];
    random.fill_bytes(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
