//! How much may wait for a client that does not read: `client-output-buffer-limit`
//! (`checkClientOutputBufferLimits` in networking.c).

use crate::client::{Client, ClientKey, Role};
use crate::config::{OutputLimit, OutputLimits};
use crate::parameters::parse_memory;
use crate::server::Server;
use crate::timers::Timer;
use fencepost_machine::{ConnectionId, Output, WallTime};

/// What waits for one client.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Unread {
    /// How many bytes.
    pub(crate) bytes: usize,
    /// Since when that is more than the soft limit, in seconds of the wall clock.
    over_soft_since: Option<i64>,
}

impl Unread {
    /// Whether a limit is broken now, in seconds of the wall clock; notes since when it is more
    /// than the soft one.
    fn breaks(&mut self, limit: OutputLimit, now: i64) -> bool {
        let exceeds = |bound: u64| bound > 0 && self.bytes as u64 >= bound;
        let (over_hard, over_soft) = (exceeds(limit.hard), exceeds(limit.soft));
        self.over_soft_since = over_soft.then(|| self.over_soft_since.unwrap_or(now));
        let for_too_long =
            self.over_soft_since.is_some_and(|since| now - since > limit.soft_seconds);
        over_hard || for_too_long
    }
}

/// The limit of a client. A replica's is at least the backlog, which it might have to be sent.
fn limit_of(client: &Client, limits: &OutputLimits, backlog_size: usize) -> OutputLimit {
    let mut limit = match client.role {
        Role::Replica => limits.replica,
        _ if client.subscriptions.any() => limits.pubsub,
        _ => limits.normal,
    };
    if client.role == Role::Replica && limit.hard > 0 {
        limit.hard = limit.hard.max(backlog_size as u64);
    }
    limit
}

impl Server {
    /// The driver says how much waits on a connection.
    pub(crate) fn output_waits(&mut self, connection: ConnectionId, bytes: usize) {
        if let Some(&key) = self.connections.get(&connection) {
            self.client_mut(key).output.bytes = bytes;
            self.check_output_limit(key);
        }
    }

    /// Looks at all clients for whom something waits; runs when [`Timer::OutputLimit`] is due.
    pub(crate) fn check_output_limits(&mut self) {
        let mut waiting: Vec<ClientKey> = self.connections.values().copied().collect();
        waiting.retain(|key| self.client(*key).output.bytes > 0);
        waiting.into_iter().for_each(|key| self.check_output_limit(key));
    }

    fn check_output_limit(&mut self, key: ClientKey) {
        let now = self.now.0.div_euclid(1_000_000);
        let limit =
            limit_of(self.client(key), &self.config.output_limits, self.config.backlog_size);
        let output = &mut self.client_mut(key).output;
        if output.breaks(limit, now) {
            return self.abort_client(key);
        }
        if let Some(since) = output.over_soft_since {
            let due = WallTime((since + limit.soft_seconds + 1).saturating_mul(1_000_000));
            self.timers.set_at_latest(Timer::OutputLimit, due);
        }
    }

    /// Breaks a client's connection: what was not sent yet is not sent.
    pub(crate) fn abort_client(&mut self, key: ClientKey) {
        if let Some(connection) = self.client(key).connection {
            self.sends.push(Output::Abort { connection });
            self.forget_client(key);
        }
    }
}

/// As CONFIG GET shows it.
pub(crate) fn show(limits: &OutputLimits) -> String {
    let classes = [("normal", limits.normal), ("slave", limits.replica), ("pubsub", limits.pubsub)];
    let shown = classes.map(|(name, limit)| {
        format!("{name} {} {} {}", limit.hard, limit.soft, limit.soft_seconds)
    });
    shown.join(" ")
}

/// `class hard soft seconds`, so many times: other classes keep theirs. All or nothing
/// (`setConfigOutputBufferLimitOption` in config.c).
pub(crate) fn parse(mut limits: OutputLimits, value: &str) -> Result<OutputLimits, &'static str> {
    let words: Vec<&str> = value.split(' ').filter(|word| !word.is_empty()).collect();
    if !words.len().is_multiple_of(4) {
        return Err("Wrong number of arguments in buffer limit configuration.");
    }
    for group in words.chunks_exact(4) {
        let limit = match group[0].to_ascii_lowercase().as_str() {
            "normal" => &mut limits.normal,
            "slave" | "replica" => &mut limits.replica,
            "pubsub" => &mut limits.pubsub,
            _ => return Err("Invalid client class specified in buffer limit configuration."),
        };
        let seconds = group[3].parse().ok().filter(|seconds| *seconds >= 0);
        let (Some(hard), Some(soft), Some(soft_seconds)) =
            (parse_memory(group[1]), parse_memory(group[2]), seconds)
        else {
            return Err(
                "Error in hard, soft or soft_seconds setting in buffer limit configuration.",
            );
        };
        *limit = OutputLimit { hard, soft, soft_seconds };
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: OutputLimit = OutputLimit { hard: 1_000, soft: 100, soft_seconds: 5 };

    #[test]
    fn the_hard_limit_is_at_once_and_the_soft_one_after_its_time() {
        let mut unread = Unread { bytes: 99, over_soft_since: None };
        assert!(!unread.breaks(LIMIT, 0));
        unread.bytes = 100;
        assert!(!unread.breaks(LIMIT, 10));
        assert!(!unread.breaks(LIMIT, 15), "not longer than its time");
        assert!(unread.breaks(LIMIT, 16));
        assert!(Unread { bytes: 1_000, over_soft_since: None }.breaks(LIMIT, 0));
    }

    #[test]
    fn who_catches_up_in_between_begins_anew() {
        let mut unread = Unread { bytes: 500, over_soft_since: None };
        assert!(!unread.breaks(LIMIT, 10));
        unread.bytes = 50;
        assert!(!unread.breaks(LIMIT, 14));
        unread.bytes = 500;
        assert!(!unread.breaks(LIMIT, 16));
        assert!(!unread.breaks(LIMIT, 21));
        assert!(unread.breaks(LIMIT, 22));
    }

    #[test]
    fn without_limits_anything_may_wait() {
        let mut unread = Unread { bytes: usize::MAX, over_soft_since: None };
        assert!(!unread.breaks(OutputLimit::default(), 0));
        assert!(!unread.breaks(OutputLimit::default(), i64::MAX));
    }
}
