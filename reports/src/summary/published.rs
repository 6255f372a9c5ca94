//! Published results of `explore`: certificates, and counterexamples that sweeps may not find.

use serde_json::Value;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Published {
    pub name: &'static str,
    pub client: &'static str,
    pub fault: &'static str,
    /// Numbers of faults, late messages and processes, and special settings, in words.
    pub bounds: &'static str,
}

const fn of(
    client: &'static str,
    fault: &'static str,
    name: &'static str,
    bounds: &'static str,
) -> Published {
    Published { name, client, fault, bounds }
}

/// Sorted by lock and fault.
#[rustfmt::skip]
pub const PUBLISHED: &[Published] = &[
    of("curator-mutex", "client-crash", "curator-mutex-client-crash", "1 fault, 2 processes"),
    of("curator-mutex", "lost-reply", "curator-mutex-lost-reply", "1 fault, 2 processes"),
    of("fencing", "client-crash", "fencing-client-crash", "1 fault, 2 processes"),
    of("fencing", "client-crash", "fencing-client-crash-delays-1", "1 fault and 1 late message, 2 processes"),
    of("fencing", "latency", "fencing-latency", "1 fault, 2 processes"),
    of("fencing", "latency", "fencing-latency-2", "2 faults, 2 processes, latency 1ms"),
    of("fencing", "latency", "fencing-latency-delays-1", "1 fault and 1 late message, 2 processes"),
    of("fencing", "lost-reply", "fencing-lost-reply-2", "2 faults, 2 processes"),
    of("fencing", "lost-reply", "fencing-lost-reply-2-delays-1", "2 faults and 1 late message, 2 processes"),
    of("fencing", "lost-reply", "fencing-lost-reply-delays-1", "1 fault and 1 late message, 2 processes"),
    of("fencing", "none", "fencing-delays-2", "2 late messages, 2 processes"),
    of("fencing", "none", "fencing-none", "no fault, 2 processes"),
    of("fencing", "partition", "fencing-partition", "1 fault, 2 processes"),
    of("fencing", "partition", "fencing-partition-delays-1", "1 fault and 1 late message, 2 processes"),
    of("fencing", "restart", "fencing-restart-aof-always", "1 fault, 2 processes, aof-always"),
    of("fencing", "restart", "fencing-restart-aof-always-2", "2 faults, 2 processes, aof-always, latency 1ms"),
    of("fencing", "restart", "fencing-restart-aof-always-delays-1", "1 fault and 1 late message, 2 processes, aof-always"),
    of("memcached-cas", "client-crash", "memcached-cas-client-crash", "1 fault, 2 processes"),
    of("memcached-cas", "lost-reply", "memcached-cas-lost-reply", "1 fault, 2 processes"),
    of("mysql-get-lock", "lost-reply", "mysql-get-lock-lost-reply", "1 fault, 2 processes"),
    of("pg-advisory", "lost-reply", "pg-advisory-lost-reply", "1 fault, 2 processes"),
    of("redisson", "none", "redisson-hold-20s", "1 late message, 2 processes, holds of 20s"),
    of("redlock", "client-crash", "redlock-client-crash", "1 fault, 2 processes, 3 masters"),
    of("redlock", "client-crash", "redlock-client-crash-5-masters", "1 fault, 2 processes, 5 masters"),
    of("redlock", "client-crash", "redlock-client-crash-delays-1", "1 fault and 1 late message, 2 processes, 3 masters"),
    of("redlock", "failover", "redlock-failover", "1 fault, 2 processes, 3 masters"),
    of("redlock", "latency", "redlock-latency", "1 fault, 2 processes, 3 masters"),
    of("redlock", "latency", "redlock-latency-2", "2 faults, 2 processes, 3 masters, latency 1ms"),
    of("redlock", "latency", "redlock-latency-5-masters", "1 fault, 2 processes, 5 masters"),
    of("redlock", "latency", "redlock-latency-delays-1", "1 fault and 1 late message, 2 processes, 3 masters"),
    of("redlock", "lost-reply", "redlock-lost-reply-2", "2 faults, 2 processes, 3 masters"),
    of("redlock", "lost-reply", "redlock-lost-reply-5-masters", "1 fault, 2 processes, 5 masters"),
    of("redlock", "lost-reply", "redlock-lost-reply-delays-1", "1 fault and 1 late message, 2 processes, 3 masters"),
    of("redlock", "none", "redlock-delays-2", "2 late messages, 2 processes, 3 masters"),
    of("redlock", "none", "redlock-none", "no fault, 2 processes, 3 masters"),
    of("redlock", "partition", "redlock-partition", "1 fault, 2 processes, 3 masters"),
    of("redlock", "partition", "redlock-partition-5-masters", "1 fault, 2 processes, 5 masters"),
    of("redlock", "partition", "redlock-partition-delays-1", "1 fault and 1 late message, 2 processes, 3 masters"),
    of("redlock", "restart", "redlock-restart-after-12s", "1 fault, 2 processes, 3 masters, back after 12s"),
    of("redlock", "restart", "redlock-restart-after-12s-2", "2 faults, 2 processes, 3 masters, back after 12s, latency 1ms"),
    of("redlock", "restart", "redlock-restart-after-12s-5-masters", "1 fault, 2 processes, 5 masters, back after 12s"),
    of("redlock", "restart", "redlock-restart-after-12s-delays-1", "1 fault and 1 late message, 2 processes, 3 masters, back after 12s"),
    of("redlock", "restart", "redlock-restart-aof-always", "1 fault, 2 processes, 3 masters, aof-always"),
    of("redlock", "restart", "redlock-restart-aof-always-2", "2 faults, 2 processes, 3 masters, aof-always, latency 1ms"),
    of("redlock", "restart", "redlock-restart-aof-always-5-masters", "1 fault, 2 processes, 5 masters, aof-always"),
    of("redlock", "restart", "redlock-restart-aof-always-delays-1", "1 fault and 1 late message, 2 processes, 3 masters, aof-always"),
    of("reentrant-counted", "none", "reentrant-counted-delays-1", "1 late message, 2 processes"),
    of("single-node", "client-crash", "single-node-client-crash", "1 fault, 2 processes"),
    of("single-node", "client-crash", "single-node-client-crash-3-processes-delays-1", "1 fault and 1 late message, 3 processes"),
    of("single-node", "client-crash", "single-node-client-crash-delays-1", "1 fault and 1 late message, 2 processes"),
    of("single-node", "latency", "single-node-latency", "1 fault, 2 processes"),
    of("single-node", "latency", "single-node-latency-2", "2 faults, 2 processes"),
    of("single-node", "latency", "single-node-latency-3-processes-2", "2 faults, 3 processes"),
    of("single-node", "latency", "single-node-latency-3-processes-delays-1", "1 fault and 1 late message, 3 processes"),
    of("single-node", "latency", "single-node-latency-delays-1", "1 fault and 1 late message, 2 processes"),
    of("single-node", "lost-reply", "single-node-lost-reply-2", "2 faults, 2 processes"),
    of("single-node", "lost-reply", "single-node-lost-reply-2-delays-1", "2 faults and 1 late message, 2 processes"),
    of("single-node", "lost-reply", "single-node-lost-reply-3-processes", "2 faults, 3 processes"),
    of("single-node", "lost-reply", "single-node-lost-reply-3-processes-delays-1", "1 fault and 1 late message, 3 processes"),
    of("single-node", "lost-reply", "single-node-lost-reply-delays-1", "1 fault and 1 late message, 2 processes"),
    of("single-node", "none", "single-node-delays-2", "2 late messages, 2 processes"),
    of("single-node", "none", "single-node-none", "no fault, 2 processes"),
    of("single-node", "partition", "single-node-partition", "1 fault, 2 processes"),
    of("single-node", "partition", "single-node-partition-3-processes", "1 fault, 3 processes"),
    of("single-node", "partition", "single-node-partition-3-processes-delays-1", "1 fault and 1 late message, 3 processes"),
    of("single-node", "partition", "single-node-partition-delays-1", "1 fault and 1 late message, 2 processes"),
    of("single-node", "restart", "single-node-restart-aof-always", "1 fault, 2 processes, aof-always"),
    of("single-node", "restart", "single-node-restart-aof-always-2", "2 faults, 2 processes, aof-always"),
    of("single-node", "restart", "single-node-restart-aof-always-3-processes-2", "2 faults, 3 processes, aof-always"),
    of("single-node", "restart", "single-node-restart-aof-always-3-processes-delays-1", "1 fault and 1 late message, 3 processes, aof-always"),
    of("single-node", "restart", "single-node-restart-aof-always-delays-1", "1 fault and 1 late message, 2 processes, aof-always"),
    of("watchdog", "none", "watchdog-hold-20s", "1 late message, 2 processes, holds of 20s"),
];

