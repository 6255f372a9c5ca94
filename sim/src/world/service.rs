//! Serving: what waits in a server's inbox is handled one by one, and what the machine wants is done. Must never know what it serves.

use super::agenda::{Class, HostIndex, Occurrence};
use super::network::align_up;
use super::server::{Arrival, Server};
use super::socket::{NONE, Owner, Stage};
use super::state::State;
use super::traffic::Close;
use fake_redis::{ConnectionId, DiskReply, Output, Outputs, TapEvent};
use fencepost_faults::{Micros, Node, SimTime};

impl State {
    /// Handles what waits, as far as the server is neither paused nor busy.
    pub(crate) fn serve(&mut self, host: HostIndex) {
        while let Some(arrival) = self.next_arrival(host) {
            self.handle(host, arrival);
        }
    }

    /// What the server is to handle now, after what was decided earlier has left.
    fn next_arrival(&mut self, host: HostIndex) -> Option<Arrival> {
        if self.host(host).is_paused() {
            return None;
        }
        if self.server(host)?.outgoing.front().is_some() {
            self.release_outgoing(host);
        }
        let free_until = self.now + self.quantum;
        let server = self.server(host)?;
        server.machine.as_ref()?;
        if server.busy_until >= free_until {
            self.wake_when_done(host);
            return None;
        }
        server.inbox.pop_front()
    }

    /// Lets one thing happen to the machine.
    fn handle(&mut self, host: HostIndex, arrival: Arrival) {
        let wall = self.wall(host);
        let Some(received) = self.take_received(&arrival) else { return };
        let Some(server) = self.server(host) else { return };
        let Some(machine) = server.machine.as_mut() else { return };
        let mut out = std::mem::take(&mut server.scratch);
        out.clear();
        machine.handle(arrival.as_input(&received), wall, &mut out);
        if out.more {
            server.inbox.push_front(Arrival::Continue);
        }
        let is_trapped = !server.traps.is_empty();
        self.give_back(&arrival, received);
        self.note_taps(host, &out);
        if is_trapped {
            self.spring_trap(host, &arrival, &mut out);
        }
        self.account(host, &mut out);
        self.after(host, &arrival);
        if let Some(server) = self.server(host) {
            server.scratch = out;
        }
    }

    /// The bytes that the machine is told to have received: none unless the arrival is of bytes. `None` if they are gone.
    fn take_received(&mut self, arrival: &Arrival) -> Option<Vec<u8>> {
        let Arrival::Readable(_, socket) = arrival else { return Some(Vec::new()) };
        let end = &mut self.sockets[*socket as usize];
        let is_there = end.stage == Stage::Open && !end.received.is_empty();
        is_there.then(|| std::mem::take(&mut end.received))
    }

    /// Gives the memory of what was received back to its socket.
    fn give_back(&mut self, arrival: &Arrival, mut received: Vec<u8>) {
        if let Arrival::Readable(_, socket) = arrival {
            received.clear();
            self.sockets[*socket as usize].received = received;
        }
    }

    /// Charges the service time and does what the machine wants, now or once that time has passed.
    fn account(&mut self, host: HostIndex, out: &mut Outputs) {
        let (now, quantum) = (self.now, self.quantum);
        self.commands += u64::from(out.commands);
        let Some(server) = self.server(host) else { return };
        let cost = Micros(server.service_time().0 * u64::from(out.commands));
        server.busy_until = server.busy_until.max(now) + cost;
        if cost > Micros::ZERO && server.busy_until >= now + quantum {
            let at = align_down(server.busy_until, quantum);
            server.outgoing.push_back((at, std::mem::take(&mut out.list)));
            self.wake_when_done(host);
            return;
        }
        for output in out.list.drain(..) {
            self.perform(host, output);
        }
    }

    /// What the world does itself after an arrival was handled.
    fn after(&mut self, host: HostIndex, arrival: &Arrival) {
        match arrival {
            Arrival::Started => self.recorder.after_restart(self.node(host)),
            Arrival::Closed(connection) | Arrival::ConnectFailed(connection) => {
                if let Some(socket) = self.server(host).and_then(|server| server.connections.remove(connection)) {
                    self.close(socket, Close::End);
                }
            }
            _ => {}
        }
    }

    /// Does one thing that the machine wants.
    #[inline(always)]
    fn perform(&mut self, host: HostIndex, output: Output) {
        match output {
            Output::Send { connection, bytes } => {
                if let Some(socket) = self.server(host).and_then(|server| server.connections.get(&connection).copied())
                {
                    // A write that fails is followed by the end or reset of the connection, which the machine is told of.
                    let _ = self.write(socket, &bytes);
                }
            }
            Output::Close { connection } | Output::Abort { connection } => {
                if let Some(socket) = self.server(host).and_then(|server| server.connections.remove(&connection)) {
                    self.close(socket, Close::End);
                }
            }
            Output::Connect { connection, host: name, .. } => self.machine_connects(host, connection, &name),
            Output::WakeAfter { micros } => self.machine_sleeps(host, micros),
            Output::DiskAppend { .. } | Output::DiskReplace { .. } | Output::DiskSync | Output::DiskConfig { .. } => {
                self.write_disk(host, &output)
            }
            Output::Tap(_) => {}
        }
    }

