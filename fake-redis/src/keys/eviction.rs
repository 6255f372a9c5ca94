use crate::config::MaxmemoryPolicy;
use crate::config::events::EventClass;
use crate::data::keyspace::Entry;
use crate::state::server::Server;
use fencepost_machine::KeyChange;

/// Keys per sample. Redis samples fewer keys, but also keeps a pool of candidates.
const SAMPLES: usize = 16;

/// Memory of an empty server in bytes. It must exceed one byte, the limit in Redis's own tests.
const BASE_MEMORY: usize = 2;

impl Server {
    pub(crate) fn used_memory(&self) -> usize {
        self.keyspace.memory()
    }

    pub(crate) fn free_memory(&mut self) -> bool {
        let maxmemory = usize::try_from(self.config.maxmemory).unwrap_or(usize::MAX);
        if self.config.maxmemory == 0 || self.is_paused() || self.is_replica() {
            return true;
        }
        while self.used_memory() + BASE_MEMORY > maxmemory {
            let Some((db, position)) = self.choose_victim() else { return false };
            self.evict(db, position);
        }
        self.flush_effects_ungrouped();
        true
    }

    pub(crate) fn evict_all_volatile(&mut self) -> usize {
        let mut evicted = 0;
        for db in 0..self.keyspace.databases() {
            for position in (0..self.database(db).len()).rev() {
                if self
                    .database(db)
                    .at(position)
                    .is_some_and(|(_, entry)| entry.expires_at_ms().is_some())
                {
                    self.evict(db, position);
                    evicted += 1;
                }
            }
        }
        self.flush_effects_ungrouped();
        evicted
    }

    fn evict(&mut self, db: usize, position: usize) {
        let Some((key, _)) = self.database(db).at(position) else { return };
        let key: Box<[u8]> = key.into();
        let unsaved_before = self.changes.unsaved;
        self.remove_as(db, position, KeyChange::Evicted);
        self.changes.unsaved = unsaved_before;
        self.statistics.evicted_keys += 1;
        self.notify(EventClass::Evicted, "evicted", db, &key);
        self.add_effect(db, &[b"DEL", &key]);
    }

    fn choose_victim(&mut self) -> Option<(usize, usize)> {
        let policy = self.config.maxmemory_policy;
        if policy == MaxmemoryPolicy::NoEviction {
            return None;
        }
        let mut best: Option<(u64, usize, usize)> = None;
        for db in 0..self.keyspace.databases() {
            for position in self.sample(db, policy) {
                let Some((_, entry)) = self.database(db).at(position) else { continue };
                let worth = eviction_score(policy, entry);
                if best.is_none_or(|(least, ..)| worth < least) {
                    best = Some((worth, db, position));
                }
            }
        }
        best.map(|(_, db, position)| (db, position))
    }

    fn sample(&mut self, db: usize, policy: MaxmemoryPolicy) -> Vec<usize> {
        let length = self.database(db).len();
        if length == 0 {
            return Vec::new();
        }
        let start = self.random.below(length);
        let database = self.database(db);
        let may_go = |position: &usize| {
            let entry = database.at(*position);
            entry.is_some_and(|(_, entry)| {
                !policy.volatile_only() || entry.expires_at_ms().is_some()
            })
        };
        (start..length).chain(0..start).filter(may_go).take(SAMPLES).collect()
    }
}

/// Rates a key. The server evicts the sampled key with the smallest score.
fn eviction_score(policy: MaxmemoryPolicy, entry: &Entry) -> u64 {
    use MaxmemoryPolicy::{AllKeysLfu, AllKeysLru, VolatileLfu, VolatileLru, VolatileTtl};
    match policy {
        AllKeysLru | VolatileLru => u64::try_from(entry.used_at_ms).unwrap_or(0),
        AllKeysLfu | VolatileLfu => u64::from(entry.uses),
        VolatileTtl => entry.expires_at_ms().and_then(|at| u64::try_from(at).ok()).unwrap_or(0),
        _ => 0,
    }
}
