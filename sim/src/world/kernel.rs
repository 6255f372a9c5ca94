//! The kernel. It gives hosts their turns, polls tasks, and implements [`World`]. Polls, drops and
//! boots may call the kernel, so the kernel must not borrow the state while they run.

use super::agenda::{HostIndex, NEMESIS, Occurrence};
use super::host::Software;
use super::socket::Owner;
use super::state::{Due, Parts, State};
use super::tasks::{TaskFuture, waker_of};
use super::traffic::Close;
use super::turn::Step;
use bytes::BytesMut;
use fencepost_clients::env::{
    BoxFuture, Caller, Draw, HostKey, Monotonic, Note, SocketKey, TaskKey, TimerKey, WallClock,
};
use fencepost_clients::{Address, Env, World};
use fencepost_faults::{Node, SimTime};
use std::cell::{Cell, RefCell};
use std::io;
use std::mem::ManuallyDrop;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

const POLLS_PER_TURN_MAX: u32 = 100_000;

pub(crate) struct Kernel {
    state: RefCell<State>,
    this: Weak<Kernel>,
    livelock: Cell<Option<Node>>,
}

impl Kernel {
    pub(crate) fn new(parts: Parts) -> Rc<Kernel> {
        let mut state = State::new(parts);
        for host in 1..=state.hosts.len() as HostIndex {
            state.host(host).is_up = true;
            let starts_at = match state.host(host).software {
                Software::Program(_) => state.begins_at,
                Software::Machine(_) => SimTime::ZERO,
            };
            state.agenda.enter(
                starts_at,
                host,
                super::agenda::Class::Fault,
                NEMESIS,
                Occurrence::Boot,
            );
        }
        Rc::new_cyclic(|this| Kernel {
            state: RefCell::new(state),
            this: this.clone(),
            livelock: Cell::new(None),
        })
    }

    /// Panics if `f` calls `with` again.
    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.state.borrow_mut())
    }

    pub(crate) fn livelock(&self) -> Option<Node> {
        self.livelock.get()
    }

    pub(crate) fn turn(&self, host: HostIndex) -> Option<Due> {
        let mut polls = 0;
        let mut step = self.with(|state| state.begin_turn(host));
        loop {
            step = match step {
                Step::Done(next) => return next,
                Step::Poll(..) if polls >= POLLS_PER_TURN_MAX => return self.spins(host),
                Step::Poll(key, future) => {
                    polls += 1;
                    self.poll(host, key, future)
                }
                Step::Boot => self.boot(host),
                Step::Crash => self.crash(host),
            };
        }
    }

    #[cold]
    fn spins(&self, host: HostIndex) -> Option<Due> {
        self.livelock.set(Some(self.with(|state| state.node(host))));
        None
    }

    #[inline(always)]
    fn poll(&self, host: HostIndex, key: TaskKey, mut future: TaskFuture) -> Step {
        let waker = ManuallyDrop::new(waker_of(key));
        let is_done = future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        if is_done {
            self.with(|state| state.tasks.remove(key));
            return self.drop_task(host, future);
        }
        let mut state = self.state.borrow_mut();
        match state.tasks.put_back(key, future) {
            None => state.continue_turn(host),
            Some(aborted) => {
                std::mem::drop(state);
                self.drop_task(host, aborted)
            }
        }
    }

    #[inline(never)]
    fn drop_task(&self, host: HostIndex, task: TaskFuture) -> Step {
        drop(task);
        self.with(|state| state.continue_turn(host))
    }

    #[inline(never)]
    fn boot(&self, host: HostIndex) -> Step {
        let program = self.with(|state| {
            let (now, clocks, node) = (state.now, state.clocks(host), state.node(host));
            let sync_error = state.sync_error();
            state.host(host).is_up |= std::mem::take(&mut state.host(host).has_stopped);
            if now > state.begins_at {
                state.recorder.started(node);
            }
            match &mut state.host(host).software {
                Software::Program(boot) => Some(boot.clone()),
                Software::Machine(server) => {
                    server.start(now, clocks);
                    server.fail_syncs(sync_error);
                    None
                }
            }
        });
        if let Some(boot) = program {
            let future = boot(self.env(host));
            self.with(|state| state.tasks.add(host, future));
        }
        self.with(|state| state.begin_turn(host))
    }

    #[inline(never)]
    fn crash(&self, host: HostIndex) -> Step {
        let tasks = self.with(|state| {
            let node = state.node(host);
            state.recorder.crashed(node);
            if state.host(host).dies_silently {
                state.close_all(host, Close::Silent);
            } else {
                state.record_unfinished_messages(host);
            }
            state.tasks.remove_all(host)
        });
        drop(tasks);
        self.with(|state| {
            let silently = state.host(host).dies_silently;
            state.close_all(host, if silently { Close::Silent } else { Close::End });
            if let Some(server) = state.server(host) {
                server.stop();
                if silently {
                    server.lose_power();
                } else {
                    server.disk.process_crash();
                }
            }
            state.begin_turn(host)
        })
    }

    pub(crate) fn env(&self, host: HostIndex) -> Env {
        let world: Rc<dyn World> = self.this.upgrade().expect("a kernel that runs is owned");
        Env::new(world, HostKey(host))
    }

    pub(crate) fn shut_down(&self) {
        let hosts = self.with(|state| state.hosts.len() as HostIndex);
        for host in 1..=hosts {
            let tasks = self.with(|state| state.tasks.remove_all(host));
            drop(tasks);
        }
    }
}

