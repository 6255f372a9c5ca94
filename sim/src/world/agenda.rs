//! What will happen, in order.
//!
//! The order of events is (time, host, class, source, sequence); both engines obey it.

use fencepost_faults::SimTime;
use std::collections::BTreeSet;
use std::num::NonZeroU128;

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
    /// A timer of a task is due: its slot.
    Timer(u32),
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

/// The agenda of a run: latest first, so that the next thing is at the end. Few things lie ahead at
/// any time, and most that are entered come soon: shifting the few that come sooner is cheaper than
/// a heap.
#[derive(Default)]
pub(crate) struct Agenda {
    entries: Vec<Entry>,
    sequence: u64,
}

/// A place in the order of events: packs time (48 bits), host (16), class (4), source (16) and
/// sequence (43), so that one comparison orders two. The last bit is always set, so that no place
/// takes no room of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place(NonZeroU128);

struct Entry {
    place: Place,
    occurrence: Occurrence,
}

impl Place {
    pub(crate) fn time(self) -> SimTime {
        SimTime((self.0.get() >> 80) as u64)
    }

    pub(crate) fn host(self) -> HostIndex {
        (self.0.get() >> 64) as u16
    }
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
        let place = self.place(at, host, class, source);
        self.enter_at(place, occurrence);
    }

    /// Whether anything on it is such.
    pub(crate) fn any(&self, is_such: impl Fn(Occurrence) -> bool) -> bool {
        self.entries.iter().any(|entry| is_such(entry.occurrence))
    }

    /// The place of something that is decided now, whenever it is entered.
    pub(crate) fn place(
        &mut self,
        at: SimTime,
        host: HostIndex,
        class: Class,
        source: HostIndex,
    ) -> Place {
        debug_assert!(at.0 < 1 << 48, "time {at} does not fit the agenda");
        let sequence = self.sequence & ((1 << 43) - 1);
        self.sequence += 1;
        let minor = (class as u64) << 60 | u64::from(source) << 44 | sequence << 1;
        Place(
            NonZeroU128::MIN | (u128::from(at.0 << 16 | u64::from(host)) << 64 | u128::from(minor)),
        )
    }

    /// Enters something at a place that was decided for it.
    pub(crate) fn enter_at(&mut self, place: Place, occurrence: Occurrence) {
        let index = self.entries.partition_point(|entry| entry.place > place);
        self.entries.insert(index, Entry { place, occurrence });
    }

    /// The next thing: when and where, and what.
    pub(crate) fn next(&self) -> Option<(Place, Occurrence)> {
        self.entries.last().map(|entry| (entry.place, entry.occurrence))
    }

    /// Every host to which something happens at an instant, each once, in order.
    pub(crate) fn hosts_at(&self, at: SimTime) -> BTreeSet<HostIndex> {
        self.entries_at(at)
            .map(|entry| entry.place.host())
            .filter(|host| *host != NEMESIS)
            .collect()
    }

    /// Every message that is due at an instant.
    pub(crate) fn deliveries_at(&self, at: SimTime) -> Vec<u32> {
        let message = |entry: &Entry| match entry.occurrence {
            Occurrence::Deliver(message) => Some(message),
            _ => None,
        };
        self.entries_at(at).filter_map(message).collect()
    }

    fn entries_at(&self, at: SimTime) -> impl Iterator<Item = &Entry> {
        self.entries.iter().rev().take_while(move |entry| entry.place.time() <= at)
    }

    /// Takes the next thing off.
    pub(crate) fn take(&mut self) -> Option<Occurrence> {
        self.entries.pop().map(|entry| entry.occurrence)
    }
}
