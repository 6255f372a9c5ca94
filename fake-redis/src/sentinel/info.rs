//! Handles the INFO replies of servers (`sentinelRefreshInstanceInfo`).

use super::{
    Address,
    attempt::Step,
    core::Core,
    events::{name_instance, name_master},
    instance::{Instance, Kind, Reconfigured, ReplicaReport},
    master::Master,
    period,
};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct InfoReport {
    run_id: Option<String>,
    role: Option<Kind>,
    replicas: Vec<Address>,
    link_down_ms: i64,
    master_host: Option<String>,
    master_port: Option<u16>,
    link_up: Option<bool>,
    priority: Option<i64>,
    offset: Option<u64>,
    announced: Option<bool>,
}

pub(crate) fn parse(text: &[u8]) -> InfoReport {
    let mut report = InfoReport::default();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = cut(rest, b'\n').unwrap_or((rest, b""));
        rest = after;
        if matches!(
            line,
            [b'm', b'a', b's', ..]
                | [b'r', b'o' | b'u', ..]
                | [b'r', b'e', b'p', b'l', b'i', ..]
                | [b's', b'l', ..]
        ) && let Some((name, value)) = cut(line, b':')
            && let Ok(value) = str::from_utf8(value)
        {
            take_line(&mut report, name, value.strip_suffix('\r').unwrap_or(value));
        }
    }
    report
}

fn cut(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = memchr::memchr(at, text)?;
    Some((&text[..place], &text[place + 1..]))
}

fn take_line(report: &mut InfoReport, name: &[u8], value: &str) {
    match name {
        b"run_id" if value.len() >= 40 => report.run_id = value.get(..40).map(str::to_owned),
        b"role" if value == "master" => report.role = Some(Kind::Master),
        b"role" if value == "slave" => report.role = Some(Kind::Replica),
        // The field is -1 if the replica was never connected to its primary.
        b"master_link_down_since_seconds" => {
            report.link_down_ms = value.parse().map_or(0, |seconds: i64| seconds * 1_000)
        }
        b"master_host" => report.master_host = Some(value.to_owned()),
        b"master_port" => report.master_port = value.parse().ok(),
        b"master_link_status" => report.link_up = Some(value.eq_ignore_ascii_case("up")),
        b"slave_priority" => report.priority = value.parse().ok(),
        b"slave_repl_offset" => report.offset = value.parse().ok(),
        b"replica_announced" => report.announced = Some(value != "0"),
        _ if matches!(name, [b's', b'l', b'a', b'v', b'e', b'0'..=b'9', ..]) => {
            report.replicas.extend(replica_address(value));
        }
        _ => {}
    }
}

fn replica_address(value: &str) -> Option<Address> {
    let field =
        |name: &str| value.split(',').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    Some(Address::new(field("ip")?, field("port")?.parse().ok()?))
}

impl Master {
    pub(crate) fn take_master_info(&mut self, report: &InfoReport, core: &mut Core) {
        if self.node.take_identity(report, core) {
            core.event("+reboot", name_master(&self.node));
        }
        for address in &report.replicas {
            self.add_replica(address.clone(), core);
        }
        self.node.replication.take(report, core.now);
        if let Some(text) = self.node.take_role(report, core.now) {
            core.event(
                text.0,
                format!("{} new reported role is {}", name_master(&self.node), text.1),
            );
        }
    }

    pub(crate) fn take_replica_info(&mut self, place: usize, report: &InfoReport, core: &mut Core) {
        let replica = &mut self.replicas[place];
        if replica.take_identity(report, core) {
            core.event("+reboot", name_instance(replica, &self.node));
        }
        replica.replication.take(report, core.now);
        if let Some(text) = replica.take_role(report, core.now) {
            core.event(
                text.0,
                format!("{} new reported role is {}", name_instance(replica, &self.node), text.1),
            );
        }
        if core.tilt_since.is_some() {
            return;
        }
        match report.role {
            Some(Kind::Master) if self.awaits_promotion_of(place) => {
                self.promotion_seen(place, core)
            }
            Some(Kind::Master) => self.convert_to_replica(place, core),
            Some(_) => {
                self.fix_replica(place, core);
                self.note_reconfiguration(place, core);
            }
            None => {}
        }
        core.attention |= self.failover.in_progress();
    }

    fn awaits_promotion_of(&self, place: usize) -> bool {
        self.replicas[place].promoted && self.failover.step == Step::WaitPromotion
    }

    fn promotion_seen(&mut self, place: usize, core: &mut Core) {
        self.config_epoch = self.failover.epoch;
        core.unsaved = true;
        self.failover.enter(Step::ReconfigureReplicas, core.now);
        core.event("+promoted-slave", name_instance(&self.replicas[place], &self.node));
        core.event("+failover-state-reconf-slaves", name_master(&self.node));
        self.force_hello();
    }

