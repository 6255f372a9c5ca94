//! The SENTINEL command for clients, operators and other Sentinels (`sentinelCommand`).

use super::{
    Address, Sentinel, SentinelConfig, clients::Client, core::Context, describe,
    events::name_master, instance::Instance, master::Master,
};
use crate::data::number::parse_integer;
use crate::protocol::args::Args;
use crate::protocol::reply::Reply;
use fencepost_machine::Outputs;

impl Sentinel {
    pub(crate) fn command(&mut self, client: &mut Client, args: Args<'_>, out: &mut Outputs) {
        let reply = &mut client.reply;
        let context = &mut Context { core: &mut self.core, out };
        match (args.get(1).to_ascii_lowercase().as_slice(), args.len()) {
            (b"masters", 2) => {
                reply.array(self.masters.len());
                self.masters
                    .iter()
                    .for_each(|master| describe::master(master, context.core.now, reply));
            }
            (b"myid", 2) => reply.bulk(context.core.my_id.as_bytes()),
            (b"flushconfig", 2) => reply.ok(),
            (b"get-master-addr-by-name", 3) => address_of(&self.masters, args.get(2), reply),
            (b"reset", 3) => {
                let matching = |master: &&mut Master| {
                    crate::data::glob::matches(args.get(2), master.node.name.as_bytes())
                };
                let masters = self.masters.iter_mut().filter(matching);
                reply.count(masters.map(|master| master.reset_with_sentinels(context)).count());
            }
            (b"is-master-down-by-addr", 6) => {
                is_master_down(&mut self.masters, args, reply, context)
            }
            (b"monitor", 6) => self.monitor(args, reply),
            (b"remove", 3) => self.remove(args.get(2), reply, out),
            (b"master" | b"replicas" | b"slaves" | b"sentinels" | b"failover" | b"ckquorum", 3)
            | (b"set", 5..) => {
                let name = args.get(2);
                match self.masters.iter_mut().find(|master| master.node.name.as_bytes() == name) {
                    Some(master) => of_master(master, args, reply, context),
                    None => reply.error(b"ERR No such master with that name"),
                }
            }
            (name, _) => wrong_subcommand(name, reply),
        }
    }

    fn monitor(&mut self, args: Args<'_>, reply: &mut Reply) {
        let [name, host] =
            [2, 3].map(|index| String::from_utf8_lossy(args.get(index)).into_owned());
        let Some(quorum) = parse_integer(args.get(5)) else {
            return reply.error(b"ERR Invalid quorum");
        };
        let Some(port) = parse_integer(args.get(4)) else {
            return reply.error(b"ERR Invalid port");
        };
        let Some(quorum) = usize::try_from(quorum).ok().filter(|quorum| *quorum > 0) else {
            return reply.error(b"ERR Quorum must be 1 or greater.");
        };
        let Ok(port) = u16::try_from(port) else { return reply.error(b"ERR Invalid port number") };
        if self.masters.iter().any(|master| master.node.name == name) {
            return reply.error(b"ERR Duplicate master name.");
        }
        let config = SentinelConfig {
            master_name: name,
            master: Address::new(host, port),
            quorum,
            known_replicas: Vec::new(),
            ..self.config.clone()
        };
        let master = Master::new(&config, self.core.now);
        self.core.event("+monitor", format!("{} quorum {quorum}", name_master(&master.node)));
        self.core.attention = true;
        self.core.unsaved = true;
        self.masters.push(master);
        reply.ok();
    }

    fn remove(&mut self, name: &[u8], reply: &mut Reply, out: &mut Outputs) {
        let Some(place) =
            self.masters.iter().position(|master| master.node.name.as_bytes() == name)
        else {
            return reply.error(b"ERR No such master with that name");
        };
        let mut master = self.masters.remove(place);
        self.core.event("-monitor", name_master(&master.node));
        self.core.unsaved = true;
        master.close(out);
        reply.ok();
    }
}

fn of_master(master: &mut Master, args: Args<'_>, reply: &mut Reply, context: &mut Context<'_>) {
    let now = context.core.now;
    let list = |instances: &[Instance], reply: &mut Reply| {
        let listed = |instance: &&Instance| instance.replication.announced;
        reply.array(instances.iter().filter(listed).count());
        instances.iter().filter(listed).for_each(|instance| describe::other(instance, now, reply));
    };
    match args.get(1).to_ascii_lowercase().as_slice() {
        b"master" => describe::master(master, now, reply),
        b"replicas" | b"slaves" => list(&master.replicas, reply),
        b"sentinels" => list(&master.sentinels, reply),
        b"ckquorum" => check_quorum(master, reply),
        b"failover" if master.failover.in_progress() => {
            reply.error(b"INPROG Failover already in progress")
        }
        b"failover" if master.select_replica(now).is_none() => {
            reply.error(b"NOGOODSLAVE No suitable replica to promote");
        }
        b"failover" => {
            master.start_failover(context.core);
            master.failover.forced = true;
            reply.ok();
        }
        _ => set(master, args, reply, context),
    }
}