/// A violation that an exploration found and a sweep may miss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counterexample {
    pub client: &'static str,
    pub fault: &'static str,
    settings: &'static str,
}

/// A crash of the holder ends its connection, which frees these locks. The next process can then
/// enter before the holder's last write arrives.
pub const COUNTEREXAMPLES: &[Counterexample] = &[
    Counterexample { client: "mysql-get-lock", fault: "client-crash", settings: "" },
    Counterexample { client: "mysql-get-lock-checked", fault: "client-crash", settings: "" },
    Counterexample { client: "pg-advisory", fault: "client-crash", settings: " --hold 3983ms" },
];

pub fn counterexample(client: &str, fault: &str) -> Option<&'static Counterexample> {
    COUNTEREXAMPLES.iter().find(|one| one.client == client && one.fault == fault)
}

impl Counterexample {
    pub fn command(&self) -> String {
        let Counterexample { client, fault, settings } = self;
        format!("fencepost explore --client {client} --fault {fault} --grain coarse{settings}")
    }
}

pub fn published(
    client: &str,
    fault: &str,
    scenario: &Value,
) -> impl Iterator<Item = &'static Published> {
    let own = PUBLISHED.iter().filter(move |one| one.client == client && one.fault == fault);
    own.filter(|one| one.has_settings_of(scenario))
}

