//! The agenda of future events, ordered by time, host, class, source and sequence number.

use fencepost_faults::SimTime;
use std::collections::BTreeSet;
use std::num::NonZeroU128;

pub(crate) type HostIndex = u16;

pub(crate) const NEMESIS: HostIndex = 0;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Class {
    Fault = 0,
    Timer = 1,
    Resume = 2,
    Message = 3,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Occurrence {
    FaultBegins(u32),
    FaultEnds(u32),
    SyncsFail,
    SyncsSucceed,
    Healed,
    Boot,
    /// A crash or a power loss. Peers do not notice a power loss.
    Crash,
    Resume,
    Timer(u32),
    MachineTimer(u32),
    ServiceDone,
    DiskSynced(u32),
    Deliver(u32),
    Retry(u32),
}

/// A list in descending order, so that the next event is last. New events usually belong near the
/// end, where shifting a few entries is cheaper than a heap.
#[derive(Default)]
pub(crate) struct Agenda {
    entries: Vec<Entry>,
    sequence: u64,
}

/// Time (48 bits), host (16), class (4), source (16) and sequence number (43). The last bit is
/// always set, so that `Option<Place>` needs no more memory.
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

    pub(crate) fn any(&self, is_such: impl Fn(Occurrence) -> bool) -> bool {
        self.entries.iter().any(|entry| is_such(entry.occurrence))
    }

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

    pub(crate) fn enter_at(&mut self, place: Place, occurrence: Occurrence) {
        let index = self.entries.partition_point(|entry| entry.place > place);
        self.entries.insert(index, Entry { place, occurrence });
    }

    pub(crate) fn next(&self) -> Option<(Place, Occurrence)> {
        self.entries.last().map(|entry| (entry.place, entry.occurrence))
    }

    pub(crate) fn hosts_at(&self, at: SimTime) -> BTreeSet<HostIndex> {
        self.entries_at(at)
            .map(|entry| entry.place.host())
            .filter(|host| *host != NEMESIS)
            .collect()
    }

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

    pub(crate) fn take(&mut self) -> Option<Occurrence> {
        self.entries.pop().map(|entry| entry.occurrence)
    }
}
