//! The texts by which Sentinel tells its subscribers what happened (`sentinelEvent`).

use super::instance::{Instance, Kind};

impl Kind {
    /// The word for it in events and listings (`sentinelRedisInstanceTypeStr`).
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Master => "master",
            Kind::Replica => "slave",
            Kind::Sentinel => "sentinel",
        }
    }
}

/// `<type> <name> <ip> <port>`: how `%@` names a monitored primary.
pub(crate) fn name_master(master: &Instance) -> String {
    format!(
        "{} {} {} {}",
        master.kind.word(),
        master.name,
        master.address.host,
        master.address.port
    )
}

/// `<type> <name> <ip> <port> @ <master name> <ip> <port>`: how `%@` names any other instance.
pub(crate) fn name_instance(instance: &Instance, master: &Instance) -> String {
    match instance.kind {
        Kind::Master => name_master(instance),
        Kind::Replica | Kind::Sentinel => {
            let Instance { name, address, .. } = master;
            format!("{} @ {name} {} {}", name_master(instance), address.host, address.port)
        }
    }
}

/// `+switch-master <name> <old ip> <old port> <new ip> <new port>`: what clients wait for.
pub(crate) fn switch_text(master: &Instance, new: &super::Address) -> String {
    let Instance { name, address: old, .. } = master;
    format!("{name} {} {} {} {}", old.host, old.port, new.host, new.port)
}