impl Published {
    /// Compares only ttl, replicas, persistence, downtime, number of masters and hold. Omitted
    /// settings have their built-in values.
    fn has_settings_of(&self, scenario: &Value) -> bool {
        let stated = |key: &str, built_in: &str| match scenario.get(key) {
            None | Some(Value::Null) => built_in.to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let bound = |before: &str, after: &str| {
            let mut bounds = self.bounds.split(", ");
            bounds.find_map(|one| one.strip_prefix(before)?.strip_suffix(after))
        };
        let persistence = bound("aof-always", "").map_or("none", |_| "aof-always");
        let is_long = |hold: &str| stated("hold", "10ms..8s") == hold;
        let is_short = || !matches!(stated("hold", "10ms..8s").as_str(), "until-validity");
        let has_no_replicas =
            || ["min-replicas", "wait-replicas"].iter().all(|key| stated(key, "0") == "0");
        stated("ttl", "10s") == "10s"
            && has_no_replicas()
            && stated("persistence", "none") == persistence
            && stated("restart-delay", "0us") == bound("back after ", "").unwrap_or("0us")
            && bound("", " masters").is_none_or(|masters| stated("masters", "5") == masters)
            && bound("holds of ", "").map_or_else(is_short, is_long)
    }

    pub fn file(&self) -> String {
        format!("data/certificates/{}.json", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(client: &str, fault: &str, scenario: Value) -> Vec<&'static str> {
        published(client, fault, &scenario).map(|one| one.name).collect()
    }

    #[test]
    fn a_certificate_is_named_only_beside_its_own_settings() {
        assert_eq!(names("single-node", "restart", json!({})), [""; 0]);
        assert!(!names("single-node", "partition", json!({})).is_empty());
        let replicated = json!({ "min-replicas": 1 });
        assert_eq!(names("single-node", "partition", replicated), [""; 0]);
        let always = names("single-node", "restart", json!({ "persistence": "aof-always" }));
        assert!(always.len() >= 5 && always[0] == "single-node-restart-aof-always", "{always:?}");
        let five = names("redlock", "latency", json!({ "masters": 5 }));
        assert_eq!(five, ["redlock-latency-5-masters"]);
        let late = json!({ "masters": 5, "restart-delay": "12s" });
        assert_eq!(names("redlock", "restart", late), ["redlock-restart-after-12s-5-masters"]);
        assert_eq!(names("redisson", "none", json!({})), [""; 0]);
        assert_eq!(names("redisson", "none", json!({ "hold": "20s" })), ["redisson-hold-20s"]);
        assert_eq!(names("single-node", "none", json!({ "ttl": "3s" })), [""; 0]);
    }
}
