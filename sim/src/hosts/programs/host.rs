use super::Program;
use super::desk::HolderDesk;
use super::judge::{Answer, Judge};
use super::places::places;
use super::record::ProgramLives;
use crate::setup::places::addresses;
use crate::setup::roster::Roster;
use crate::setup::scenario::Scenario;
use crate::setup::scenario::own_server::aliases;
use crate::world::recorder::Recorder;
use bytes::BytesMut;
use fencepost_clients::env::{BoxFuture, Draw, Sleep, Socket};
use fencepost_clients::{Address, Coordinator, Env, Servers};
use fencepost_faults::{Micros, Node, Seed, SimTime, Stream};
use fencepost_programs::{Clocks, Ending, Group, Launch, News, Request, SocketId};
use rand_core::Rng;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

const JUDGE: &str = "judge";
const JUDGE_PORT: u16 = 9001;
/// Maximum length of a piece of work in a critical section. Pauses take effect between two pieces.
const WORK_PIECE_US: u64 = 10_000;

/// The first bytes of a client of HTTP/2 (RFC 9113, section 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n";

/// Folders in which programs usually create temporary files and shared memory.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

pub(crate) const FIXED: &[(&str, &str)] = &[
    ("LANG", "C.UTF-8"),
    ("TZ", "UTC"),
    ("PYTHONUNBUFFERED", "1"),
    ("PYTHONHASHSEED", "0"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    // Without this variable, OpenSSL reads random numbers from the processor (RDRAND, RDSEED).
    ("OPENSSL_ia32cap", "~0x4000000000000000:~0x40000"),
];

pub(crate) struct Shared {
    pub(crate) program: Program,
    pub(crate) scenario: Rc<Scenario>,
    pub(crate) recorder: Rc<Recorder>,
    pub(crate) roster: Rc<Roster>,
    pub(crate) desk: Rc<HolderDesk>,
    pub(crate) lives: Rc<ProgramLives>,
    pub(crate) progress_bound: Micros,
    pub(crate) nodes: Vec<Node>,
    pub(crate) seed: u64,
}

impl Shared {
    fn has_simulated_etcd(&self) -> bool {
        self.program.coordinator == Coordinator::Etcd
            && !self.scenario.binaries.contains_key(Coordinator::Etcd.name())
    }
}

struct Host {
    env: Env,
    node: Node,
    shared: Rc<Shared>,
    judge: Judge,
    group: Group,
    life: usize,
    ends: BTreeMap<SocketId, End>,
    timer: Option<Sleep>,
    works: Vec<Work>,
}

enum End {
    Connecting(BoxFuture<'static, io::Result<Socket>>),
    Open(Socket),
    Over(Socket),
    Judge(JudgeConnection),
}

#[derive(Default)]
struct JudgeConnection {
    buffer: BytesMut,
    is_over: bool,
}

struct Work {
    socket: SocketId,
    left_us: u64,
    piece: Sleep,
    piece_us: u64,
}

pub(crate) async fn live(
    env: Env,
    node: Node,
    servers: Servers,
    shared: Rc<Shared>,
    starts_at: Option<SimTime>,
) {
    if let Some(at) = starts_at {
        env.sleep(Duration::from_micros(at.0)).await;
        wait_for_earlier_waiters(&env, &shared).await;
    }
    let life = shared.lives.begins(node, shared.recorder.now());
    let has_nothing_to_do = shared.roster.member(node).cycles_left.get() == 0;
    shared.lives.with(life, |life| life.has_spoken = has_nothing_to_do);
    let launch = launch(&shared, node, &servers, env.random(Draw::Owner));
    match Group::start(&launch) {
        Ok(group) => {
            let judge = Judge::new(
                node,
                shared.recorder.clone(),
                shared.roster.clone(),
                shared.scenario.clone(),
                shared.desk.clone(),
            );
            let roster = shared.roster.clone();
            let mut host = Host {
                env,
                node,
                shared,
                judge,
                group,
                life,
                ends: BTreeMap::new(),
                timer: None,
                works: Vec::new(),
            };
            host.run_to_end().await;
            roster.finish(node);
        }
        Err(error) => {
            let at = shared.recorder.now();
            let ending = Ending::NotEmulated(format!("could not be started: {error}"));
            shared.lives.with(life, |life| life.ending = Some((at, ending)));
            shared.roster.finish(node);
        }
    }
}

/// Gives the waiting processes time to acquire the lock. Otherwise the first commands of a new
/// program could wake processes that would have waited forever.
async fn wait_for_earlier_waiters(env: &Env, shared: &Shared) {
    const STEP_US: u64 = 100_000;
    let waiting = shared.recorder.waiting_processes();
    let mut left_us = shared.progress_bound.0;
    while left_us > 0 && shared.recorder.is_any_still_waiting(&waiting) {
        let step_us = left_us.min(STEP_US);
        env.sleep(Duration::from_micros(step_us)).await;
        left_us -= step_us;
    }
}

impl Host {
    async fn run_to_end(&mut self) {
        loop {
            let clocks = Clocks {
                wall_us: self.env.wall_clock().0,
                monotonic_us: self.env.monotonic_clock().0,
            };
            let step = self.group.step(clocks);
            self.record_output();
            let mut has_news = false;
            for request in step.requests {
                has_news |= self.carry_out(request).await;
            }
            if let Some(ending) = step.ending {
                let now = self.shared.recorder.now();
                if self.judge.is_amid() {
                    self.shared.recorder.record_exit(self.node);
                }
                let is_inside = self.judge.is_inside();
                self.shared.lives.with(self.life, |life| {
                    (life.ending, life.died_inside) = (Some((now, ending)), is_inside);
                });
                return;
            }
            if has_news {
                continue;
            }
            self.timer = step.wake_after_us.map(|us| self.env.sleep(Duration::from_micros(us)));
            std::future::poll_fn(|context| self.poll_news(context)).await;
        }
    }

    fn record_output(&mut self) {
        let now = self.shared.recorder.now();
        let output = self.group.take_output();
        let (dropped, has_spoken) = (self.group.output_dropped(), self.judge.has_received());
        self.shared.lives.with(self.life, |life| {
            life.output.extend(output.into_iter().map(|one| (now, one.channel, one.bytes)));
            life.output_dropped = dropped;
            life.has_spoken |= has_spoken;
        });
    }

    async fn carry_out(&mut self, request: Request) -> bool {
        match request {
            Request::Connect { socket, host, .. } if host == JUDGE => {
                self.ends.insert(socket, End::Judge(JudgeConnection::default()));
                self.group.deliver(News::Connected(socket));
                true
            }
            Request::Connect { socket, host, port } => {
                let is_sentinel = host.starts_with("sentinel-");
                self.shared.lives.with(self.life, |life| life.asked_sentinel |= is_sentinel);
                let env = self.env.clone();
                let connect = async move { env.connect(&Address { host, port }).await };
                self.ends.insert(socket, End::Connecting(Box::pin(connect)));
                false
            }
            Request::Send { socket, bytes } => self.sends(socket, &bytes).await,
            Request::Shutdown { socket } => self.receive_end(socket),
            Request::Close { socket } => {
                self.works.retain(|work| work.socket != socket);
                self.ends.remove(&socket);
                false
            }
        }
    }

    async fn sends(&mut self, socket: SocketId, bytes: &[u8]) -> bool {
        let now = self.shared.recorder.now();
        let is_http2 = bytes.starts_with(HTTP2_PREFACE) && self.shared.has_simulated_etcd();
        self.shared.lives.with(self.life, |life| {
            life.sent_last = Some(now);
            life.sent_http2 |= is_http2;
        });
        match self.ends.get_mut(&socket) {
            Some(End::Open(open)) => {
                let is_broken = open.write_all(bytes).await.is_err();
                if is_broken {
                    self.ends.remove(&socket);
                    self.group.deliver(News::Reset(socket));
                }
                is_broken
            }
            Some(End::Judge(hearing)) => {
                hearing.buffer.extend_from_slice(bytes);
                let answers = self.judge.receive(&mut hearing.buffer);
                self.answers(socket, answers)
            }
            _ => false,
        }
    }

    fn receive_end(&mut self, socket: SocketId) -> bool {
        match self.ends.get_mut(&socket) {
            Some(End::Open(open) | End::Over(open)) => open.shutdown(),
            Some(End::Judge(hearing)) => {
                hearing.is_over = true;
                return self.close_judge(socket);
            }
            _ => {}
        }
        false
    }

    fn close_judge(&mut self, socket: SocketId) -> bool {
        let is_over = matches!(self.ends.get(&socket), Some(End::Judge(it)) if it.is_over);
        let closes = is_over && !self.works.iter().any(|work| work.socket == socket);
        if closes {
            self.ends.remove(&socket);
            self.group.deliver(News::Ended(socket));
        }
        closes
    }

    fn answers(&mut self, socket: SocketId, answers: Vec<Answer>) -> bool {
        let mut has_news = false;
        for answer in answers {
            match answer {
                Answer::Now(text) => {
                    self.group.deliver(News::Received(socket, text.into_bytes()));
                    has_news = true;
                }
                Answer::AfterWork { ms } => {
                    let left_us = ms * 1_000;
                    let piece_us = left_us.min(WORK_PIECE_US);
                    let piece = self.env.sleep(Duration::from_micros(piece_us));
                    self.works.push(Work { socket, left_us, piece, piece_us });
                }
            }
        }
        has_news
    }

    fn poll_news(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut is_ready = self.poll_works(context);
        let sockets: Vec<SocketId> = self.ends.keys().copied().collect();
        for socket in sockets {
            is_ready |= self.poll_end(socket, context);
        }
        if let Some(timer) = &mut self.timer
            && Pin::new(timer).poll(context).is_ready()
        {
            self.timer = None;
            is_ready = true;
        }
        if is_ready { Poll::Ready(()) } else { Poll::Pending }
    }

    fn poll_works(&mut self, context: &mut Context<'_>) -> bool {
        let mut done = Vec::new();
        for work in &mut self.works {
            while work.left_us > 0 && Pin::new(&mut work.piece).poll(context).is_ready() {
                work.left_us -= work.piece_us;
                work.piece_us = work.left_us.min(WORK_PIECE_US);
                work.piece = self.env.sleep(Duration::from_micros(work.piece_us.max(1)));
            }
            if work.left_us == 0 {
                done.push(work.socket);
            }
        }
        self.works.retain(|work| work.left_us > 0);
        for socket in &done {
            self.group.deliver(News::Received(*socket, b"+OK\r\n".to_vec()));
            self.close_judge(*socket);
        }
        !done.is_empty()
    }

    fn poll_end(&mut self, socket: SocketId, context: &mut Context<'_>) -> bool {
        match self.ends.get_mut(&socket) {
            Some(End::Connecting(connect)) => match connect.as_mut().poll(context) {
                Poll::Pending => false,
                Poll::Ready(Ok(open)) => {
                    self.ends.insert(socket, End::Open(open));
                    self.group.deliver(News::Connected(socket));
                    self.poll_end(socket, context);
                    true
                }
                Poll::Ready(Err(_)) => {
                    self.ends.remove(&socket);
                    self.group.deliver(News::Refused(socket));
                    true
                }
            },
            Some(End::Open(_)) => self.poll_open(socket, context),
            _ => false,
        }
    }

    fn poll_open(&mut self, socket: SocketId, context: &mut Context<'_>) -> bool {
        let mut has_news = false;
        loop {
            let Some(End::Open(open)) = self.ends.get_mut(&socket) else { return has_news };
            let mut buffer = BytesMut::new();
            match open.poll_read(context, &mut buffer) {
                Poll::Pending => return has_news,
                Poll::Ready(Ok(0)) => {
                    if let Some(End::Open(open)) = self.ends.remove(&socket) {
                        self.ends.insert(socket, End::Over(open));
                    }
                    self.group.deliver(News::Ended(socket));
                }
                Poll::Ready(Ok(_)) => self.group.deliver(News::Received(socket, buffer.to_vec())),
                Poll::Ready(Err(_)) => {
                    self.ends.remove(&socket);
                    self.group.deliver(News::Reset(socket));
                }
            }
            has_news = true;
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.record_output();
        let used = self.group.files_used().clone();
        let (calls, preempted) = (self.group.calls().to_vec(), self.group.preempted());
        self.shared.lives.with(self.life, |life| {
            (life.calls, life.preempted, life.used) = (calls, preempted, used);
        });
        assert!(self.node.is_process(), "only processes run programs");
    }
}

fn launch(shared: &Shared, node: Node, servers: &Servers, random: u64) -> Launch {
    let number = match node {
        Node::Client(number) => number,
        _ => shared.scenario.processes + 1,
    };
    let mut launch = launch_for_check(&shared.program);
    let cycles = shared.roster.member(node).cycles_left.get();
    let settings = [
        ("PROCESS", number.to_string()),
        ("PROCESSES", shared.scenario.processes.to_string()),
        ("CYCLES", cycles.to_string()),
        ("SEED", shared.seed.to_string()),
        ("TTL_MS", (shared.scenario.ttl.0.0 / 1_000).to_string()),
        ("LOCK", shared.program.lock_key.clone()),
        ("STORAGE", format!("redis://storage:{}", crate::setup::places::STORAGE_PORT)),
        ("JUDGE", format!("redis://{JUDGE}:{JUDGE_PORT}")),
    ];
    let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value));
    for (name, value) in settings.chain(places(&shared.program, servers)) {
        launch.environment.insert(format!("FENCEPOST_{name}"), value);
    }
    launch.host_name = node.to_string();
    launch.hosts = addresses(&shared.nodes);
    launch.aliases = aliases(&shared.program.servers, &launch.hosts);
    launch.hosts.insert(JUDGE.to_owned(), Ipv4Addr::new(10, 0, 255, 1));
    launch.seed = random;
    launch.machine_seed = Seed(shared.seed).stream(Stream::Machine(node)).next_u64();
    launch.first_process = u32::from(number) * 1_000 + 1;
    launch
}

pub(super) fn launch_for_check(program: &Program) -> Launch {
    let inherited = ["PATH", "HOME"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
    let fixed = FIXED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let own = program.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
    Launch {
        command: program.command.clone(),
        environment: inherited.chain(fixed).chain(own).collect(),
        folder: program.folder.clone().into(),
        host_name: String::new(),
        hosts: BTreeMap::new(),
        aliases: BTreeMap::new(),
        seed: 0,
        machine_seed: 0,
        first_process: 1,
        user: None,
        sync_us: None,
        temporary: TEMPORARY.map(PathBuf::from).into(),
    }
}
