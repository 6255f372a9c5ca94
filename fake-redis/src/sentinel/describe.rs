use super::{
    Sentinel,
    attempt::Step,
    clients::Client,
    instance::{Instance, Kind, Reconfigured},
    master::Master,
};
use crate::protocol::args::Args;
use crate::protocol::reply::Reply;

type Fields = Vec<(&'static str, String)>;

pub(crate) fn master(master: &Master, now: i64, reply: &mut Reply) {
    let mut fields = identity(&master.node, flags(&master.node, Some(master)));
    if master.failover.in_progress() {
        fields.push(("failover-state", step_word(master.failover.step).to_owned()));
    }
    fields.extend(health(&master.node, now));
    if master.objectively_down {
        fields.push(("o-down-time", (now - master.objectively_down_since).to_string()));
    }
    fields.push(("down-after-milliseconds", master.node.down_after_ms.to_string()));
    fields.extend(role(&master.node, now));
    fields.extend([
        ("config-epoch", master.config_epoch.to_string()),
        ("num-slaves", master.replicas.len().to_string()),
        ("num-other-sentinels", master.sentinels.len().to_string()),
        ("quorum", master.quorum.to_string()),
        ("failover-timeout", master.failover_timeout_ms.to_string()),
        ("parallel-syncs", master.parallel_syncs.to_string()),
    ]);
    write(&fields, reply);
}

pub(crate) fn other(instance: &Instance, now: i64, reply: &mut Reply) {
    let mut fields = identity(instance, flags(instance, None));
    fields.extend(health(instance, now));
    fields.push(("down-after-milliseconds", instance.down_after_ms.to_string()));
    if instance.kind == Kind::Replica {
        fields.extend(role(instance, now));
        fields.extend(replication(instance));
    } else {
        fields.extend(opinion(instance, now));
    }
    write(&fields, reply);
}

fn write(fields: &Fields, reply: &mut Reply) {
    reply.map(fields.len());
    for (name, value) in fields {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
}

fn identity(instance: &Instance, flags: String) -> Fields {
    vec![
        ("name", instance.name.clone()),
        ("ip", instance.address.host.clone()),
        ("port", instance.address.port.to_string()),
        ("runid", instance.run_id.clone().unwrap_or_default()),
        ("flags", flags),
        ("link-pending-commands", instance.link.pending().to_string()),
        ("link-refcount", "1".to_owned()),
    ]
}

fn flags(instance: &Instance, master: Option<&Master>) -> String {
    let reconfigured = |stage| instance.reconfigured == stage;
    let all = [
        (instance.subjectively_down, "s_down"),
        (master.is_some_and(|master| master.objectively_down), "o_down"),
        (true, instance.kind.word()),
        (instance.link.disconnected, "disconnected"),
        (instance.opinion.master_down, "master_down"),
        (master.is_some_and(|master| master.failover.in_progress()), "failover_in_progress"),
        (instance.promoted, "promoted"),
        (reconfigured(Reconfigured::Sent), "reconf_sent"),
        (reconfigured(Reconfigured::InProgress), "reconf_inprog"),
        (reconfigured(Reconfigured::Done), "reconf_done"),
        (master.is_some_and(|master| master.failover.forced), "force_failover"),
        (instance.script_kill_sent, "script_kill_sent"),
    ];
    let set: Vec<&str> = all.iter().filter(|(set, _)| *set).map(|(_, word)| *word).collect();
    set.join(",")
}

fn health(instance: &Instance, now: i64) -> Fields {
    let link = &instance.link;
    let mut fields = vec![
        ("last-ping-sent", link.ping_pending_since.map_or(0, |since| now - since).to_string()),
        ("last-ok-ping-reply", (now - link.last_available).to_string()),
        ("last-ping-reply", (now - link.last_pong).to_string()),
    ];
    if instance.subjectively_down {
        fields.push(("s-down-time", (now - instance.down_since).to_string()));
    }
    fields
}

fn role(instance: &Instance, now: i64) -> Fields {
    let refreshed = if instance.info_refreshed == 0 { 0 } else { now - instance.info_refreshed };
    vec![
        ("info-refresh", refreshed.to_string()),
        ("role-reported", instance.role_reported.word().to_owned()),
        ("role-reported-time", (now - instance.role_reported_since).to_string()),
    ]
}

fn replication(instance: &Instance) -> Fields {
    let report = &instance.replication;
    vec![
        ("master-link-down-time", report.link_down_ms.to_string()),
        ("master-link-status", if report.link_up { "ok" } else { "err" }.to_owned()),
        ("master-host", report.master_host.clone().unwrap_or_else(|| "?".to_owned())),
        ("master-port", report.master_port.to_string()),
        ("slave-priority", report.priority.to_string()),
        ("slave-repl-offset", report.offset.to_string()),
        ("replica-announced", i32::from(report.announced).to_string()),
    ]
}

fn opinion(instance: &Instance, now: i64) -> Fields {
    let opinion = &instance.opinion;
    vec![
        ("last-hello-message", (now - opinion.last_hello).to_string()),
        ("voted-leader", opinion.leader.clone().unwrap_or_else(|| "?".to_owned())),
        ("voted-leader-epoch", opinion.leader_epoch.to_string()),
    ]
}

fn step_word(step: Step) -> &'static str {
    match step {
        Step::None => "none",
        Step::WaitStart => "wait_start",
        Step::SelectReplica => "select_slave",
        Step::SendSlaveofNoOne => "send_slaveof_noone",
        Step::WaitPromotion => "wait_promotion",
        Step::ReconfigureReplicas => "reconf_slaves",
        Step::UpdateConfig => "update_config",
    }
}

impl Sentinel {
    pub(crate) fn info(&self, client: &mut Client, args: Args<'_>) {
        let everything = ["all", "everything", "default"];
        let wanted = |section: &str| {
            args.len() == 1
                || (1..args.len()).any(|index| {
                    args.is(index, section) || everything.iter().any(|all| args.is(index, all))
                })
        };
        let mut sections = Vec::new();
        if wanted("server") {
            let port = self.core.announce.port;
            sections.push(format!(
                "# Server\r\nredis_version:7.0.15\r\nredis_mode:sentinel\r\n\
                 run_id:{}\r\ntcp_port:{port}\r\n",
                self.core.my_id
            ));
        }
        if wanted("sentinel") {
            sections.push(self.sentinel_section());
        }
        client.reply.bulk(sections.join("\r\n").as_bytes());
    }

    fn sentinel_section(&self) -> String {
        let tilt_seconds = self.core.tilt_since.map_or(-1, |since| (self.core.now - since) / 1_000);
        let mut text = format!(
            "# Sentinel\r\nsentinel_masters:{}\r\nsentinel_tilt:{}\r\n\
            sentinel_tilt_since_seconds:{tilt_seconds}\r\n\
             sentinel_running_scripts:0\r\nsentinel_scripts_queue_length:0\r\n\
             sentinel_simulate_failure_flags:0\r\n",
            self.masters.len(),
            i32::from(self.core.tilt_since.is_some()),
        );
        for (number, master) in self.masters.iter().enumerate() {
            let status = match (master.objectively_down, master.node.subjectively_down) {
                (true, _) => "odown",
                (false, true) => "sdown",
                (false, false) => "ok",
            };
            text += &format!(
                "master{number}:name={},status={status},address={},slaves={},sentinels={}\r\n",
                master.node.name,
                master.node.address,
                master.replicas.len(),
                master.sentinels.len() + 1
            );
        }
        text
    }

    pub(crate) fn role(&self, client: &mut Client) {
        client.reply.array(2);
        client.reply.bulk(b"sentinel");
        client.reply.array(self.masters.len());
        self.masters.iter().for_each(|master| client.reply.bulk(master.node.name.as_bytes()));
    }
}
