//! A machine with its connections, its timer and its files on any platform.

mod carry;
mod during_input;

use crate::ServeError;
use crate::connection::Connection;
use crate::platform::Platform;
pub(crate) use during_input::HostDriver;
use fencepost_machine::{
    ConnectionId, Input, InputDriver, InterruptedMachine, Machine, Output, Outputs,
};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use std::cell::{Cell, RefCell, RefMut};
use std::future::Future;
use std::rc::{Rc, Weak};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

/// Redis's `PROTO_IOBUF_LEN`, in bytes.
const READ_BUFFER_SIZE: usize = 16 * 1024;
const COMMANDS_PER_TURN: usize = 1_024;
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

type Connections<S> = IndexMap<ConnectionId, Rc<Connection<S>>, FxBuildHasher>;

pub(crate) struct Host<P: Platform> {
    me: Weak<Host<P>>,
    pub(crate) platform: P,
    machine: RefCell<Box<dyn Machine>>,
    outputs: RefCell<Outputs>,
    pub(crate) connections: RefCell<Connections<P::Stream>>,
    touched: RefCell<IndexSet<ConnectionId, FxBuildHasher>>,
    unread: RefCell<IndexSet<ConnectionId, FxBuildHasher>>,
    accepted: Cell<u32>,
    buffer: RefCell<Vec<u8>>,
    syncs: mpsc::UnboundedSender<P::Sync>,
    pub(crate) syncs_awaited: Cell<usize>,
    pub(crate) syncs_reported: Cell<usize>,
    wake_at: Cell<Option<Instant>>,
    timer_set: Notify,
    unserved: Notify,
    failure: RefCell<Option<ServeError>>,
    failed: Notify,
    stopped: Cell<bool>,
    has_stopped: Notify,
    ready: Cell<bool>,
    is_ready: Notify,
}

/// A function that builds a machine. The machine may call the driver during a long input.
pub type MachineBuilder = Box<dyn FnOnce(Rc<dyn InputDriver>) -> Box<dyn Machine> + Send>;

#[expect(clippy::disallowed_methods, reason = "a server is no part of our simulation here")]
pub(crate) fn spawn(task: impl Future<Output = ()> + 'static) {
    drop(tokio::task::spawn_local(task));
}

#[expect(clippy::disallowed_methods, reason = "the time of the surroundings passes here")]
pub(crate) async fn pause(span: Duration) {
    tokio::time::sleep(span).await;
}

impl<P: Platform> Host<P> {
    pub(crate) fn start(
        platform: P,
        boot: impl FnOnce(&Weak<Host<P>>) -> Box<dyn Machine>,
    ) -> Rc<Host<P>> {
        let (syncs, wanted_syncs) = mpsc::unbounded_channel();
        let host = Rc::new_cyclic(|me| Host {
            me: me.clone(),
            platform,
            machine: RefCell::new(boot(me)),
            outputs: RefCell::default(),
            connections: RefCell::default(),
            touched: RefCell::default(),
            unread: RefCell::default(),
            accepted: Cell::new(0),
            buffer: RefCell::new(vec![0; READ_BUFFER_SIZE]),
            syncs,
            syncs_awaited: Cell::new(0),
            syncs_reported: Cell::new(0),
            wake_at: Cell::new(None),
            timer_set: Notify::new(),
            unserved: Notify::new(),
            failure: RefCell::default(),
            failed: Notify::new(),
            stopped: Cell::new(false),
            has_stopped: Notify::new(),
            ready: Cell::new(false),
            is_ready: Notify::new(),
        });
        host.handle(Input::Timer);
        spawn(host.clone().accept());
        spawn(host.clone().run_timers());
        spawn(host.clone().serve_buffered());
        spawn(host.clone().sync_files(wanted_syncs));
        host
    }