    /// Demotes a replica that has claimed to be a primary for more than 8 s. By then, hellos would
    /// have announced any newer configuration.
    fn convert_to_replica(&mut self, place: usize, core: &mut Core) {
        let wait = 4 * period::PUBLISH_MS;
        let sane = self.seems_working(core.now);
        let replica = &mut self.replicas[place];
        let settled =
            replica.not_down_for(wait, core.now) && core.now - replica.role_reported_since > wait;
        if !replica.promoted && sane && settled && replica.send_slaveof(Some(&self.node.address)) {
            core.event("+convert-to-slave", name_instance(replica, &self.node));
        }
    }

    fn fix_replica(&mut self, place: usize, core: &mut Core) {
        let (wait, sane) = (self.failover_timeout_ms, self.seems_working(core.now));
        let replica = &mut self.replicas[place];
        let settled = replica.not_down_for(wait, core.now)
            && core.now - replica.replication.changed_at > wait;
        let astray = !replica.replication.follows(&self.node.address);
        if astray && sane && settled && replica.send_slaveof(Some(&self.node.address)) {
            core.event("+fix-slave-config", name_instance(replica, &self.node));
        }
    }

    fn note_reconfiguration(&mut self, place: usize, core: &mut Core) {
        let Some(new) = self.promoted().map(|promoted| promoted.address.clone()) else { return };
        let replica = &mut self.replicas[place];
        if replica.reconfigured == Reconfigured::Sent && replica.replication.follows(&new) {
            replica.reconfigured = Reconfigured::InProgress;
            core.event("+slave-reconf-inprog", name_instance(replica, &self.node));
        }
        if replica.reconfigured == Reconfigured::InProgress && replica.replication.link_up {
            replica.reconfigured = Reconfigured::Done;
            core.event("+slave-reconf-done", name_instance(replica, &self.node));
        }
    }

    fn seems_working(&self, now: i64) -> bool {
        self.node.role_reported == Kind::Master
            && !self.node.subjectively_down
            && !self.objectively_down
            && now - self.node.info_refreshed < 2 * period::INFO_MS
    }
}

impl Instance {
    fn take_identity(&mut self, report: &InfoReport, core: &Core) -> bool {
        self.info_refreshed = core.now;
        let rebooted =
            matches!((&self.run_id, &report.run_id), (Some(old), Some(new)) if old != new);
        if report.run_id.is_some() {
            self.run_id.clone_from(&report.run_id);
        }
        rebooted
    }

    fn take_role(&mut self, report: &InfoReport, now: i64) -> Option<(&'static str, &'static str)> {
        let role = report.role.filter(|role| *role != self.role_reported)?;
        self.role_reported = role;
        self.role_reported_since = now;
        if role == Kind::Replica {
            self.replication.changed_at = now;
        }
        Some((if role == self.kind { "+role-change" } else { "-role-change" }, role.word()))
    }
}

impl ReplicaReport {
    fn take(&mut self, report: &InfoReport, now: i64) {
        self.link_down_ms = report.link_down_ms;
        if report.role != Some(Kind::Replica) {
            return;
        }
        let same = |host: &&String| {
            self.master_host.as_ref().is_some_and(|old| old.eq_ignore_ascii_case(host))
        };
        if let Some(host) = report.master_host.as_ref().filter(|host| !same(host)) {
            self.master_host = Some(host.clone());
            self.changed_at = now;
        }
        if let Some(port) = report.master_port.filter(|port| *port != self.master_port) {
            self.master_port = port;
            self.changed_at = now;
        }
        self.link_up = report.link_up.unwrap_or(self.link_up);
        self.priority = report.priority.unwrap_or(self.priority);
        self.offset = report.offset.unwrap_or(self.offset);
        self.announced = report.announced.unwrap_or(self.announced);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_primary_says() {
        let text = "# \
         Server\r\nredis_version:7.0.15\r\nrun_id:0123456789012345678901234567890123456789\r\n\
         \r\n# Replication\r\n\
                    role:master\r\nconnected_slaves:2\r\n\
                    slave0:ip=10.0.0.2,port=6379,state=online,offset=10,lag=0\r\n\
                    slave1:ip=redis-3,port=6380,state=wait_bgsave,offset=0,lag=0\r\n\
                    slave_read_only:1\r\n";
        let report = parse(text.as_bytes());
        assert_eq!(report.role, Some(Kind::Master));
        assert_eq!(report.run_id.as_deref(), Some("0123456789012345678901234567890123456789"));
        assert_eq!(
            report.replicas,
            [Address::new("10.0.0.2", 6379), Address::new("redis-3", 6380)]
        );
    }

    #[test]
    fn reads_what_a_replica_says() {
        let text = "role:slave\r\nmaster_host:10.0.0.1\r\nmaster_port:6379\r\n\
        master_link_status:down\r\n\
                    slave_repl_offset:77\r\nmaster_link_down_since_seconds:4\r\n\
                    slave_priority:25\r\nreplica_announced:1\r\n";
        let mut report = ReplicaReport::unknown(5);
        report.take(&parse(text.as_bytes()), 9);
        let expected = ReplicaReport {
            link_down_ms: 4_000,
            priority: 25,
            offset: 77,
            master_host: Some("10.0.0.1".to_owned()),
            master_port: 6379,
            link_up: false,
            changed_at: 9,
            announced: true,
        };
        assert_eq!(report, expected);
    }
}
