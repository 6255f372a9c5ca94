use super::{
    SentinelConfig,
    attempt::Step,
    clients::Clients,
    clock::Alarm,
    core::{Context, Core},
    down::{self, Urgency},
    hello::{self, Hello},
    info,
    instance::{Instance, Kind, Watch},
    link::Expected,
    master::Master,
    schedule::{Schedule, Touched},
};
use crate::protocol::outgoing::{bulk, status_text};
use fencepost_machine::wording::{self, Wording};
use fencepost_machine::{ConnectionId, Input, Machine, Now, Output, Outputs, WallTime};
use redis_protocol::resp2::types::BytesFrame;

/// A Redis Sentinel. The driver sends one [`Input::Timer`] at the start.
#[derive(Debug)]
pub struct Sentinel {
    pub(crate) config: SentinelConfig,
    pub(crate) core: Core,
    pub(crate) masters: Vec<Master>,
    pub(crate) clients: Clients,
    alarm: Alarm,
    schedule: Schedule,
    touched: Touched,
}

impl Sentinel {
    /// Creates a Sentinel without a configuration file. The seed determines its run id and delays.
    pub fn new(config: SentinelConfig, seed: u64, now: WallTime) -> Self {
        let core = Core::new(&config, seed, now.as_millis());
        let masters = vec![Master::new(&config, core.now)];
        Self {
            config,
            core,
            masters,
            clients: Clients::default(),
            alarm: Alarm::default(),
            schedule: Schedule::default(),
            touched: Touched::Everything,
        }
    }

    fn check_masters(&mut self, out: &mut Outputs) {
        if self.schedule.next_due(&self.core, &self.masters, Touched::Everything) > self.core.now {
            self.touched = Touched::Nothing;
            return;
        }
        let context = &mut Context { core: &mut self.core, out };
        context.core.attention = false;
        for master in &mut self.masters {
            check_instances(master, context);
        }
        self.alarm.draw_next_tick(self.core.now, |bound| self.core.draw_below(bound));
    }

    fn enter_tilt(&mut self) {
        self.core.tilt_since = Some(self.core.now);
        self.core.event("+tilt", "#tilt mode entered".to_owned());
    }

    fn connection_open(&mut self, connection: ConnectionId) {
        let mut instances = self.masters.iter_mut().flat_map(Master::instances_mut);
        if let Some(outgoing) = instances.find_map(|instance| instance.link.find(connection)) {
            outgoing.connected();
        }
    }

    fn connection_lost(&mut self, connection: ConnectionId) {
        let ours = self.masters.iter_mut().any(|master| master.connection_lost(connection));
        if !ours {
            self.clients.closed(connection);
        }
    }

    fn received(&mut self, connection: ConnectionId, bytes: &[u8], out: &mut Outputs) {
        let Some((place, instance)) = locate(&mut self.masters, connection) else {
            self.clients.received(connection, bytes);
            return self.serve_next(out);
        };
        let Some(outgoing) = instance.link.find(connection) else { return };
        outgoing.receive(bytes);
        self.touched = Touched::Nothing;
        let mut place = Some(place);
        while let Some(at) = place {
            if !self.take_reply(at, connection, out) {
                return;
            }
            // The reply may have removed the instance.
            place = locate(&mut self.masters, connection).map(|(place, _)| place);
        }
    }

    fn take_reply(&mut self, place: Place, connection: ConnectionId, out: &mut Outputs) -> bool {
        let (master, now) = (&mut self.masters[place.master], self.core.now);
        let Some(instance) = master.instance_mut(place.instance) else { return false };
        let from_pubsub =
            instance.link.pubsub.as_ref().is_some_and(|outgoing| outgoing.id == connection);
        let Some(outgoing) = instance.link.find(connection) else { return false };
        let (expected, reply) = match outgoing.next_reply() {
            Ok(Some((expected, reply))) => (expected.unwrap_or(Expected::Nothing), reply),
            Ok(None) => return false,
            Err(_) if from_pubsub => {
                self.touched = Touched::Everything;
                instance.link.close_pubsub(out);
                return false;
            }
            Err(_) => {
                self.touched = Touched::Everything;
                instance.link.close_command(out);
                return false;
            }
        };
        self.touched.add(place.instance);
        if from_pubsub {
            instance.link.pubsub_activity = now;
            self.take_published(&reply, out);
        } else {
            self.take_answer(place, expected, &reply);
        }
        true
    }

    fn take_published(&mut self, reply: &BytesFrame, out: &mut Outputs) {
        let BytesFrame::Array(elements) = reply else { return };
        let [kind, _, message] = elements.as_slice() else { return };
        let Some(message) =
            bulk(message).filter(|_| bulk(kind).is_some_and(|kind| kind.as_ref() == b"message"))
        else {
            return;
        };
        self.take_hello(message, out);
    }

    pub(crate) fn take_hello(&mut self, message: &[u8], out: &mut Outputs) {
        if hello::take_repeated(&mut self.masters, message, self.core.now) {
            return;
        }
        self.touched = Touched::Everything;
        let hello = std::str::from_utf8(message).ok().and_then(Hello::parse);
        if let Some(hello) = hello.filter(|hello| hello.run_id != self.core.my_id) {
            hello::process(
                &mut self.masters,
                &hello,
                message,
                &mut Context { core: &mut self.core, out },
            );
        }
    }

