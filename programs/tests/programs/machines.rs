use super::alone::EPOCH_US;
use fencepost_programs::{
    CallMade, Clocks, Ending, Group, Launch, News, Request, SocketId, SyncedFiles,
};
use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;

const LATENCY_US: u64 = 300;
const SECOND_US: u64 = 1_000_000;
pub(crate) type Place = usize;

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Client,
    Machine(Place, SocketId),
}

struct Machine {
    launch: Launch,
    group: Option<Group>,
    synced: SyncedFiles,
    peers: BTreeMap<SocketId, End>,
    wakes_at: Option<u64>,
    is_frozen: bool,
    wall_step_us: i64,
    next_port: u16,
    lives: u32,
    ending: Option<Ending>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Connection(Place, SocketId);

enum WorldEvent {
    News(Place, u32, News),
    Connect { from: (Place, SocketId), to: Place, port: u16 },
}

#[derive(Default)]
pub(crate) struct Machines {
    now: u64,
    all: Vec<Machine>,
    on_the_way: VecDeque<(u64, WorldEvent)>,
    received: BTreeMap<Connection, Vec<u8>>,
}

impl Machines {
    pub(crate) fn start(&mut self, launch: &Launch) -> Place {
        self.all.push(Machine {
            launch: launch.clone(),
            group: None,
            synced: SyncedFiles::default(),
            peers: BTreeMap::new(),
            wakes_at: None,
            is_frozen: false,
            wall_step_us: 0,
            next_port: 50_000,
            lives: 0,
            ending: None,
        });
        self.restart(self.all.len() - 1);
        self.all.len() - 1
    }

    pub(crate) fn restart(&mut self, place: Place) {
        let machine = &mut self.all[place];
        machine.group = Some(Group::start(&machine.launch).unwrap());
        machine.lives += 1;
        self.step(place);
    }

    pub(crate) fn kill(&mut self, place: Place) {
        let machine = &mut self.all[place];
        if let Some(mut group) = machine.group.take() {
            machine.synced.extend(group.take_synced());
        }
        machine.wakes_at = None;
        machine.peers.clear();
    }

    pub(crate) fn restore(&self, place: Place, folder: &Path) {
        self.all[place].synced.restore(folder, &mut |_| 0).unwrap();
    }

    pub(crate) fn tear(&self, place: Place, folder: &Path, mut kept: impl FnMut(u64) -> u64) {
        self.all[place].synced.restore(folder, &mut kept).unwrap();
    }

    pub(crate) fn fail_syncs(&mut self, place: Place, errno: Option<i32>) {
        let group = self.all[place].group.as_mut();
        group.expect("a server that runs").fail_syncs(errno);
    }

    pub(crate) fn has_failed_sync(&self, place: Place) -> bool {
        self.all[place].group.as_ref().is_some_and(Group::has_failed_sync)
    }

    pub(crate) fn freeze(&mut self, place: Place) {
        self.all[place].is_frozen = true;
    }

    pub(crate) fn resume(&mut self, place: Place) {
        self.all[place].is_frozen = false;
        self.step(place);
    }

    pub(crate) fn step_wall(&mut self, place: Place, by_us: i64) {
        self.all[place].wall_step_us += by_us;
    }

    pub(crate) fn calls(&self, place: Place) -> &[CallMade] {
        self.all[place].group.as_ref().map_or(&[], Group::calls)
    }

    pub(crate) fn ending(&self, place: Place) -> Option<&Ending> {
        self.all[place].ending.as_ref()
    }

    pub(crate) fn connect(&mut self, place: Place, port: u16) -> Option<Connection> {
        let machine = &mut self.all[place];
        let from = SocketAddrV4::new(Ipv4Addr::new(10, 0, 1, 1), 30_000);
        let id = machine.group.as_mut()?.incoming(from, port)?;
        machine.peers.insert(id, End::Client);
        self.step(place);
        Some(Connection(place, id))
    }

    pub(crate) fn send(&mut self, at: Connection, bytes: &[u8]) {
        self.deliver(at.0, News::Received(at.1, bytes.to_vec()));
    }