    pub(crate) fn read_buffer(&self) -> RefMut<'_, Vec<u8>> {
        self.buffer.borrow_mut()
    }

    pub(crate) fn received(&self, connection: ConnectionId, bytes: &[u8]) {
        self.handle(Input::Received { connection, bytes });
    }

    pub(crate) fn lost(&self, connection: ConnectionId) {
        if self.connections.borrow_mut().swap_remove(&connection).is_some() {
            self.handle(Input::Closed { connection });
        }
    }

    pub(crate) async fn failed(&self) -> ServeError {
        loop {
            if let Some(failure) = self.failure.borrow_mut().take() {
                return failure;
            }
            self.failed.notified().await;
        }
    }

    pub(crate) async fn stopped(&self) {
        while !self.stopped.get() {
            self.has_stopped.notified().await;
        }
    }

    pub(crate) async fn ready(&self) {
        while !self.ready.get() {
            self.is_ready.notified().await;
        }
    }

    pub(crate) fn fail(&self, failure: ServeError) {
        self.failure.borrow_mut().get_or_insert(failure);
        self.failed.notify_one();
    }

    pub(crate) fn drained(&self, connection: ConnectionId) {
        self.unread.borrow_mut().insert(connection);
        self.report_unread();
    }

    fn handle(&self, input: Input<'_>) {
        self.turn(input, COMMANDS_PER_TURN);
        self.report_unread();
        if !self.ready.get() && self.machine.borrow().is_ready() {
            self.ready.set(true);
            self.is_ready.notify_one();
        }
    }

    fn report_unread(&self) {
        loop {
            let Some(connection) = self.unread.borrow_mut().pop() else { return };
            let news =
                self.connections.borrow().get(&connection).and_then(|open| open.newly_written());
            if let Some(bytes) = news {
                self.turn(Input::Unsent { connection, bytes }, 1);
            }
        }
    }

    fn turn(&self, input: Input<'_>, commands_max: usize) {
        self.turn_of(input, commands_max, |input, outputs| {
            self.machine.borrow_mut().handle(input, self.platform.clocks(), outputs);
        });
    }

    /// Shuts the machine down. Fails if the machine cannot write its files.
    pub(crate) fn shut_down(&self) -> Result<(), ServeError> {
        self.turn_of(Input::Continue, 1, |_, outputs| {
            self.machine.borrow_mut().shut_down(self.platform.clocks(), outputs);
        });
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    pub(crate) fn handle_during_input(
        &self,
        input: Input<'_>,
        interrupted: &mut dyn InterruptedMachine,
    ) {
        self.turn_of(input, COMMANDS_PER_TURN, |input, outputs| interrupted.handle(input, outputs));
    }

    fn turn_of(
        &self,
        input: Input<'_>,
        commands_max: usize,
        mut handle: impl FnMut(Input<'_>, &mut Outputs),
    ) {
        let mut outputs = std::mem::take(&mut *self.outputs.borrow_mut());
        let mut input = input;
        for _ in 0..commands_max {
            outputs.clear();
            handle(input, &mut outputs);
            outputs.list.drain(..).for_each(|output| self.carry_out(output));
            if outputs.stopped {
                self.stopped.set(true);
                self.has_stopped.notify_waiters();
            }
            if !outputs.more {
                break;
            }
            input = Input::Continue;
        }
        if outputs.more {
            self.unserved.notify_one();
        }
        *self.outputs.borrow_mut() = outputs;
        self.flush();
    }

    fn flush(&self) {
        let touched = std::mem::take(&mut *self.touched.borrow_mut());
        for id in &touched {
            if let Some(connection) = self.connections.borrow().get(id) {
                connection.flush();
                self.unread.borrow_mut().insert(*id);
            }
        }
        let mut memory = touched;
        memory.clear();
        *self.touched.borrow_mut() = memory;
    }

    fn carry_out(&self, output: Output) {
        match output {
            Output::Send { connection, bytes } => {
                if let Some(open) = self.connections.borrow().get(&connection) {
                    open.push(bytes);
                    self.touched.borrow_mut().insert(connection);
                }
            }
            Output::Close { connection } => {
                if let Some(open) = self.connections.borrow_mut().swap_remove(&connection) {
                    open.flush();
                    open.close();
                }
            }
            Output::Abort { connection } => {
                if let Some(open) = self.connections.borrow_mut().swap_remove(&connection) {
                    open.abort();
                }
            }
            Output::Connect { connection, host, port } => self.connect(connection, host, port),
            Output::WakeAfter { micros } => {
                self.wake_at.set(Instant::now().checked_add(Duration::from_micros(micros)));
                self.timer_set.notify_one();
            }
            output @ (Output::DiskAppend { .. }
            | Output::DiskReplace { .. }
            | Output::DiskConfig { .. }
            | Output::DiskSync) => self.write(&output),
            Output::Damaged(damage) => {
                if let Err(failure) = self.platform.note_damage(damage) {
                    self.fail(failure);
                }
            }
            Output::Tap(_) | Output::Notice(_) => {}
        }
    }

    fn write(&self, output: &Output) {
        match self.platform.write(output) {
            Ok(None) => {}
            Ok(Some(sync)) => {
                self.syncs_awaited.set(self.syncs_awaited.get() + 1);
                drop(self.syncs.send(sync));
            }
            Err(failure) => self.fail(failure),
        }
    }

    pub(crate) fn admit(self: &Rc<Host<P>>, stream: P::Stream) -> ConnectionId {
        let id = ConnectionId(self.accepted.get());
        self.accepted.set(id.0.wrapping_add(1) % (u32::MAX / 2));
        self.open(id, stream);
        id
    }

    fn open(self: &Rc<Host<P>>, id: ConnectionId, stream: P::Stream) {
        let connection = Connection::new(stream);
        self.connections.borrow_mut().insert(id, connection.clone());
        spawn(self.clone().carry(connection, id));
    }

    fn connect(&self, id: ConnectionId, name: String, port: u16) {
        let Some(host) = self.me.upgrade() else { return };
        spawn(async move {
            match host.platform.connect(name, port).await {
                Ok(stream) => {
                    host.open(id, stream);
                    host.handle(Input::Connected { connection: id });
                }
                Err(_) => host.handle(Input::ConnectFailed { connection: id }),
            }
        });
    }

    async fn accept(self: Rc<Host<P>>) {
        while !self.stopped.get() {
            let accepted = tokio::select! {
                biased;
                () = self.has_stopped.notified() => continue,
                accepted = self.platform.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let connection = self.admit(stream);
                    self.handle(Input::Accepted { connection, peer: &peer.to_string() });
                }
                Err(_) => pause(ACCEPT_PAUSE).await,
            }
        }
    }

    async fn run_timers(self: Rc<Host<P>>) {
        loop {
            let Some(wake_at) = self.wake_at.get() else {
                self.timer_set.notified().await;
                continue;
            };
            tokio::select! {
                biased;
                () = self.timer_set.notified() => {}
                () = tokio::time::sleep_until(wake_at) => {
                    self.wake_at.set(None);
                    self.handle(Input::Timer);
                }
            }
        }
    }

    async fn serve_buffered(self: Rc<Host<P>>) {
        loop {
            self.unserved.notified().await;
            tokio::task::yield_now().await;
            self.handle(Input::Continue);
        }
    }

    async fn sync_files(self: Rc<Host<P>>, mut wanted: mpsc::UnboundedReceiver<P::Sync>) {
        while let Some(sync) = wanted.recv().await {
            if let Err(failure) = self.platform.sync(sync).await {
                return self.fail(failure);
            }
            if self.syncs_reported.get() > 0 {
                self.syncs_reported.set(self.syncs_reported.get() - 1);
            } else {
                self.syncs_awaited.set(self.syncs_awaited.get() - 1);
                self.handle(Input::DiskSynced);
            }
        }
    }
}
