//! What every rule of Sentinel needs besides the instance at hand: the instant, who we are, the
//! epoch, randomness, and where outputs and events go.

use super::{SentinelConfig, event::Event};
use crate::protocol::outgoing::OutgoingIds;
use fencepost_machine::Outputs;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// The state of a Sentinel that belongs to no monitored primary (`struct sentinelState`).
#[derive(Debug)]
pub(crate) struct Core {
    /// Where others reach us.
    pub(crate) announce: super::Address,
    /// Our own run id: 40 hexadecimal digits.
    pub(crate) my_id: String,
    /// The highest epoch that we have heard of.
    pub(crate) epoch: u64,
    /// The instant of the input being handled, in milliseconds of the wall clock.
    pub(crate) now: i64,
    /// Since when the clock is not trusted.
    pub(crate) tilt_since: Option<i64>,
    /// Something changed that the next look at all instances may act on: do not sleep long.
    pub(crate) attention: bool,
    /// Something changed that the configuration file holds, and it is not written yet.
    pub(crate) unkept: bool,
    /// Ids for new outgoing connections.
    pub(crate) ids: OutgoingIds,
    /// What happened during this input and is to be told to subscribers.
    pub(crate) events: Vec<Event>,
    random: ChaCha8Rng,
}

/// What a rule may write to while it looks at an instance.
pub(crate) struct Context<'a> {
    /// The Sentinel's own state.
    pub(crate) core: &'a mut Core,
    /// What the driver is to do.
    pub(crate) out: &'a mut Outputs,
}

impl Core {
    /// A Sentinel that knows nothing yet. The seed decides its run id and all its delays.
    pub(crate) fn new(config: &SentinelConfig, seed: u64, now: i64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        Self {
            announce: super::Address::new(config.announce_host.clone(), config.announce_port),
            my_id: draw_run_id(&mut random),
            epoch: 0,
            now,
            tilt_since: None,
            attention: true,
            unkept: true,
            ids: OutgoingIds::new(),
            events: Vec::new(),
            random,
        }
    }

    /// A uniform integer below `bound`, which must not be 0.
    pub(crate) fn draw_below(&mut self, bound: u64) -> i64 {
        let wide = u128::from(self.random.next_u64()) * u128::from(bound);
        i64::try_from(wide >> 64).unwrap_or(i64::MAX)
    }

    /// Takes up an epoch (`sentinel.current_epoch = ...`): it never goes back.
    pub(crate) fn raise_epoch(&mut self, epoch: u64) {
        assert!(epoch > self.epoch, "epoch {epoch} is not above {}", self.epoch);
        self.epoch = epoch;
        self.unkept = true;
        self.event("+new-epoch", epoch.to_string());
    }

    /// Notes an event for the subscribers of the channel of its name.
    pub(crate) fn event(&mut self, channel: &'static str, message: String) {
        self.events.push(Event { channel, message });
    }
}

/// Forty hexadecimal digits, as `getRandomHexChars`.
fn draw_run_id(random: &mut ChaCha8Rng) -> String {
    let mut bytes = [0_u8; 20];
    random.fill_bytes(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
