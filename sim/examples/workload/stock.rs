//! The benchmark workload on stock turmoil, without faults, a judge or idle-time skipping.

use bytes::BytesMut;
use fake_redis::{ConnectionId, DiskImage, Input, Machine, Node, Now, Output, Outputs, WallTime};
use fencepost::studies::bench::{self, bare};
use fencepost_clients::env::{
    BoxFuture, Caller, Draw, HostKey, Monotonic, Note, SocketKey, TaskKey, TimerKey, WallClock,
};
use fencepost_clients::{Address, Env, World};
use fencepost_faults::{Node as Name, Seed, Stream};
use rand_chacha::ChaCha8Rng;
use rand_core::Rng;
use slab::Slab;
use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, Sleep};
use turmoil::net::{TcpListener, TcpStream};

const PORT: u16 = 6379;

type Connecting = Pin<Box<dyn Future<Output = io::Result<TcpStream>>>>;

enum End {
    Connecting(Connecting),
    Open(Open),
}

struct Open {
    stream: TcpStream,
    limit: Option<Pin<Box<Sleep>>>,
}

impl Open {
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let Some(limit) = &mut self.limit else { return Poll::Pending };
        limit.as_mut().poll(context).map(|()| io::ErrorKind::TimedOut.into())
    }
}

struct Stock {
    started: Instant,
    timers: RefCell<Slab<Pin<Box<Sleep>>>>,
    sockets: RefCell<Slab<End>>,
    draws: RefCell<ChaCha8Rng>,
}

impl World for Stock {
    fn wall_clock(&self, host: HostKey) -> WallClock {
        WallClock(self.monotonic_clock(host).0 as i64)
    }

    fn monotonic_clock(&self, _: HostKey) -> Monotonic {
        Monotonic(self.started.elapsed().as_micros() as u64)
    }

    fn random(&self, _: HostKey, _: Draw, bits: &mut [u64]) {
        bits.fill_with(|| self.draws.borrow_mut().next_u64());
    }

    #[expect(clippy::disallowed_methods, reason = "the yardstick uses tokio's time on purpose")]
    fn start_timer(&self, _: HostKey, after: Duration) -> TimerKey {
        TimerKey(self.timers.borrow_mut().insert(Box::pin(tokio::time::sleep(after))) as u64)
    }

    fn poll_timer(&self, timer: TimerKey, context: &mut Context<'_>) -> Poll<()> {
        let mut timers = self.timers.borrow_mut();
        ready!(timers[timer.0 as usize].as_mut().poll(context));
        drop(timers.remove(timer.0 as usize));
        Poll::Ready(())
    }

    fn cancel_timer(&self, timer: TimerKey) {
        self.timers.borrow_mut().try_remove(timer.0 as usize);
    }

    fn connect(&self, _: Caller, address: &Address) -> io::Result<SocketKey> {
        let name = address.host.clone();
        let connecting = Box::pin(async move { TcpStream::connect((name, PORT)).await });
        Ok(SocketKey(self.sockets.borrow_mut().insert(End::Connecting(connecting)) as u32))
    }

    fn poll_connect(&self, socket: SocketKey, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut sockets = self.sockets.borrow_mut();
        let end = &mut sockets[socket.0 as usize];
        if let End::Connecting(connecting) = end {
            let stream = ready!(connecting.as_mut().poll(context))?;
            *end = End::Open(Open { stream, limit: None });
        }
        Poll::Ready(Ok(()))
    }

    #[expect(clippy::disallowed_methods, reason = "the yardstick uses tokio's time on purpose")]
    fn limit(&self, socket: SocketKey, after: Duration) {
        if let End::Open(open) = &mut self.sockets.borrow_mut()[socket.0 as usize] {
            open.limit = Some(Box::pin(tokio::time::sleep(after)));
        }
    }

    fn lift_limit(&self, socket: SocketKey) {
        if let End::Open(open) = &mut self.sockets.borrow_mut()[socket.0 as usize] {
            open.limit = None;
        }
    }

    fn poll_read(
        &self,
        socket: SocketKey,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        let mut sockets = self.sockets.borrow_mut();
        let End::Open(open) = &mut sockets[socket.0 as usize] else { return Poll::Pending };
        let mut space = [0; 512];
        let mut read = ReadBuf::new(&mut space);
        if Pin::new(&mut open.stream).poll_read(context, &mut read)?.is_pending() {
            return open.wait(context).map(Err);
        }
        buffer.extend_from_slice(read.filled());
        Poll::Ready(Ok(read.filled().len()))
    }

