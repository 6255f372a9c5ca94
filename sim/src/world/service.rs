//! Passes a server's events to its machine one by one, and executes the machine's outputs.

use super::agenda::{Class, HostIndex, Occurrence};
use super::host::Software;
use super::network::align_up;
use super::server::Arrival;
use super::socket::{NONE, Owner, Stage};
use super::state::State;
use super::traffic::Close;
use fencepost_faults::{Micros, Node, SimTime};
use fencepost_machine::{
    ConnectionId, DiskReply, Input, Output, Outputs, SyncOf, TapEvent, WallTime,
};

pub(super) type RequestSource = (ConnectionId, u32);

impl State {
    pub(crate) fn serve(&mut self, host: HostIndex) {
        while let Some(arrival) = self.next_arrival(host) {
            self.handle(host, arrival);
        }
    }

    fn next_arrival(&mut self, host: HostIndex) -> Option<Arrival> {
        let host_itself = self.host(host);
        let Software::Machine(server) = &host_itself.software else { return None };
        let has_outgoing = !server.outgoing.is_empty();
        if host_itself.is_paused()
            || !host_itself.is_up
            || (!has_outgoing && server.inbox.is_empty())
        {
            return None;
        }
        if has_outgoing {
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

    #[inline(always)]
    fn handle(&mut self, host: HostIndex, arrival: Arrival) {
        match arrival {
            Arrival::Readable(connection, socket) => {
                self.receive_message(host, (connection, socket))
            }
            other => self.handle_rarer(host, &other),
        }
    }

    fn receive_message(&mut self, host: HostIndex, asking: RequestSource) {
        let end = &mut self.sockets[asking.1 as usize];
        if end.stage != Stage::Open || end.received.is_empty() {
            return;
        }
        if self.has_had_traps && self.has_traps(host) && self.loses_request(host, asking) {
            return;
        }
        let end = &mut self.sockets[asking.1 as usize];
        let mut received = std::mem::take(&mut end.received);
        self.feed_machine(
            host,
            Input::Received { connection: asking.0, bytes: &received },
            Some(asking),
        );
        received.clear();
        self.sockets[asking.1 as usize].received = received;
    }

    #[inline(never)]
    fn handle_rarer(&mut self, host: HostIndex, arrival: &Arrival) {
        if let Arrival::Closed(connection) = arrival
            && self.owes_an_answer(host, *connection)
        {
            self.server(host).into_iter().for_each(|server| server.leaving.push(*connection));
            return;
        }
        self.feed_machine(host, arrival.as_input(), None);
        match arrival {
            Arrival::Started => self.recorder.after_restart(self.node(host)),
            Arrival::DiskSynced | Arrival::DiskFailed(_) => self.queue_closed(host),
            Arrival::Closed(connection) | Arrival::ConnectFailed(connection) => {
                if let Some(socket) =
                    self.server(host).and_then(|server| server.connections.remove(connection))
                {
                    self.close(socket, Close::End);
                }
            }
            _ => {}
        }
    }

    fn owes_an_answer(&mut self, host: HostIndex, connection: ConnectionId) -> bool {
        let Some(server) = self.server(host) else { return false };
        let waits = server.disk.is_syncing()
            && server.machine.as_ref().is_some_and(|machine| machine.will_send());
        let socket = server.connections.get(&connection).copied().filter(|_| waits);
        let peer = socket.map(|socket| self.sockets[socket as usize].peer);
        peer.is_some_and(|peer| peer != NONE && self.sockets[peer as usize].is_shut)
    }

    fn queue_closed(&mut self, host: HostIndex) {
        let Some(server) = self.server(host) else { return };
        server.inbox.extend(server.leaving.drain(..).map(Arrival::Closed));
    }

    #[inline(always)]
    pub(super) fn feed_machine(
        &mut self,
        host: HostIndex,
        input: Input<'_>,
        asking: Option<RequestSource>,
    ) {
        let now = self.now;
        let host_itself = self.host(host);
        let clocks = host_itself.clock.both(now);
        let Software::Machine(server) = &mut host_itself.software else { return };
        let Some(machine) = server.machine.as_mut() else { return };
        let mut out = std::mem::take(&mut server.scratch);
        out.clear();
        machine.handle(input, clocks, &mut out);
        if out.stopped && server.has_failed_sync() {
            return self.end_server(host, &mut out);
        }
        if out.more {
            server.inbox.push_front(Arrival::Continue);
        }
        let is_trapped = !server.traps.is_empty();
        if !matches!(out.list[..], [Output::Send { .. }]) {
            self.note_taps(host, clocks.wall, &out);
        }
        if is_trapped && let Some(asking) = asking {
            self.loses_reply(host, asking, &mut out);
        }
        self.account(host, asking, &mut out);
        if let Some(server) = self.server(host) {
            server.scratch = out;
        }
    }

    fn account(&mut self, host: HostIndex, asking: Option<RequestSource>, out: &mut Outputs) {
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
        // Avoids draining the list, because the output is usually a single reply.
        match (out.list.len(), out.list.pop()) {
            (1, Some(Output::Send { connection, bytes }))
                if asking.is_some_and(|asking| asking.0 == connection) =>
            {
                asking.into_iter().for_each(|(_, socket)| self.answer(socket, &bytes));
            }
            (_, last) => {
                out.list.extend(last);
                self.perform_all(host, &mut out.list);
            }
        }
    }

    #[inline(never)]
    fn perform_all(&mut self, host: HostIndex, list: &mut Vec<Output>) {
        for output in list.drain(..) {
            self.perform(host, output);
            if !self.host(host).is_up {
                return;
            }
        }
    }

    fn perform(&mut self, host: HostIndex, output: Output) {
        match output {
            Output::Send { connection, bytes } => {
                if let Some(socket) = self
                    .server(host)
                    .and_then(|server| server.connections.get(&connection).copied())
                {
                    self.answer(socket, &bytes);
                }
            }
            Output::Close { connection } | Output::Abort { connection } => {
                if let Some(socket) =
                    self.server(host).and_then(|server| server.connections.remove(&connection))
                {
                    self.close(socket, Close::End);
                }
            }
            Output::Connect { connection, host: name, port } => {
                self.machine_connects(host, connection, &name, port)
            }
            Output::WakeAfter { micros } => self.machine_sleeps(host, micros),
            Output::DiskAppend { .. }
            | Output::DiskReplace { .. }
            | Output::DiskSync
            | Output::DiskConfig { .. } => self.write_disk(host, &output),
            Output::Damaged(_) | Output::Tap(_) | Output::Notice(_) => {}
        }
    }

    fn write_disk(&mut self, host: HostIndex, output: &Output) {
        let (now, quantum) = (self.now, self.quantum);
        let Some(server) = self.server(host) else { return };
        match server.disk.apply(output) {
            DiskReply::None => {}
            DiskReply::Sync => {
                let (at, life) = (align_up(now + server.sync_time, quantum), server.life);
                self.agenda.enter(at, host, Class::Timer, host, Occurrence::DiskSynced(life));
            }
            // The server must learn of the failure now, because its next outputs may depend on it.
            DiskReply::Failed(error) => {
                let failed = Input::DiskFailed { of: SyncOf::Replacement, error };
                self.feed_machine(host, failed, None);
            }
        }
    }

    /// Stops a server whose sync failed. A real server may have sent errors to its clients before
    /// it exited, but a machine with a [`fencepost_machine::Disk`] sends nothing more.
    fn end_server(&mut self, host: HostIndex, out: &mut Outputs) {
        let machine = self.server(host).and_then(|server| server.machine.as_ref());
        if machine.is_some_and(|machine| machine.has_failed_sync()) {
            out.list.retain(|output| matches!(output, Output::Send { .. }));
            self.perform_all(host, &mut out.list);
        }
        self.stop_server(host);
    }

    /// Ignores a failed write, because the write fails only after the connection has ended.
    #[inline(always)]
    fn answer(&mut self, socket: u32, bytes: &[u8]) {
        let _ = self.write(socket, bytes);
    }

    fn machine_connects(
        &mut self,
        host: HostIndex,
        connection: ConnectionId,
        name: &str,
        port: u16,
    ) {
        let socket = self.connect(host, 1, name, port, Owner::Machine(connection));
        let Some(server) = self.server(host) else { return };
        match socket {
            Ok(socket) => server.opened(connection, socket),
            Err(_) => server.inbox.push_back(Arrival::ConnectFailed(connection)),
        }
    }

    fn machine_sleeps(&mut self, host: HostIndex, micros: u64) {
        let now = self.now;
        let shown = self.host(host).clock.monotonic(now);
        if let Some(server) = self.server(host) {
            server.timer_deadline = Some(shown.saturating_add(micros));
        }
        self.rekey_machine_timer(host);
    }

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

    fn release_outgoing(&mut self, host: HostIndex) {
        let now = self.now;
        loop {
            let Some(server) = self.server(host) else { return };
            let is_due = |outgoing: &(SimTime, Vec<Output>)| outgoing.0 <= now;
            if !server.outgoing.front().is_some_and(is_due) {
                return;
            }
            let Some((_, mut outputs)) = server.outgoing.pop_front() else { return };
            self.perform_all(host, &mut outputs);
        }
    }

    fn note_taps(&mut self, host: HostIndex, wall: WallTime, out: &Outputs) {
        for output in &out.list {
            match output {
                Output::Tap(tap) => {
                    let by = self.asked_by(host, tap);
                    self.recorder.key_changed(self.node(host), wall, tap, by);
                }
                Output::Notice(notice) => self.recorder.noticed(self.node(host), notice),
                _ => {}
            }
        }
    }

    fn asked_by(&mut self, host: HostIndex, tap: &TapEvent) -> Option<Node> {
        let connection = tap.by?;
        let socket = self.server(host)?.sockets_ever.get(&connection).copied()?;
        let end = &self.sockets[socket as usize];
        Some(self.node(end.remote).for_thread(end.thread))
    }
}

fn align_down(at: SimTime, quantum: Micros) -> SimTime {
    SimTime(at.0 / quantum.0 * quantum.0)
}
