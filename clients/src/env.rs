//! The host as an algorithm sees it: connections, sleep, clocks, randomness, tasks.
//!
//! [`Env`] is one concrete handle, so no lock is generic. [`World`] is object-safe and poll-based,
//! with small integer keys and one implementor per engine. The hot path boxes nothing.

mod interrupt;

use bytes::BytesMut;
use interrupt::Interrupt;
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};

/// The host of an [`Env`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostKey(pub u16);

/// The caller: a host, and a thread of its process, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Caller {
    /// The host.
    pub host: HostKey,
    /// The thread.
    pub thread: u16,
}

/// A pending timer of a world.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TimerKey(pub u64);

/// One end of a connection of a world.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SocketKey(pub u32);

/// A spawned task of a world.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TaskKey(pub u64);

/// The wall clock of a host: microseconds since the Unix epoch. Drifts and may be stepped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WallClock(pub i64);

/// A host's monotonic clock in microseconds: drifts with the wall clock, is never stepped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Monotonic(pub u64);

/// A server's host (a name or IP address, as the server announces it) and port.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address {
    /// Name or IP address.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

/// The purpose of a random number; each has its own stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Draw {
    /// Owner values of locks.
    Owner,
    /// Retry delays.
    Jitter,
}

/// A fact that only the lock's own code knows and that the judge needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Note {
    /// The lock's code noticed the loss of the lock, such as a watchdog whose extension failed.
    LockLost,
}