    fn machine_connects(&mut self, host: HostIndex, connection: ConnectionId, name: &str) {
        let socket = self.connect((host, 1), name, Owner::Machine(connection));
        let Some(server) = self.server(host) else { return };
        match socket {
            Ok(socket) => {
                server.connections.insert(connection, socket);
            }
            Err(_) => server.inbox.push_back(Arrival::ConnectFailed(connection)),
        }
    }

    fn write_disk(&mut self, host: HostIndex, output: &Output) {
        let now = self.now;
        let quantum = self.quantum;
        let Some(server) = self.server(host) else { return };
        if server.disk.apply(output) == DiskReply::Sync {
            let (at, life) = (align_up(now + server.sync_time, quantum), server.life);
            self.agenda.enter(at, host, Class::Timer, host, Occurrence::DiskSynced(life));
        }
    }

    /// The machine wants to be woken after a span of its host's monotonic clock.
    fn machine_sleeps(&mut self, host: HostIndex, micros: u64) {
        let now = self.now;
        let shown = self.host(host).clock.monotonic(now);
        if let Some(server) = self.server(host) {
            server.timer_deadline = Some(shown.saturating_add(micros));
        }
        self.rekey_machine_timer(host);
    }

    /// Enters the timer of a server anew.
    pub(crate) fn rekey_machine_timer(&mut self, host: HostIndex) {
        let (now, quantum) = (self.now, self.quantum);
        let Some(server) = self.server(host) else { return };
        let Some(deadline) = server.timer_deadline else { return };
        server.timer_generation += 1;
        let generation = server.timer_generation;
        if let Some(at) = self.host(host).clock.reaches(deadline) {
            let at = align_up(at, quantum).max(now);
            self.agenda.enter(at, host, Class::Timer, host, Occurrence::MachineTimer(generation));
        }
    }

    pub(crate) fn machine_timer_due(&mut self, host: HostIndex, generation: u32) {
        if let Some(server) = self.server(host)
            && server.timer_generation == generation
            && server.timer_deadline.take().is_some()
        {
            server.inbox.push_back(Arrival::Timer);
        }
    }

    fn wake_when_done(&mut self, host: HostIndex) {
        let quantum = self.quantum;
        let Some(server) = self.server(host) else { return };
        if !server.wakes_when_done {
            server.wakes_when_done = true;
            let at = align_down(server.busy_until, quantum);
            self.agenda.enter(at, host, Class::Timer, host, Occurrence::ServiceDone);
        }
    }

    /// Does what was decided earlier and whose service time has passed.
    fn release_outgoing(&mut self, host: HostIndex) {
        let now = self.now;
        loop {
            let Some(server) = self.server(host) else { return };
            let is_due = |outgoing: &(SimTime, Vec<Output>)| outgoing.0 <= now;
            if !server.outgoing.front().is_some_and(is_due) {
                return;
            }
            let Some((_, outputs)) = server.outgoing.pop_front() else { return };
            for output in outputs {
                self.perform(host, output);
            }
        }
    }

    /// Tells the recorder what happened to keys.
    fn note_taps(&mut self, host: HostIndex, out: &Outputs) {
        for output in &out.list {
            if let Output::Tap(tap) = output {
                let by = self.asked_by(host, tap);
                self.recorder.key_changed(self.node(host), tap, by);
            }
        }
    }

    fn asked_by(&mut self, host: HostIndex, tap: &TapEvent) -> Option<Node> {
        let connection = tap.by?;
        let socket = self.server(host)?.connections.get(&connection).copied()?;
        let end = &self.sockets[socket as usize];
        Some(self.node(end.remote).of_thread(end.thread))
    }

    /// If a trap waits for this client's next command: the reply is lost, and the connection with it.
    fn spring_trap(&mut self, host: HostIndex, arrival: &Arrival, out: &mut Outputs) {
        let Arrival::Readable(connection, socket) = arrival else { return };
        let client = self.sockets.get(*socket as usize).map_or(0, |end| end.remote);
        let Some(server) = self.server(host) else { return };
        if out.commands == 0 || *socket == NONE {
            return;
        }
        let Some(index) = server.traps.iter().position(|trap| trap.client == client) else { return };
        let trap = server.traps.remove(index);
        out.list.retain(|output| !matches!(output, Output::Send { connection: to, .. } if to == connection));
        server.inbox.retain(|waiting| !matches!(waiting, Arrival::Readable(on, _) if on == connection));
        server.inbox.push_front(Arrival::Closed(*connection));
        self.close(*socket, Close::Reset);
        self.recorder.fault_began(trap.fault, "lost-reply", &[self.node(host), self.node(client)]);
    }
}

/// An instant rounded down to the quantum.
fn align_down(at: SimTime, quantum: Micros) -> SimTime {
    SimTime(at.0 / quantum.0 * quantum.0)
}

impl Server {
    /// Whether the machine runs.
    pub(crate) fn is_running(&self) -> bool {
        self.machine.is_some()
    }
}