    pub(crate) fn received(&mut self, at: Connection) -> String {
        String::from_utf8(self.received.remove(&at).unwrap_or_default()).unwrap()
    }

    pub(crate) fn advance(&mut self, by_us: u64) {
        let until = self.now + by_us;
        loop {
            let arrives = self.on_the_way.front().map(|(at, _)| *at);
            let wakes = self.all.iter().filter(|machine| !machine.is_frozen);
            let wakes = wakes.filter_map(|machine| machine.wakes_at).min();
            let Some(next) = arrives.into_iter().chain(wakes).min().filter(|at| *at <= until)
            else {
                break;
            };
            self.now = next.max(self.now);
            match self.on_the_way.pop_front() {
                Some((at, what)) if at <= next => self.arrives(what),
                later => {
                    later.into_iter().for_each(|later| self.on_the_way.push_front(later));
                    self.wake(next);
                }
            }
        }
        self.now = until;
    }

    fn wake(&mut self, now: u64) {
        let is_due =
            |machine: &Machine| !machine.is_frozen && machine.wakes_at.is_some_and(|at| at <= now);
        if let Some(place) = self.all.iter().position(is_due) {
            self.step(place);
        }
    }

    fn arrives(&mut self, what: WorldEvent) {
        match what {
            WorldEvent::News(place, life, news) => {
                let machine = &mut self.all[place];
                if let Some(group) = machine.group.as_mut().filter(|_| machine.lives == life) {
                    group.deliver(news);
                    self.step(place);
                }
            }
            WorldEvent::Connect { from: (from, socket), to, port } => {
                let address = self.all[from].launch.hosts[&self.all[from].launch.host_name];
                self.all[from].next_port += 1;
                let address = SocketAddrV4::new(address, self.all[from].next_port);
                let group = self.all[to].group.as_mut();
                match group.and_then(|group| group.incoming(address, port)) {
                    Some(id) => {
                        self.all[to].peers.insert(id, End::Machine(from, socket));
                        self.all[from].peers.insert(socket, End::Machine(to, id));
                        self.deliver(from, News::Connected(socket));
                        self.step(to);
                    }
                    None => self.deliver(from, News::Refused(socket)),
                }
            }
        }
    }

    fn deliver(&mut self, place: Place, news: News) {
        let life = self.all[place].lives;
        self.on_the_way.push_back((self.now + LATENCY_US, WorldEvent::News(place, life, news)));
    }

    fn step(&mut self, place: Place) {
        let machine = &mut self.all[place];
        let Some(group) = machine.group.as_mut().filter(|_| !machine.is_frozen) else { return };
        let wall_us = EPOCH_US + self.now as i64 + machine.wall_step_us;
        let step = group.step(Clocks { wall_us, monotonic_us: SECOND_US + self.now });
        machine.wakes_at = step.wake_after_us.map(|us| self.now + us);
        let has_ended = step.ending.is_some();
        machine.ending = step.ending;
        step.requests.into_iter().for_each(|request| self.carry_out(place, request));
        if has_ended {
            self.kill(place);
        }
    }

    fn carry_out(&mut self, place: Place, request: Request) {
        let (socket, news): (_, fn(SocketId, Vec<u8>) -> News) = match &request {
            Request::Connect { socket, host, port } => {
                let to = self.all.iter().position(|it| it.launch.host_name == *host);
                match to {
                    Some(to) => {
                        let what = WorldEvent::Connect { from: (place, *socket), to, port: *port };
                        self.on_the_way.push_back((self.now + LATENCY_US, what));
                    }
                    None => self.deliver(place, News::Refused(*socket)),
                }
                return;
            }
            Request::Send { socket, .. } => (*socket, News::Received),
            Request::Shutdown { socket } | Request::Close { socket } => {
                (*socket, |socket, _| News::Ended(socket))
            }
        };
        let bytes = if let Request::Send { bytes, .. } = request { bytes } else { Vec::new() };
        match self.all[place].peers.get(&socket).copied() {
            Some(End::Client) => {
                self.received.entry(Connection(place, socket)).or_default().extend(bytes);
            }
            Some(End::Machine(to, peer)) => self.deliver(to, news(peer, bytes)),
            None => {}
        }
    }
}