/// A future on the heap, for the few places where one is needed.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The machine behind an [`Env`]. Engines implement it; algorithms use [`Env`].
///
/// `poll_*` methods keep the waker of the last caller for a key and wake it when something may have
/// changed.
pub trait World {
    /// The host's wall clock.
    fn wall_clock(&self, host: HostKey) -> WallClock;
    /// The host's monotonic clock.
    fn monotonic_clock(&self, host: HostKey) -> Monotonic;
    /// Draws 64 random bits for each element from the host's stream for that use.
    fn random(&self, host: HostKey, draw: Draw, bits: &mut [u64]);
    /// Starts a timer that is due after a span of the host's monotonic clock.
    fn start_timer(&self, host: HostKey, after: Duration) -> TimerKey;
    /// Ready once the timer is due; then the key is spent.
    fn poll_timer(&self, timer: TimerKey, context: &mut Context<'_>) -> Poll<()>;
    /// Cancels a timer; ignores a spent key.
    fn cancel_timer(&self, timer: TimerKey);
    /// Starts to connect. Data sent over the connection is attributed to the caller. Errors:
    /// `NotFound` for an unknown name.
    fn connect(&self, caller: Caller, address: &Address) -> io::Result<SocketKey>;
    /// Ready once connected or refused (`ConnectionRefused`); never ready while the peer is dark.
    fn poll_connect(&self, socket: SocketKey, context: &mut Context<'_>) -> Poll<io::Result<()>>;
    /// Makes reads and writes fail with `TimedOut` after that span of the host's monotonic clock.
    fn limit(&self, socket: SocketKey, after: Duration);
    /// Lets reads and writes wait forever again.
    fn lift_limit(&self, socket: SocketKey);
    /// Appends received bytes to `buffer` and returns their number; 0 is the end of the stream.
    /// Errors: `ConnectionReset`, after everything that had arrived before the reset was read;
    /// `TimedOut`.
    fn poll_read(
        &self,
        socket: SocketKey,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>>;
    /// Sends bytes: one call that returns `n` is one message of `n` bytes. Errors: `BrokenPipe`,
    /// `ConnectionReset`, `TimedOut`.
    fn poll_write(
        &self,
        socket: SocketKey,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>>;
    /// Ends the sending side: the peer reads what was written, then the end. Reading continues.
    fn shutdown(&self, socket: SocketKey);
    /// Closes the socket; its key is spent.
    fn close(&self, socket: SocketKey);
    /// Runs a task in parallel with the caller, on the same host.
    fn spawn(&self, host: HostKey, task: BoxFuture<'static, ()>) -> TaskKey;
    /// Drops a task immediately; ignores a finished one.
    fn abort(&self, task: TaskKey);
    /// Reports something to the judge; no other process learns of it.
    fn note(&self, caller: Caller, note: Note);
}

/// A thread's handle on its host, cheap to clone.
#[derive(Clone)]
pub struct Env {
    world: Rc<dyn World>,
    host: HostKey,
    thread: u16,
    interrupt: Rc<Interrupt>,
}

impl Env {
    /// The handle of a host's first thread.
    pub fn new(world: Rc<dyn World>, host: HostKey) -> Env {
        Env { world, host, thread: 1, interrupt: Rc::default() }
    }

    /// Another thread of the process: it shares clocks and random numbers, not requests, noticed
    /// losses and interrupts.
    pub fn of_thread(&self, thread: u16) -> Env {
        Env { thread, interrupt: Rc::default(), ..self.clone() }
    }

    /// The thread's number in its process, counted from 1.
    pub fn thread(&self) -> u16 {
        self.thread
    }

    fn caller(&self) -> Caller {
        Caller { host: self.host, thread: self.thread }
    }

    /// The host's wall clock, which may be stepped at any time.
    pub fn wall_clock(&self) -> WallClock {
        self.world.wall_clock(self.host)
    }

    /// The host's monotonic clock.
    pub fn monotonic_clock(&self) -> Monotonic {
        self.world.monotonic_clock(self.host)
    }

    /// 64 random bits from the stream of that use.
    pub fn random(&self, draw: Draw) -> u64 {
        let [bits] = self.randoms(draw);
        bits
    }

    /// The results of as many calls of [`Env::random`].
    pub fn randoms<const N: usize>(&self, draw: Draw) -> [u64; N] {
        let mut bits = [0; N];
        self.world.random(self.host, draw, &mut bits);
        bits
    }

    /// Draws a uniform span of the range, in microseconds, for retry delays.
    pub fn jitter(&self, range: &RangeInclusive<Duration>) -> Duration {
        let (low, high) = (whole_micros(*range.start()), whole_micros(*range.end()));
        let width = u128::from(high.saturating_sub(low)) + 1;
        let offset = (u128::from(self.random(Draw::Jitter)) * width) >> 64;
        Duration::from_micros(low.saturating_add(offset as u64))
    }

    /// Waits for a span of the host's monotonic clock.
    pub fn sleep(&self, span: Duration) -> Sleep {
        Sleep {
            timer: self.world.start_timer(self.host, span),
            world: self.world.clone(),
            interrupt: self.interrupt.clone(),
            done: false,
        }
    }

    /// Runs a future for at most `span`; drops it and returns `None` if it did not finish.
    pub async fn timeout<T>(&self, span: Duration, future: impl Future<Output = T>) -> Option<T> {
        let mut future = std::pin::pin!(future);
        let mut sleep = std::pin::pin!(self.sleep(span));
        std::future::poll_fn(|context| {
            if let Poll::Ready(value) = future.as_mut().poll(context) {
                return Poll::Ready(Some(value));
            }
            sleep.as_mut().poll(context).map(|()| None)
        })
        .await
    }

    /// Connects to a server. Hangs while the server is dark: wrap it in [`Env::timeout`].
    pub async fn connect(&self, address: &Address) -> io::Result<Socket> {
        let socket = Socket {
            key: self.world.connect(self.caller(), address)?,
            world: self.world.clone(),
            interrupt: self.interrupt.clone(),
        };
        let poll = |context: &mut Context<'_>| self.world.poll_connect(socket.key, context);
        std::future::poll_fn(|context| self.interrupt.fails(poll(context))).await?;
        Ok(socket)
    }

    /// Runs a task on this host, in parallel with the caller, at most until the host ends.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) -> Spawned {
        Spawned { key: self.world.spawn(self.host, Box::pin(task)), world: self.world.clone() }
    }

    /// Reports to the judge that this thread noticed something about its lock.
    pub fn note(&self, note: Note) {
        self.world.note(self.caller(), note);
    }
}

/// The future of [`Env::sleep`].
pub struct Sleep {
    world: Rc<dyn World>,
    interrupt: Rc<Interrupt>,
    timer: TimerKey,
    done: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let poll = self.world.poll_timer(self.timer, context);
        self.done |= poll.is_ready();
        if poll.is_pending() && self.interrupt.is_heard_here() {
            return Poll::Ready(());
        }
        poll
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if !self.done {
            self.world.cancel_timer(self.timer);
        }
    }
}

/// An open connection; closed when dropped.
pub struct Socket {
    world: Rc<dyn World>,
    interrupt: Rc<Interrupt>,
    key: SocketKey,
}

impl Socket {
    /// Appends received bytes to `buffer`; `Ok(0)` is the end of the stream.
    pub async fn read(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        std::future::poll_fn(|context| self.poll_read(context, buffer)).await
    }

    /// As [`Socket::read`], for hand-written futures.
    pub fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        self.interrupt.fails(self.world.poll_read(self.key, context, buffer))
    }

    /// Limits how long later reads and writes wait before they fail with `TimedOut`.
    pub fn limit(&mut self, after: Duration) {
        self.world.limit(self.key, after);
    }

    /// Lets reads and writes wait forever again.
    pub fn lift_limit(&mut self) {
        self.world.lift_limit(self.key);
    }

    /// Sends at least one byte and returns the number. An error means that none left.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        std::future::poll_fn(|context| self.poll_write(context, bytes)).await
    }

    /// As [`Socket::write`], for hand-written futures.
    pub fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.world.poll_write(self.key, context, bytes)
    }

    /// Sends all bytes. After an error, some of them may have left.
    pub async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = self.write(rest).await?;
            rest = &rest[written..];
        }
        Ok(())
    }

    /// Ends the sending side: the peer reads everything written, then the end of the stream.
    /// Reading continues; later writes fail with `BrokenPipe`.
    pub fn shutdown(&mut self) {
        self.world.shutdown(self.key);
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.world.close(self.key);
    }
}

/// A task started by [`Env::spawn`]; it continues when the handle is dropped.
pub struct Spawned {
    world: Rc<dyn World>,
    key: TaskKey,
}

impl Spawned {
    /// Drops the task immediately.
    pub fn abort(self) {
        self.world.abort(self.key);
    }
}

/// As [`Duration::as_micros`] in 64 bits; truncates spans of more than half a million years.
pub fn whole_micros(span: Duration) -> u64 {
    span.as_secs().saturating_mul(1_000_000).saturating_add(u64::from(span.subsec_micros()))
}

impl Monotonic {
    /// The span since `earlier`; zero if `earlier` is not earlier.
    pub fn since(self, earlier: Monotonic) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// The instant `span` later.
    pub fn plus(self, span: Duration) -> Monotonic {
        Monotonic(self.0.saturating_add(whole_micros(span)))
    }
}

impl WallClock {
    /// Whole milliseconds since the Unix epoch, rounded down.
    pub fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}
