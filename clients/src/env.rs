//! [`Env`], a process's access to its host: connections, sleep, clocks, random numbers and tasks.
//! Each engine implements [`World`], whose polling methods and integer keys avoid allocations.

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

/// Number of a host in its [`World`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostKey(pub u16);

/// A thread of a process. Each host runs one process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Caller {
    /// Host that runs the process.
    pub host: HostKey,
    /// Number of the thread in its process, counted from 1.
    pub thread: u16,
}

/// Key of a pending timer in a [`World`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TimerKey(pub u64);

/// Key of one end of a connection in a [`World`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SocketKey(pub u32);

/// Key of a task that a host runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TaskKey(pub u64);

/// Wall clock of a host in microseconds since the Unix epoch. It drifts, and faults can step it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WallClock(pub i64);

/// Monotonic clock of a host in microseconds. It drifts, but faults never step it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Monotonic(pub u64);

/// Host and port of a server, as the server announces them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address {
    /// Host name or IP address.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

/// Purpose of a random number. Each purpose has its own stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Draw {
    /// Owner values.
    Owner,
    /// Retry delays.
    Jitter,
}

/// A fact that only the lock's own code can report to the judge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Note {
    /// The lock's code noticed that the lock is lost.
    LockLost,
}

/// A boxed future that may borrow.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The machine behind an [`Env`]. Each `poll_*` method stores the last waker and wakes it after a
/// change.
pub trait World {
    /// Reads the host's wall clock, which faults can step.
    fn wall_clock(&self, host: HostKey) -> WallClock;
    /// Reads the host's monotonic clock, which faults never step.
    fn monotonic_clock(&self, host: HostKey) -> Monotonic;
    /// Fills each element with 64 random bits from the host's stream for the purpose.
    fn random(&self, host: HostKey, draw: Draw, bits: &mut [u64]);
    /// Starts a timer on the host's monotonic clock.
    fn start_timer(&self, host: HostKey, after: Duration) -> TimerKey;
    /// Polls a timer. The key becomes invalid once the timer is due.
    fn poll_timer(&self, timer: TimerKey, context: &mut Context<'_>) -> Poll<()>;
    /// Cancels a timer. Ignores an invalid key.
    fn cancel_timer(&self, timer: TimerKey);
    /// Starts to connect. Fails with `NotFound` if the name is unknown.
    fn connect(&self, caller: Caller, address: &Address) -> io::Result<SocketKey>;
    /// Polls until the connection is open or refused. Stays pending while the peer is unreachable.
    fn poll_connect(&self, socket: SocketKey, context: &mut Context<'_>) -> Poll<io::Result<()>>;
    /// Makes reads and writes fail with `TimedOut` after a duration on the host's monotonic clock.
    fn limit(&self, socket: SocketKey, after: Duration);
    /// Removes the limit that [`World::limit`] set.
    fn lift_limit(&self, socket: SocketKey);
    /// Appends received bytes to `buffer` and returns their number, which is 0 at the end of the
    /// stream. Returns `ConnectionReset` only after all bytes that arrived before the reset.
    fn poll_read(
        &self,
        socket: SocketKey,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>>;
    /// Sends a prefix of the bytes as one message. Returns the length of the prefix.
    fn poll_write(
        &self,
        socket: SocketKey,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>>;
    /// Ends the sending side. The peer still reads all written bytes.
    fn shutdown(&self, socket: SocketKey);
    /// Closes the socket and invalidates its key.
    fn close(&self, socket: SocketKey);
    /// Runs a task in parallel with the caller on the same host.
    fn spawn(&self, host: HostKey, task: BoxFuture<'static, ()>) -> TaskKey;
    /// Drops a task immediately. Ignores a finished task.
    fn abort(&self, task: TaskKey);
    /// Reports a fact to the judge.
    fn note(&self, caller: Caller, note: Note);
}

/// A thread's handle on its host.
#[derive(Clone)]
pub struct Env {
    world: Rc<dyn World>,
    host: HostKey,
    thread: u16,
    interrupt: Rc<Interrupt>,
}

impl Env {
    /// Creates the handle of a host's first thread.
    pub fn new(world: Rc<dyn World>, host: HostKey) -> Env {
        Env { world, host, thread: 1, interrupt: Rc::default() }
    }

    /// Returns another thread's handle, which has its own interrupts.
    pub fn for_thread(&self, thread: u16) -> Env {
        Env { thread, interrupt: Rc::default(), ..self.clone() }
    }

    /// Returns the thread's number in its process, counted from 1.
    pub fn thread(&self) -> u16 {
        self.thread
    }

    fn caller(&self) -> Caller {
        Caller { host: self.host, thread: self.thread }
    }

    /// Reads the host's wall clock, which faults can step.
    pub fn wall_clock(&self) -> WallClock {
        self.world.wall_clock(self.host)
    }

    /// Reads the host's monotonic clock, which faults never step.
    pub fn monotonic_clock(&self) -> Monotonic {
        self.world.monotonic_clock(self.host)
    }

    /// Draws 64 random bits for the purpose.
    pub fn random(&self, draw: Draw) -> u64 {
        let [bits] = self.randoms(draw);
        bits
    }

    /// Draws `N` numbers of 64 random bits for the purpose.
    pub fn randoms<const N: usize>(&self, draw: Draw) -> [u64; N] {
        let mut bits = [0; N];
        self.world.random(self.host, draw, &mut bits);
        bits
    }

    /// Draws a uniform retry delay from the range, in whole microseconds.
    pub fn jitter(&self, range: &RangeInclusive<Duration>) -> Duration {
        let (low, high) = (whole_micros(*range.start()), whole_micros(*range.end()));
        let width = u128::from(high.saturating_sub(low)) + 1;
        let offset = (u128::from(self.random(Draw::Jitter)) * width) >> 64;
        Duration::from_micros(low.saturating_add(offset as u64))
    }

    /// Waits for a duration on the host's monotonic clock.
    pub fn sleep(&self, span: Duration) -> Sleep {
        Sleep {
            timer: self.world.start_timer(self.host, span),
            world: self.world.clone(),
            interrupt: self.interrupt.clone(),
            done: false,
        }
    }

    /// Runs a future for at most `span`. Returns `None` if it did not finish.
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

    /// Connects to a server. Waits for as long as the server is unreachable.
    pub async fn connect(&self, address: &Address) -> io::Result<Socket> {
        let socket = Socket {
            key: self.world.connect(self.caller(), address)?,
            world: self.world.clone(),
            interrupt: self.interrupt.clone(),
        };
        let poll = |context: &mut Context<'_>| self.world.poll_connect(socket.key, context);
        std::future::poll_fn(|context| self.interrupt.fail_if_interrupted(poll(context))).await?;
        Ok(socket)
    }

    /// Runs a task on this host in parallel with the caller. The task ends with the host.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) -> Spawned {
        Spawned { key: self.world.spawn(self.host, Box::pin(task)), world: self.world.clone() }
    }

    /// Reports a fact about this thread's lock to the judge.
    pub fn note(&self, note: Note) {
        self.world.note(self.caller(), note);
    }
}

/// Future that [`Env::sleep`] returns.
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
        if poll.is_pending() && self.interrupt.claim() {
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

/// An open connection. Dropping it closes the connection.
pub struct Socket {
    world: Rc<dyn World>,
    interrupt: Rc<Interrupt>,
    key: SocketKey,
}

impl Socket {
    /// Appends received bytes to `buffer` and returns their number, or 0 at the end of the stream.
    pub async fn read(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        std::future::poll_fn(|context| self.poll_read(context, buffer)).await
    }

    /// Polls [`Socket::read`], for hand-written futures.
    pub fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        self.interrupt.fail_if_interrupted(self.world.poll_read(self.key, context, buffer))
    }

    /// Makes later reads and writes fail with `TimedOut` after a duration.
    pub fn limit(&mut self, after: Duration) {
        self.world.limit(self.key, after);
    }

    /// Removes the limit that [`Socket::limit`] set.
    pub fn lift_limit(&mut self) {
        self.world.lift_limit(self.key);
    }

    /// Sends at least one byte and returns the number of bytes sent. If it fails, it sent nothing.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        std::future::poll_fn(|context| self.poll_write(context, bytes)).await
    }

    /// Polls [`Socket::write`], for hand-written futures.
    pub fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.world.poll_write(self.key, context, bytes)
    }

    /// Sends all bytes. If it fails, it may have sent some of them.
    pub async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = self.write(rest).await?;
            rest = &rest[written..];
        }
        Ok(())
    }

    /// Ends the sending side. Later writes fail with `BrokenPipe`.
    pub fn shutdown(&mut self) {
        self.world.shutdown(self.key);
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.world.close(self.key);
    }
}

/// A task that [`Env::spawn`] started. Dropping the handle does not end it.
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

/// Returns whole microseconds, rounded down. Saturates after half a million years.
pub fn whole_micros(span: Duration) -> u64 {
    span.as_secs().saturating_mul(1_000_000).saturating_add(u64::from(span.subsec_micros()))
}

impl Monotonic {
    /// Returns the duration since `earlier`, or zero if `earlier` is later.
    pub fn since(self, earlier: Monotonic) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// Returns the time `span` later, at most the largest time.
    pub fn plus(self, span: Duration) -> Monotonic {
        Monotonic(self.0.saturating_add(whole_micros(span)))
    }
}

impl WallClock {
    /// Returns whole milliseconds since the Unix epoch, rounded down.
    pub fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}