    fn take_answer(&mut self, place: Place, expected: Expected, reply: &BytesFrame) {
        let (master, core) = (&mut self.masters[place.master], &mut self.core);
        let Some(instance) = master.instance_mut(place.instance) else { return };
        match expected {
            Expected::Nothing => {}
            Expected::Pong => instance.take_pong(reply, core.now),
            Expected::Published => instance.take_published_count(reply, core.now),
            Expected::MasterDown => {
                self.touched = Touched::Everything;
                instance.take_opinion(reply, core.now);
                core.attention = true;
            }
            Expected::Info => {
                self.touched = Touched::Everything;
                instance.link.info_pending_since = None;
                let Some(text) = bulk(reply) else { return };
                let report = info::parse(text);
                match instance.kind {
                    Kind::Master => master.take_master_info(&report, core),
                    Kind::Replica => master.take_replica_info(place.instance - 1, &report, core),
                    Kind::Sentinel => {}
                }
            }
        }
    }

    fn finish(&mut self, now: WallTime, out: &mut Outputs) {
        for event in self.core.events.drain(..) {
            self.clients.publish(&event);
            out.list.extend(event.notice().map(Output::Notice));
        }
        self.keep(out);
        self.clients.flush(out);
        self.masters.iter_mut().for_each(|master| master.flush(out));
        let due = self.schedule.next_due(&self.core, &self.masters, self.touched);
        self.alarm.set(due, now, |bound| self.core.draw_below(bound), out);
    }
}

impl Machine for Sentinel {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        self.core.now = now.wall.as_millis();
        if self.alarm.observe(self.core.now) {
            self.enter_tilt();
        }
        self.touched = Touched::Everything;
        match input {
            Input::Accepted { connection, .. } => self.clients.accepted(connection),
            Input::Received { connection, bytes } => self.received(connection, bytes, out),
            Input::Continue => self.serve_next(out),
            Input::Connected { connection } => self.connection_open(connection),
            Input::Closed { connection } | Input::ConnectFailed { connection } => {
                self.connection_lost(connection)
            }
            Input::Timer => {
                self.alarm.set_for = None;
                self.check_masters(out);
            }
            // As in Redis, a Sentinel continues after `DiskFailed`.
            Input::DiskSynced
            | Input::DiskFailed { .. }
            | Input::Unsent { .. }
            | Input::Operator { .. } => {}
        }
        self.finish(now.wall, out);
    }

    fn wording(&self) -> Wording {
        wording::resp
    }
}

#[derive(Clone, Copy, Debug)]
struct Place {
    master: usize,
    instance: usize,
}

fn locate(masters: &mut [Master], connection: ConnectionId) -> Option<(Place, &mut Instance)> {
    masters.iter_mut().enumerate().find_map(|(master, one)| {
        let instance = one.instances().position(|instance| instance.link.has(connection))?;
        Some((Place { master, instance }, one.instance_mut(instance)?))
    })
}

fn check_instances(master: &mut Master, context: &mut Context<'_>) {
    let now = context.core.now;
    let hello_due = master.instances().any(|instance| instance.hello_due() <= now);
    let hello = hello_due.then(|| hello::ours(context.core, master));
    master.node.reconnect(context);
    master.node.send_periodic(Watch::Usual, hello.as_deref(), context);
    leave_tilt_in_time(context.core);
    if context.core.tilt_since.is_none() {
        judge(master, context);
    }
    // The check that starts a failover also sends INFO, because the selection needs recent data.
    let watch = master.watch();
    let Master { node, replicas, sentinels, .. } = master;
    for instance in replicas.iter_mut().chain(sentinels) {
        instance.reconnect(context);
        instance.send_periodic(watch, hello.as_deref(), context);
        if context.core.tilt_since.is_none() {
            down::check_other(instance, node, context);
        }
    }
    if master.failover.step == Step::UpdateConfig {
        master.switch_to_promoted(context);
    }
}

fn judge(master: &mut Master, context: &mut Context<'_>) {
    down::check_master(master, context);
    master.check_objectively_down(context.core);
    if master.start_failover_if_needed(context.core) {
        master.ask_others(Urgency::Urgent, context.core);
    }
    master.step_failover(context.core);
    master.ask_others(Urgency::WhenDue, context.core);
}

fn leave_tilt_in_time(core: &mut Core) {
    if core.tilt_since.is_some_and(|since| core.now - since >= super::period::TILT_MS) {
        core.tilt_since = None;
        core.event("-tilt", "#tilt mode exited".to_owned());
    }
}

impl Instance {
    /// A server that is loading or has lost its primary is alive (`sentinelPingReplyCallback`).
    fn take_pong(&mut self, reply: &BytesFrame, now: i64) {
        let text = status_text(reply).unwrap_or_default();
        if [b"PONG".as_slice(), b"LOADING", b"MASTERDOWN"].iter().any(|good| text.starts_with(good))
        {
            self.link.last_available = now;
            self.link.ping_pending_since = None;
        } else if text.starts_with(b"BUSY") && self.subjectively_down && !self.script_kill_sent {
            self.script_kill_sent = self.link.command(&[b"SCRIPT", b"KILL"], Expected::Nothing);
        }
        self.link.last_pong = now;
    }

    fn take_published_count(&mut self, reply: &BytesFrame, now: i64) {
        self.link.hello_pending_since = None;
        if !matches!(reply, BytesFrame::Error(_)) {
            self.last_published = now;
        }
    }
}