fn address_of(masters: &[Master], name: &[u8], reply: &mut Reply) {
    match masters.iter().find(|master| master.node.name.as_bytes() == name) {
        Some(master) => {
            let address = master.current_address();
            reply.array(2);
            reply.bulk(address.host.as_bytes());
            reply.bulk_integer(i64::from(address.port));
        }
        None => reply.null_array(),
    }
}

/// Reports whether the primary is subjectively down (never in TILT). Votes if given a candidate.
fn is_master_down(
    masters: &mut [Master],
    args: Args<'_>,
    reply: &mut Reply,
    context: &mut Context<'_>,
) {
    let (Some(port), Some(epoch)) = (parse_integer(args.get(3)), parse_integer(args.get(4))) else {
        return reply.error(b"ERR value is not an integer or out of range");
    };
    let host = String::from_utf8_lossy(args.get(2));
    let candidate = String::from_utf8_lossy(args.get(5));
    let (port, epoch) = (u16::try_from(port).unwrap_or(0), u64::try_from(epoch).unwrap_or(0));
    let master = masters.iter_mut().find(|master| master.node.address.is(&host, port));
    let down = context.core.tilt_since.is_none()
        && master.as_ref().is_some_and(|master| master.node.subjectively_down);
    let (leader, leader_epoch) = match master {
        Some(master) if candidate != "*" => master.vote(epoch, &candidate, context.core),
        _ => (None, 0),
    };
    reply.array(3);
    reply.integer(i64::from(down));
    reply.bulk(leader.unwrap_or("*").as_bytes());
    reply.integer(i64::try_from(leader_epoch).unwrap_or(i64::MAX));
}

fn check_quorum(master: &Master, reply: &mut Reply) {
    let usable = 1 + master.sentinels.iter().filter(|sentinel| !sentinel.subjectively_down).count();
    let voters = 1 + master.sentinels.len();
    let mut missing = Vec::new();
    if usable < master.quorum {
        missing
            .push("Not enough available Sentinels to reach the specified quorum for this master");
    }
    if usable < voters / 2 + 1 {
        missing
            .push("Not enough available Sentinels to reach the majority and authorize a failover");
    }
    if missing.is_empty() {
        return reply.status(&format!(
            "OK {usable} usable Sentinels. Quorum and failover authorization can be reached"
        ));
    }
    reply.error(format!("NOQUORUM {usable} usable Sentinels. {}", missing.join(". ")).as_bytes());
}

fn set(master: &mut Master, args: Args<'_>, reply: &mut Reply, context: &mut Context<'_>) {
    for (option, value) in args.from(3).pairs() {
        let name = String::from_utf8_lossy(option).to_ascii_lowercase();
        let Some(number) = parse_integer(value).filter(|number| *number > 0) else {
            let value = String::from_utf8_lossy(value);
            return reply.error(
                format!("ERR Invalid argument '{value}' for SENTINEL SET '{name}'").as_bytes(),
            );
        };
        let count = usize::try_from(number).unwrap_or(usize::MAX);
        match name.as_str() {
            "down-after-milliseconds" => {
                master.instances_mut().for_each(|instance| instance.down_after_ms = number)
            }
            "failover-timeout" => master.failover_timeout_ms = number,
            "parallel-syncs" => master.parallel_syncs = count,
            "quorum" => master.quorum = count,
            _ => {
                let text =
                    format!("ERR Unknown option or number of arguments for SENTINEL SET '{name}'");
                return reply.error(text.as_bytes());
            }
        }
        context.core.unsaved = true;
        context.core.event("+set", format!("{} {name} {number}", name_master(&master.node)));
    }
    reply.ok();
}

fn wrong_subcommand(name: &[u8], reply: &mut Reply) {
    let name = String::from_utf8_lossy(name);
    let text = format!(
        "ERR unknown subcommand or wrong number of arguments for '{name}'. Try SENTINEL HELP."
    );
    reply.error(text.as_bytes());
}
