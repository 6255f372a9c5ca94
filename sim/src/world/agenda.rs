//! What will happen, in order. Must never know how anything happens.
//!
//! The order of events is (time, host, class, source, sequence); both engines obey it.

use fencepost_faults::SimTime;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The place of a host in the world; [`NEMESIS`] comes before all.
pub(crate) type HostIndex = u16;

/// The place of the nemesis in the order of hosts. Real hosts count from 1.
pub(crate) const NEMESIS: HostIndex = 0;

/// What kind of thing happens to a host; the order within one instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Class {
    /// A fault begins or ends: crash, boot, pause.
    Fault = 0,
    /// Time has come.
    Timer = 1,
    /// A paused host goes on.
    Resume = 2,
    /// A message arrives.
    Message = 3,
}

/// Something that happens to one host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Occurrence {
    /// A fault of the plan begins (its index in the plan).
    FaultBegins(u32),
    /// A fault of the plan ends.
    FaultEnds(u32),
    /// Every fault has ended.
    Healed,
    /// The host's software starts.
    Boot,
    /// The host's software dies; with power loss, nobody hears of it.
    Crash,
    /// A pause is over.
    Resume,
    /// A timer of a task is due: slot and generation.
    Timer(u32, u32),
    /// The timer of a server is due: generation.
    MachineTimer(u32),
    /// A server has served what kept it busy.
    ServiceDone,
    /// The disk of a server has synced.
    DiskSynced(u32),
    /// A message arrives.
    Deliver(u32),
    /// A stalled flow tries again (the sending socket).
    Retry(u32),
}

/// The agenda of a run.
#[derive(Default)]
pub(crate) struct Agenda {
    heap: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
}

/// The key packs (time: 48 bits, host: 16, class: 4, source: 16, sequence: 44), so that one comparison orders two entries.
struct Entry {
    key: u128,
    occurrence: Occurrence,
}

impl Agenda {
    /// Enters something. `source` is the host that caused it (the receiver's own, for its timers).
    pub(crate) fn enter(
        &mut self,
        at: SimTime,
        host: HostIndex,
        class: Class,
        source: HostIndex,
        occurrence: Occurrence,
    ) {
        debug_assert!(at.0 < 1 << 48, "time {at} does not fit the agenda");
        let key = u128::from(at.0) << 80
            | u128::from(host) << 64
            | (class as u128) << 60
            | u128::from(source) << 44
            | u128::from(self.sequence & ((1 << 44) - 1));
        self.sequence += 1;
        self.heap.push(Reverse(Entry { key, occurrence }));
    }

    /// When and where the next thing happens.
    pub(crate) fn next(&self) -> Option<(SimTime, HostIndex, Occurrence)> {
        let Reverse(entry) = self.heap.peek()?;
        Some((SimTime((entry.key >> 80) as u64), (entry.key >> 64) as u16, entry.occurrence))
    }

    /// Every host to which something happens at an instant, each once, in order. Looks through the whole agenda.
    pub(crate) fn hosts_at(&self, at: SimTime) -> BTreeSet<HostIndex> {
        self.entries_at(at).map(|entry| (entry.key >> 64) as u16).filter(|host| *host != NEMESIS).collect()
    }

    /// Every message that is due at an instant. Looks through the whole agenda.
    pub(crate) fn deliveries_at(&self, at: SimTime) -> Vec<u32> {
        let message = |entry: &Entry| match entry.occurrence {
            Occurrence::Deliver(message) => Some(message),
            _ => None,
        };
        self.entries_at(at).filter_map(message).collect()
    }

    fn entries_at(&self, at: SimTime) -> impl Iterator<Item = &Entry> {
        self.heap.iter().map(|Reverse(entry)| entry).filter(move |entry| entry.key >> 80 == u128::from(at.0))
    }

    /// Takes the next thing off.
    pub(crate) fn take(&mut self) -> Option<Occurrence> {
        self.heap.pop().map(|Reverse(entry)| entry.occurrence)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.key == other.key
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}