    fn poll_write(
        &self,
        socket: SocketKey,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut sockets = self.sockets.borrow_mut();
        let End::Open(open) = &mut sockets[socket.0 as usize] else { return Poll::Pending };
        match Pin::new(&mut open.stream).poll_write(context, bytes) {
            Poll::Pending => open.wait(context).map(Err),
            written => written,
        }
    }

    fn shutdown(&self, socket: SocketKey) {
        if let End::Open(open) = &mut self.sockets.borrow_mut()[socket.0 as usize] {
            let mut context = Context::from_waker(std::task::Waker::noop());
            let _ = Pin::new(&mut open.stream).poll_shutdown(&mut context);
        }
    }

    fn close(&self, socket: SocketKey) {
        let end = self.sockets.borrow_mut().try_remove(socket.0 as usize);
        drop(end);
    }

    #[expect(clippy::disallowed_methods, reason = "the yardstick uses tokio's tasks on purpose")]
    fn spawn(&self, _: HostKey, task: BoxFuture<'static, ()>) -> TaskKey {
        tokio::task::spawn_local(task);
        TaskKey(0)
    }

    fn abort(&self, _: TaskKey) {}

    fn note(&self, _: Caller, _: Note) {}
}

#[expect(clippy::disallowed_methods, reason = "the yardstick uses tokio's tasks on purpose")]
async fn serve(machine: Box<dyn Machine>) -> turmoil::Result {
    let started = Instant::now();
    let machine = Rc::new(RefCell::new(machine));
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    for id in 0.. {
        let (stream, _) = listener.accept().await?;
        let machine = machine.clone();
        tokio::task::spawn_local(async move {
            let _ = converse(stream, ConnectionId(id), machine, started).await;
        });
    }
    Ok(())
}

async fn converse(
    mut stream: TcpStream,
    connection: ConnectionId,
    machine: Rc<RefCell<Box<dyn Machine>>>,
    started: Instant,
) -> io::Result<()> {
    let mut out = Outputs::default();
    let now = || Now::unstepped(WallTime(started.elapsed().as_micros() as i64));
    machine.borrow_mut().handle(Input::Accepted { connection, peer: "client:1" }, now(), &mut out);
    let mut bytes = BytesMut::new();
    loop {
        out.clear();
        bytes.clear();
        if stream.read_buf(&mut bytes).await? == 0 {
            machine.borrow_mut().handle(Input::Closed { connection }, now(), &mut out);
            return Ok(());
        }
        machine.borrow_mut().handle(Input::Received { connection, bytes: &bytes }, now(), &mut out);
        for output in out.list.drain(..) {
            if let Output::Send { bytes, .. } = output {
                stream.write_all(&bytes).await?;
            }
        }
    }
}

pub(crate) fn run(seed: u64, idle: u16) {
    let node = || Node::new(bench::config(), DiskImage::default(), 7, WallTime(0));
    run_with(seed, idle, move || Box::new(node()), bench::process);
}

pub(crate) fn run_bare(seed: u64, idle: u16) {
    let process = async |env: Env, cycles| {
        bare::process(env, cycles).await.expect("nothing fails in workload W")
    };
    run_with(seed, idle, || Box::new(bare::Server::default()), process);
}

fn run_with(
    seed: u64,
    idle: u16,
    machine: impl Fn() -> Box<dyn Machine> + 'static,
    process: impl AsyncFn(Env, u32) + Copy + 'static,
) {
    let ms = Duration::from_millis;
    let mut sim = turmoil::Builder::new()
        .tick_duration(ms(1))
        .simulation_duration(Duration::from_secs(600))
        .epoch(std::time::UNIX_EPOCH)
        .rng_seed(seed)
        .min_message_latency(ms(1))
        .max_message_latency(ms(5))
        .tcp_capacity(1024)
        .build();
    sim.host("redis-1", move || serve(machine()));
    for number in 0..idle {
        sim.host(format!("idle-{number}"), std::future::pending::<turmoil::Result>);
    }
    for client in (1..=bench::PROCESSES).map(Name::Client) {
        sim.client(client.to_string(), async move {
            let world = Stock {
                started: Instant::now(),
                timers: RefCell::default(),
                sockets: RefCell::default(),
                draws: RefCell::new(Seed(seed).stream(Stream::Jitter(client))),
            };
            process(Env::new(Rc::new(world), HostKey(0)), bench::CYCLES).await;
            Ok(())
        });
    }
    sim.run().expect("workload W runs to its end");
}
