//! The engine on stock turmoil, with turmoil's hosts, TCP streams and segments.

use super::deadline::Watch;
use super::{EngineError, EngineRun, check};
use crate::world::agenda::HostIndex;
use crate::world::carrier::Carrier;
use crate::world::kernel::Kernel;
use crate::world::socket::Kind;
use crate::world::state::State;
use fencepost_faults::Node;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use turmoil::net::{TcpListener, TcpStream};
use turmoil::{Protocol, Segment, Sim};

const PORT: u16 = 1;
const CAPACITY: usize = 1 << 16;

#[derive(Clone)]
pub(crate) struct TurmoilNetwork(Rc<RefCell<Inner>>);

type Connecting = Pin<Box<dyn Future<Output = io::Result<TcpStream>>>>;

struct Inner {
    names: Vec<String>,
    listeners: Vec<Option<Rc<TcpListener>>>,
    accepted: BTreeMap<(HostIndex, SocketAddr), TcpStream>,
    connecting: BTreeMap<u32, Connecting>,
    streams: BTreeMap<u32, TcpStream>,
    unseen_connects: BTreeMap<(HostIndex, HostIndex), VecDeque<u32>>,
    unseen: BTreeMap<u32, VecDeque<u64>>,
    senders: BTreeMap<(SocketAddr, SocketAddr), u32>,
    addresses: BTreeMap<u32, (SocketAddr, SocketAddr)>,
    routes: BTreeMap<u32, (HostIndex, HostIndex)>,
    mismatch: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum WirePayload {
    Connect(u32),
    Message(u64),
    Ballast,
}

impl TurmoilNetwork {
    pub(crate) fn new(nodes: &[Node]) -> TurmoilNetwork {
        TurmoilNetwork(Rc::new(RefCell::new(Inner {
            names: nodes.iter().map(Node::to_string).collect(),
            listeners: nodes.iter().map(|_| None).collect(),
            accepted: BTreeMap::new(),
            connecting: BTreeMap::new(),
            streams: BTreeMap::new(),
            unseen_connects: BTreeMap::new(),
            unseen: BTreeMap::new(),
            senders: BTreeMap::new(),
            addresses: BTreeMap::new(),
            routes: BTreeMap::new(),
            mismatch: None,
        })))
    }

    fn with<T>(&self, f: impl FnOnce(&mut Inner) -> T) -> T {
        f(&mut self.0.borrow_mut())
    }
}

impl Carrier for TurmoilNetwork {
    fn connect(&mut self, socket: u32, from: HostIndex, to: HostIndex) {
        self.with(|inner| {
            let name = inner.names[usize::from(to) - 1].clone();
            let mut connecting: Connecting =
                Box::pin(async move { TcpStream::connect((name, PORT)).await });
            if connecting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                inner.mismatch("a connect ended before it began");
            }
            inner.connecting.insert(socket, connecting);
            inner.routes.insert(socket, (from, to));
            inner.unseen_connects.entry((from, to)).or_default().push_back(socket);
        });
    }

    fn accept(&mut self, client: u32, server: u32) {
        self.with(|inner| {
            let Some((_, host)) = inner.routes.get(&client).copied() else { return };
            let Some(pair) = inner.addresses.get(&client).copied() else {
                inner.mismatch("a connect arrived that was never seen on a link");
                return;
            };
            match inner.accepted_from(host, pair.0) {
                Some(stream) => {
                    inner.senders.insert((pair.1, pair.0), server);
                    inner.streams.insert(server, stream);
                }
                None => inner.mismatch("a connect that arrived could not be accepted"),
            }
        });
    }

