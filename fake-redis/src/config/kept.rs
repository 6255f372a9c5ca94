//! Parameters of redis.conf that CONFIG knows but the server ignores.

use crate::config::parameters::Refusal;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

const DEFAULTS: &[(&str, &str)] = &[
    ("appendfilename", "appendonly.aof"),
    ("dbfilename", "dump.rdb"),
    ("dir", "/data"),
    ("hash-max-listpack-entries", "512"),
    ("hash-max-listpack-value", "64"),
    ("hash-max-ziplist-entries", "512"),
    ("hash-max-ziplist-value", "64"),
    ("hz", "10"),
    ("latency-monitor-threshold", "0"),
    ("lazyfree-lazy-expire", "no"),
    ("list-max-listpack-size", "-2"),
    ("replica-lazy-flush", "no"),
    ("slave-lazy-flush", "no"),
    ("activerehashing", "yes"),
    ("stream-node-max-entries", "100"),
    ("lazyfree-lazy-user-del", "no"),
    ("lazyfree-lazy-server-del", "no"),
    ("zset-max-ziplist-value", "64"),
    ("zset-max-ziplist-entries", "128"),
    ("list-compress-depth", "0"),
    ("list-max-ziplist-size", "-2"),
    ("loglevel", "notice"),
    ("maxmemory-samples", "5"),
    ("set-max-intset-entries", "512"),
    ("slowlog-log-slower-than", "10000"),
    ("slowlog-max-len", "128"),
    ("tcp-keepalive", "300"),
    ("zset-max-listpack-entries", "128"),
    ("zset-max-listpack-value", "64"),
    ("enable-debug-command", "yes"),
    ("close-on-replica-write", "yes"),
    ("lfu-decay-time", "1"),
    ("lfu-log-factor", "10"),
];

/// Parameters that CONFIG SET refuses to change (`enable-protected-configs no`).
const PROTECTED: &[&str] = &["dbfilename", "dir"];

#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    values: IndexMap<&'static str, String, FxBuildHasher>,
}

impl Settings {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        DEFAULTS
            .iter()
            .map(|(name, default)| (*name, self.values.get(name).map_or(*default, String::as_str)))
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        let known = DEFAULTS.iter().find(|(known, _)| *known == name);
        let (known, _) = known.ok_or(Refusal::Unknown)?;
        if PROTECTED.contains(known) {
            return Err(Refusal::because("can't set protected config"));
        }
        self.values.insert(known, value.to_owned());
        Ok(())
    }
}
