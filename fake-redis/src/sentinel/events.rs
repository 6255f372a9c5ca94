use super::instance::{Instance, Kind};

impl Kind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Master => "master",
            Kind::Replica => "slave",
            Kind::Sentinel => "sentinel",
        }
    }
}

pub(crate) fn name_master(master: &Instance) -> String {
    format!(
        "{} {} {} {}",
        master.kind.word(),
        master.name,
        master.address.host,
        master.address.port
    )
}

pub(crate) fn name_instance(instance: &Instance, master: &Instance) -> String {
    match instance.kind {
        Kind::Master => name_master(instance),
        Kind::Replica | Kind::Sentinel => {
            let Instance { name, address, .. } = master;
            format!("{} @ {name} {} {}", name_master(instance), address.host, address.port)
        }
    }
}

pub(crate) fn switch_text(master: &Instance, new: &super::Address) -> String {
    let Instance { name, address: old, .. } = master;
    format!("{name} {} {} {} {}", old.host, old.port, new.host, new.port)
}