impl World for Kernel {
    fn wall_clock(&self, host: HostKey) -> WallClock {
        self.with(|state| WallClock(state.clocks(host.0).wall.0))
    }

    fn monotonic_clock(&self, host: HostKey) -> Monotonic {
        self.with(|state| {
            let now = state.now;
            Monotonic(state.host(host.0).clock.monotonic(now))
        })
    }

    fn random(&self, host: HostKey, draw: Draw, bits: &mut [u64]) {
        self.with(|state| {
            let seed = state.seed;
            state.host(host.0).random(seed, draw, bits);
        });
    }

    fn start_timer(&self, host: HostKey, after: Duration) -> TimerKey {
        self.with(|state| state.start_timer(host.0, after))
    }

    fn poll_timer(&self, timer: TimerKey, context: &mut Context<'_>) -> Poll<()> {
        self.with(|state| state.poll_timer(timer, context))
    }

    fn cancel_timer(&self, timer: TimerKey) {
        self.with(|state| state.cancel_timer(timer));
    }

    fn connect(&self, caller: Caller, address: &Address) -> io::Result<SocketKey> {
        let (host, thread) = (caller.host.0, caller.thread);
        self.with(|state| state.connect(host, thread, &address.host, address.port, Owner::Task))
            .map(SocketKey)
    }

    fn poll_connect(&self, socket: SocketKey, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|state| state.poll_connect(socket.0, context))
    }

    fn limit(&self, socket: SocketKey, after: Duration) {
        self.with(|state| state.limit(socket.0, after));
    }

    fn lift_limit(&self, socket: SocketKey) {
        self.with(|state| state.lift_limit(socket.0));
    }

    fn poll_read(
        &self,
        socket: SocketKey,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        self.with(|state| state.poll_read(socket.0, context, buffer))
    }

    fn poll_write(
        &self,
        socket: SocketKey,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(self.with(|state| state.write(socket.0, bytes)))
    }

    fn shutdown(&self, socket: SocketKey) {
        self.with(|state| state.shutdown(socket.0));
    }

    fn close(&self, socket: SocketKey) {
        self.with(|state| state.close(socket.0, Close::End));
    }

    fn spawn(&self, host: HostKey, task: BoxFuture<'static, ()>) -> TaskKey {
        self.with(|state| state.tasks.add(host.0, task))
    }

    fn abort(&self, task: TaskKey) {
        let leftover = self.with(|state| state.tasks.remove(task));
        drop(leftover);
    }

    fn note(&self, caller: Caller, note: Note) {
        self.with(|state| {
            let node = state.node(caller.host.0).for_thread(caller.thread);
            match note {
                Note::LockLost => state.recorder.lost(node),
            }
        });
    }
}