    fn established(&mut self, client: u32) {
        self.with(|inner| {
            let Some(mut connecting) = inner.connecting.remove(&client) else { return };
            match connecting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Ok(stream)) => {
                    inner.streams.insert(client, stream);
                }
                _ => inner.mismatch("a connect that was answered is not established"),
            }
        });
    }

    fn refused(&mut self, client: u32) {
        let connecting = self.with(|inner| inner.connecting.remove(&client));
        drop(connecting);
    }

    fn send(&mut self, socket: u32, message: u64, bytes: &[u8]) -> Vec<u8> {
        self.with(|inner| {
            let written = inner.streams.get(&socket).map(|stream| stream.try_write(bytes));
            match written {
                Some(Ok(length)) if length == bytes.len() => {
                    inner.unseen.entry(socket).or_default().push_back(message);
                }
                other => {
                    inner.mismatch(&format!("a write of {} bytes gave {other:?}", bytes.len()))
                }
            }
        });
        Vec::new()
    }

    fn receive(&mut self, socket: u32, _: Vec<u8>, length: usize, buffer: &mut Vec<u8>) {
        self.with(|inner| {
            let Some(stream) = inner.streams.get_mut(&socket) else {
                inner.mismatch("bytes arrived at a socket without a stream");
                return;
            };
            let start = buffer.len();
            buffer.resize(start + length, 0);
            let mut read = ReadBuf::new(&mut buffer[start..]);
            let poll =
                Pin::new(stream).poll_read(&mut Context::from_waker(Waker::noop()), &mut read);
            let filled = read.filled().len();
            if !matches!(poll, Poll::Ready(Ok(()))) || filled != length {
                inner.mismatch(&format!("{length} bytes were due, {filled} came: {poll:?}"));
            }
        });
    }

    fn close(&mut self, socket: u32) {
        let (stream, connecting) =
            self.with(|inner| (inner.streams.remove(&socket), inner.connecting.remove(&socket)));
        drop((stream, connecting));
    }
}

impl Inner {
    /// Returns the connection from `origin`, and stores the connections that arrive before it.
    fn accepted_from(&mut self, host: HostIndex, origin: SocketAddr) -> Option<TcpStream> {
        let listener = self.listeners[usize::from(host) - 1].clone()?;
        loop {
            if let Some(stream) = self.accepted.remove(&(host, origin)) {
                return Some(stream);
            }
            let accept = pin!(listener.accept());
            let Poll::Ready(Ok((stream, from))) =
                accept.poll(&mut Context::from_waker(Waker::noop()))
            else {
                return None;
            };
            self.accepted.insert((host, from), stream);
        }
    }

    fn mismatch(&mut self, what: &str) {
        self.mismatch.get_or_insert_with(|| what.to_owned());
    }

    fn identify(
        &mut self,
        pair: (SocketAddr, SocketAddr),
        protocol: &Protocol,
        hosts: &Hosts,
    ) -> WirePayload {
        match protocol {
            Protocol::Tcp(Segment::Syn(_)) => {
                let (Some(from), Some(to)) = (hosts.find(pair.0.ip()), hosts.find(pair.1.ip()))
                else {
                    return WirePayload::Ballast;
                };
                let Some(socket) =
                    self.unseen_connects.get_mut(&(from, to)).and_then(VecDeque::pop_front)
                else {
                    return WirePayload::Ballast;
                };
                self.senders.insert(pair, socket);
                self.addresses.insert(socket, pair);
                WirePayload::Connect(socket)
            }
            Protocol::Tcp(Segment::Data(..)) => {
                let sender = self.senders.get(&pair).copied();
                let message = sender
                    .and_then(|sender| self.unseen.get_mut(&sender))
                    .and_then(VecDeque::pop_front);
                message.map_or(WirePayload::Ballast, WirePayload::Message)
            }
            _ => WirePayload::Ballast,
        }
    }
}

struct Hosts(Vec<IpAddr>);

impl Hosts {
    fn find(&self, address: IpAddr) -> Option<HostIndex> {
        self.0.iter().position(|known| *known == address).map(|place| place as HostIndex + 1)
    }
}

type WakerSlots = Rc<RefCell<Vec<Option<Waker>>>>;

pub(crate) fn run(
    kernel: &Rc<Kernel>,
    course: &EngineRun,
    wires: &TurmoilNetwork,
) -> Result<(), EngineError> {
    let names = wires.with(|inner| inner.names.clone());
    let mut sim = turmoil::Builder::new()
        .tick_duration(Duration::from_millis(1))
        .simulation_duration(Duration::from_secs(u64::from(u32::MAX)))
        .epoch(std::time::UNIX_EPOCH)
        .rng_seed(0)
        .tcp_capacity(CAPACITY)
        .build();
    let waker_slots: WakerSlots = Rc::new(RefCell::new(vec![None; names.len()]));
    for (name, host) in names.iter().zip(1..) {
        register(&mut sim, name, host, kernel, wires, &waker_slots);
    }
    for (place, name) in names.iter().enumerate() {
        for other in &names[place + 1..] {
            sim.hold(name.as_str(), other.as_str());
        }
    }
    let hosts = Hosts(names.iter().map(|name| sim.lookup(name.as_str())).collect());
    drive(kernel, course, wires, &mut sim, &hosts, &waker_slots)
}

