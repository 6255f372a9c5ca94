//! A process's access to its host ([`Env`]). An engine implements [`World`].

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

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostKey(pub u16);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Caller {
    pub host: HostKey,
    pub thread: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TimerKey(pub u64);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SocketKey(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TaskKey(pub u64);

/// Microseconds since the Unix epoch. The clock may drift, and faults can step it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WallClock(pub i64);

/// Microseconds on a clock that may drift but is never stepped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Monotonic(pub u64);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address {
    pub host: String,
    pub port: u16,
}

/// Purpose of a random number. Each purpose has its own stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Draw {
    Owner,
    Jitter,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Note {
    LockLost,
}

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Access to all hosts. A poll may replace the waker of an earlier poll of the same key.
pub trait World {
    fn wall_clock(&self, host: HostKey) -> WallClock;
    fn monotonic_clock(&self, host: HostKey) -> Monotonic;
    fn random(&self, host: HostKey, draw: Draw, bits: &mut [u64]);
    fn start_timer(&self, host: HostKey, after: Duration) -> TimerKey;
    /// Completes when the timer is due. The key is then no longer valid.
    fn poll_timer(&self, timer: TimerKey, context: &mut Context<'_>) -> Poll<()>;
    fn cancel_timer(&self, timer: TimerKey);
    fn connect(&self, caller: Caller, address: &Address) -> io::Result<SocketKey>;
    /// Completes once the connection is open or has failed; pending while the peer is unreachable.
    fn poll_connect(&self, socket: SocketKey, context: &mut Context<'_>) -> Poll<io::Result<()>>;
    /// Makes reads fail with `TimedOut` once this time has passed on the host's monotonic clock.
    fn limit(&self, socket: SocketKey, after: Duration);
    fn lift_limit(&self, socket: SocketKey);
    /// Appends received bytes to `buffer` and returns their number, or 0 at the end of the stream.
    /// Returns `ConnectionReset` only after all bytes that arrived before the reset.
    fn poll_read(
        &self,
        socket: SocketKey,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>>;
    fn poll_write(
        &self,
        socket: SocketKey,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>>;
    /// Ends the sending side of the connection. The peer can still read all written bytes.
    fn shutdown(&self, socket: SocketKey);
    fn close(&self, socket: SocketKey);
    fn spawn(&self, host: HostKey, task: BoxFuture<'static, ()>) -> TaskKey;
    fn abort(&self, task: TaskKey);
    fn note(&self, caller: Caller, note: Note);
}

/// A thread's access to its host. A clone belongs to the same thread.
#[derive(Clone)]
pub struct Env {
    world: Rc<dyn World>,
    host: HostKey,
    thread: u16,
    interrupt: Rc<Interrupt>,
}

impl Env {
    pub fn new(world: Rc<dyn World>, host: HostKey) -> Env {
        Env { world, host, thread: 1, interrupt: Rc::default() }
    }

    pub fn for_thread(&self, thread: u16) -> Env {
        Env { thread, interrupt: Rc::default(), ..self.clone() }
    }

    pub fn thread(&self) -> u16 {
        self.thread
    }

    fn caller(&self) -> Caller {
        Caller { host: self.host, thread: self.thread }
    }

    pub fn wall_clock(&self) -> WallClock {
        self.world.wall_clock(self.host)
    }

    pub fn monotonic_clock(&self) -> Monotonic {
        self.world.monotonic_clock(self.host)
    }

    pub fn random(&self, draw: Draw) -> u64 {
        let [bits] = self.randoms(draw);
        bits
    }

    pub fn randoms<const N: usize>(&self, draw: Draw) -> [u64; N] {
        let mut bits = [0; N];
        self.world.random(self.host, draw, &mut bits);
        bits
    }

    pub fn jitter(&self, range: &RangeInclusive<Duration>) -> Duration {
        let (low, high) = (whole_micros(*range.start()), whole_micros(*range.end()));
        let width = u128::from(high.saturating_sub(low)) + 1;
        let offset = (u128::from(self.random(Draw::Jitter)) * width) >> 64;
        Duration::from_micros(low.saturating_add(offset as u64))
    }

    pub fn sleep(&self, span: Duration) -> Sleep {
        Sleep {
            timer: self.world.start_timer(self.host, span),
            world: self.world.clone(),
            interrupt: self.interrupt.clone(),
            done: false,
        }
    }

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

    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) -> Spawned {
        Spawned { key: self.world.spawn(self.host, Box::pin(task)), world: self.world.clone() }
    }

    pub fn note(&self, note: Note) {
        self.world.note(self.caller(), note);
    }
}

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

pub struct Socket {
    world: Rc<dyn World>,
    interrupt: Rc<Interrupt>,
    key: SocketKey,
}

impl Socket {
    pub async fn read(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        std::future::poll_fn(|context| self.poll_read(context, buffer)).await
    }

    pub fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        self.interrupt.fail_if_interrupted(self.world.poll_read(self.key, context, buffer))
    }

    pub fn limit(&mut self, after: Duration) {
        self.world.limit(self.key, after);
    }

    pub fn lift_limit(&mut self) {
        self.world.lift_limit(self.key);
    }

    /// Sends at least one byte and returns how many it sent. If it fails, it has sent none.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        std::future::poll_fn(|context| self.poll_write(context, bytes)).await
    }

    pub fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.world.poll_write(self.key, context, bytes)
    }

    /// Sends all bytes. After an error, some of them may have been sent.
    pub async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = self.write(rest).await?;
            rest = &rest[written..];
        }
        Ok(())
    }

    pub fn shutdown(&mut self) {
        self.world.shutdown(self.key);
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.world.close(self.key);
    }
}

pub struct Spawned {
    world: Rc<dyn World>,
    key: TaskKey,
}

impl Spawned {
    pub fn abort(self) {
        self.world.abort(self.key);
    }
}

/// Rounds down to whole microseconds. Saturates after half a million years.
pub fn whole_micros(span: Duration) -> u64 {
    span.as_secs().saturating_mul(1_000_000).saturating_add(u64::from(span.subsec_micros()))
}

impl Monotonic {
    pub fn since(self, earlier: Monotonic) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    pub fn plus(self, span: Duration) -> Monotonic {
        Monotonic(self.0.saturating_add(whole_micros(span)))
    }
}

impl WallClock {
    pub fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}