fn register(
    sim: &mut Sim<'_>,
    name: &str,
    host: HostIndex,
    kernel: &Rc<Kernel>,
    wires: &TurmoilNetwork,
    waker_slots: &WakerSlots,
) {
    let (kernel, wires, waker_slots) = (kernel.clone(), wires.clone(), waker_slots.clone());
    sim.host(name, move || {
        let (kernel, wires, waker_slots) = (kernel.clone(), wires.clone(), waker_slots.clone());
        tokio::task::unconstrained(async move {
            let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
            wires.with(|inner| inner.listeners[usize::from(host) - 1] = Some(Rc::new(listener)));
            std::future::poll_fn(|context| {
                waker_slots.borrow_mut()[usize::from(host) - 1] = Some(context.waker().clone());
                if kernel.with(|state| state.is_due(host)) {
                    kernel.turn(host);
                }
                Poll::<turmoil::Result>::Pending
            })
            .await
        })
    });
}

fn drive(
    kernel: &Rc<Kernel>,
    course: &EngineRun,
    wires: &TurmoilNetwork,
    sim: &mut Sim<'_>,
    hosts: &Hosts,
    waker_slots: &WakerSlots,
) -> Result<(), EngineError> {
    let mut links = Links::default();
    let mut watch = Watch::start();
    while let Some(next) = course.next(kernel) {
        watch.check()?;
        course.begin(kernel, next);
        links.release(kernel, sim);
        wake_waiting(kernel, waker_slots);
        sim.step().map_err(|error| EngineError::Turmoil(error.to_string()))?;
        check(kernel)?;
        links.survey(wires, sim, hosts);
        if let Some(mismatch) = wires.with(|inner| inner.mismatch.take()) {
            return Err(EngineError::Turmoil(format!("at {}, {mismatch}", next.0)));
        }
    }
    Ok(())
}

fn wake_waiting(kernel: &Kernel, waker_slots: &WakerSlots) {
    let due = kernel.with(|state| state.agenda.hosts_at(state.now));
    let waker_slots = waker_slots.borrow();
    for host in due {
        if let Some(waker) = &waker_slots[usize::from(host) - 1] {
            waker.wake_by_ref();
        }
    }
}

#[derive(Default)]
struct Links {
    payload: BTreeMap<(IpAddr, IpAddr), Vec<WirePayload>>,
}

impl Links {
    fn release(&mut self, kernel: &Kernel, sim: &Sim<'_>) {
        let arriving = kernel.with(arriving);
        if arriving.is_empty() {
            return;
        }
        sim.links(|links| {
            for link in links {
                let Some(payload) = self.payload.get_mut(&link.pair()) else { continue };
                let mut kept = Vec::with_capacity(payload.len());
                for (segment, payload) in link.zip(payload.drain(..)) {
                    if arriving.contains(&payload) {
                        segment.deliver();
                    } else {
                        kept.push(payload);
                    }
                }
                *payload = kept;
            }
        });
    }

    fn survey(&mut self, wires: &TurmoilNetwork, sim: &Sim<'_>, hosts: &Hosts) {
        sim.links(|links| {
            for link in links {
                let payload = self.payload.entry(link.pair()).or_default();
                for segment in link.skip(payload.len()) {
                    let known = wires
                        .with(|inner| inner.identify(segment.pair(), segment.protocol(), hosts));
                    payload.push(known);
                }
            }
        });
    }
}

fn arriving(state: &mut State) -> BTreeSet<WirePayload> {
    let due = state.agenda.deliveries_at(state.now);
    let due = due.into_iter().filter(|message| state.will_arrive(*message));
    due.map(|message| {
        let under_way = &state.messages[message as usize];
        match under_way.kind {
            Kind::Connect => WirePayload::Connect(under_way.target),
            _ => WirePayload::Message(under_way.serial),
        }
    })
    .collect()
}
