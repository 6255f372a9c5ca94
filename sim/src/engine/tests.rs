mod half_closed;
mod lost;

use super::{Engine, Setup};
use crate::setup::roster::Roster;
use crate::world::host::Software;
use crate::world::recorder::Recorder;
use crate::world::server::Server;
use crate::world::tasks::TaskFuture;
use bytes::{Bytes, BytesMut};
use fencepost_clients::env::Draw;
use fencepost_clients::{Address, Env};
use fencepost_faults::setting::{Setting, Topology};
use fencepost_faults::{
    Direction, Fault, FaultPlan, Micros, Node, Seed, SimTime, TimedFault, generate,
};
use fencepost_machine::{Input, Machine, Now, Output, Outputs};
use fencepost_reports::{Event, What};
use std::rc::Rc;
use std::time::Duration;

const SERVERS: u16 = 3;
const CLIENTS: u16 = 3;
const SYNC: Micros = Micros::from_millis(20);
const LIMIT: Duration = Duration::from_millis(900);

struct Echo;

impl Machine for Echo {
    fn handle(&mut self, input: Input<'_>, _: Now, out: &mut Outputs) {
        if let Input::Received { connection, bytes } = input {
            out.commands += 1;
            out.list.push(Output::Send { connection, bytes: Bytes::copy_from_slice(bytes) });
        }
    }
}

struct Greeter;

impl Machine for Greeter {
    fn handle(&mut self, input: Input<'_>, _: Now, out: &mut Outputs) {
        if let Input::Accepted { connection, .. } = input {
            out.list.push(Output::Send { connection, bytes: Bytes::from_static(b"hello") });
        }
    }
}

async fn read_greeting(env: Env, node: Node, recorder: Rc<Recorder>, roster: Rc<Roster>) {
    let member = roster.member(node);
    while member.cycles_left.get() > 0 {
        member.cycles_left.set(member.cycles_left.get() - 1);
        env.sleep(env.jitter(&(Duration::from_millis(1)..=Duration::from_secs(4)))).await;
        let host = format!("redis-{}", 1 + env.random(Draw::Owner) % u64::from(SERVERS));
        let address = Address { host, port: 1 };
        let hear = async {
            let mut got = BytesMut::new();
            let mut socket = env.connect(&address).await.map_err(|error| error.kind())?;
            socket.read(&mut got).await.map_err(|error| error.kind())?;
            Ok::<_, std::io::ErrorKind>(got)
        };
        let heard = env.timeout(Duration::from_millis(700), hear).await;
        recorder.fail(node, 0, format!("{heard:?} at {:?}", env.monotonic_clock()));
    }
    roster.finish(node);
}

async fn chat(env: Env, node: Node, recorder: Rc<Recorder>, roster: Rc<Roster>) {
    let member = roster.member(node);
    let mut socket = None;
    while member.cycles_left.get() > 0 {
        member.cycles_left.set(member.cycles_left.get() - 1);
        env.sleep(env.jitter(&(Duration::from_millis(1)..=Duration::from_secs(4)))).await;
        let ended = env.timeout(Duration::from_millis(700), exchange(&env, &mut socket)).await;
        if ended != Some(Ok(())) {
            socket = None;
        }
        recorder.fail(
            node,
            0,
            format!("{ended:?} at {:?} {:?}", env.wall_clock(), env.monotonic_clock()),
        );
    }
    roster.finish(node);
}

async fn exchange(
    env: &Env,
    socket: &mut Option<fencepost_clients::env::Socket>,
) -> Result<(), std::io::ErrorKind> {
    let word = env.random(Draw::Owner);
    if socket.is_none() {
        let host = format!("redis-{}", 1 + word % u64::from(SERVERS));
        *socket =
            Some(env.connect(&Address { host, port: 1 }).await.map_err(|error| error.kind())?);
    }
    let socket = socket.as_mut().expect("just connected");
    let sent = word.to_be_bytes().repeat(1 + (word % 7) as usize);
    socket.write_all(&sent).await.map_err(|error| error.kind())?;
    let mut got = BytesMut::new();
    while got.len() < sent.len() {
        if socket.read(&mut got).await.map_err(|error| error.kind())? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof);
        }
    }
    assert_eq!(got, sent, "an echo is what was sent");
    Ok(())
}

async fn wait_for_no_reply(env: Env, node: Node, recorder: Rc<Recorder>, roster: Rc<Roster>) {
    let member = roster.member(node);
    while member.cycles_left.get() > 0 {
        member.cycles_left.set(member.cycles_left.get() - 1);
        let Ok(mut socket) = env.connect(&Address { host: "redis-1".to_owned(), port: 1 }).await
        else {
            break;
        };
        let mut got = BytesMut::new();
        socket.limit(Duration::from_millis(20));
        socket.lift_limit();
        let lifted = env.timeout(Duration::from_millis(50), socket.read(&mut got)).await;
        assert!(lifted.is_none(), "{lifted:?}");
        socket.write_all(b"echo").await.expect("the connection is open");
        assert_eq!(socket.read(&mut got).await.ok(), Some(4));
        socket.limit(Duration::from_millis(20));
        socket.limit(LIMIT);
        let began = env.monotonic_clock();
        let ended = socket.read(&mut got).await.map_err(|error| error.kind());
        recorder.fail(
            node,
            0,
            format!("{ended:?} {}", env.monotonic_clock().since(began).as_micros()),
        );
    }
    roster.finish(node);
}

async fn send_numbers(env: Env, node: Node, recorder: Rc<Recorder>, roster: Rc<Roster>) {
    const NUMBERS: u64 = 40;
    let member = roster.member(node);
    while member.cycles_left.get() > 0 {
        member.cycles_left.set(member.cycles_left.get() - 1);
        let host = format!("redis-{}", 1 + env.random(Draw::Owner) % u64::from(SERVERS));
        let address = Address { host, port: 1 };
        let connect = env.connect(&address);
        let mut got = BytesMut::new();
        if let Some(Ok(mut socket)) = env.timeout(Duration::from_secs(9), connect).await {
            for number in 0..NUMBERS {
                if socket.write_all(&number.to_be_bytes()).await.is_err() {
                    break;
                }
                env.sleep(env.jitter(&(Duration::ZERO..=Duration::from_millis(150)))).await;
            }
            socket.limit(Duration::from_secs(20));
            while got.len() < 8 * NUMBERS as usize {
                if socket.read(&mut got).await.is_ok_and(|read| read > 0) {
                    continue;
                }
                break;
            }
        }
        for (number, bytes) in (0..).zip(got.chunks_exact(8)) {
            assert_eq!(bytes, u64::to_be_bytes(number), "bytes keep their order");
        }
        recorder.fail(node, 0, format!("{} bytes", got.len()));
    }
    roster.finish(node);
}

fn play(seed: Seed, plan: &FaultPlan, engine: Engine) -> Vec<Event> {
    play_with((seed, plan, engine), echo, |env, node, recorder, roster| {
        Box::pin(chat(env, node, recorder, roster))
    })
}

fn echo() -> Box<dyn Machine> {
    Box::new(Echo)
}

fn play_with(
    (seed, plan, engine): (Seed, &FaultPlan, Engine),
    machine: fn() -> Box<dyn Machine>,
    program: fn(Env, Node, Rc<Recorder>, Rc<Roster>) -> TaskFuture,
) -> Vec<Event> {
    let recorder = Rc::new(Recorder::default());
    let clients: Vec<Node> = (1..=CLIENTS).map(Node::Client).collect();
    let roster = Rc::new(Roster::new(seed, &clients, 30));
    let server = |number| {
        let server = Server::new(Micros(70), SYNC, Box::new(move |_, _| machine()));
        (Node::Redis(number), Software::Machine(Box::new(server)))
    };
    let client = |node: Node| {
        let (recorder, roster) = (recorder.clone(), roster.clone());
        let boot = move |env| program(env, node, recorder.clone(), roster.clone());
        (node, Software::Program(Rc::new(boot)))
    };
    let hosts: Vec<_> =
        (1..=SERVERS).map(server).chain(clients.iter().map(|node| client(*node))).collect();
    let setup = Setup {
        latency: (Micros(200), Micros(5_000)),
        recorder: recorder.clone(),
        plan: plan.clone(),
        healed_at: plan.heals_at(),
        limit: SimTime(300_000_000),
        ..Setup::calm(seed, hosts, roster)
    };
    setup.run(engine).unwrap();
    recorder.take()
}

#[test]
fn both_engines_tell_the_same_story() {
    let topology = Topology::Independent { masters: SERVERS, quorum: 2 };
    let setting = Setting::new(topology, CLIENTS, Micros::from_secs(10));
    let families = "all".parse().unwrap();
    let mut exchanges = 0;
    for seed in (0..40).map(Seed) {
        let plan = generate(seed, &families, &setting);
        let (fast, turmoil) = (play(seed, &plan, Engine::Fast), play(seed, &plan, Engine::Turmoil));
        let first_difference = fast.iter().zip(&turmoil).find(|(a, b)| a != b);
        assert_eq!(first_difference, None, "seed {seed}, plan {plan:?}");
        assert_eq!(fast.len(), turmoil.len(), "seed {seed}");
        exchanges += fast.len();
    }
    assert!(exchanges > 40 * 30, "the clients talked: {exchanges}");
}

#[test]
fn a_server_that_speaks_first_is_heard_alike() {
    let topology = Topology::Independent { masters: SERVERS, quorum: 2 };
    let setting = Setting::new(topology, CLIENTS, Micros::from_secs(10));
    let families = "all".parse().unwrap();
    let program = |env, node, recorder, roster| -> TaskFuture {
        Box::pin(read_greeting(env, node, recorder, roster))
    };
    let mut greeted = 0;
    for seed in (0..20).map(Seed) {
        let plan = generate(seed, &families, &setting);
        let play = |engine| play_with((seed, &plan, engine), || Box::new(Greeter), program);
        let (fast, turmoil) = (play(Engine::Fast), play(Engine::Turmoil));
        assert_eq!(fast, turmoil, "seed {seed}");
        let is_greeting = |event: &&Event| matches!(&event.what, What::Fail { reason, .. } if reason.contains("hello"));
        greeted += fast.iter().filter(is_greeting).count();
    }
    assert!(greeted > 20 * 60, "{greeted} times");
}

fn slow_and_cut() -> FaultPlan {
    let (clients, servers): (Vec<Node>, Vec<Node>) =
        ((1..=CLIENTS).map(Node::Client).collect(), (1..=SERVERS).map(Node::Redis).collect());
    let delay = |from: &[Node], to: &[Node]| Fault::Delay {
        from: from.to_vec(),
        to: to.to_vec(),
        extra_us_min: Micros(0),
        extra_us_max: Micros::from_secs(3),
        duration_us: Micros::from_secs(250),
    };
    let cut = Fault::Partition {
        side_a: clients.clone(),
        side_b: servers.clone(),
        direction: Direction::Both,
        duration_us: Micros::from_millis(150),
    };
    let delays = [delay(&clients, &servers), delay(&servers, &clients)].map(|fault| (0, fault));
    let cuts = (1..300).map(|number| (number * 800_000, cut.clone()));
    let faults = delays.into_iter().chain(cuts).zip(1..);
    FaultPlan::new(
        faults.map(|((at, fault), id)| TimedFault { id, at_us: SimTime(at), fault }).collect(),
    )
}

#[test]
fn bytes_keep_their_order_however_often_the_network_holds_them_up() {
    let program = |env, node, recorder, roster| -> TaskFuture {
        Box::pin(send_numbers(env, node, recorder, roster))
    };
    for seed in (0..4).map(Seed) {
        let plan = slow_and_cut();
        let [fast, turmoil] = [Engine::Fast, Engine::Turmoil]
            .map(|engine| play_with((seed, &plan, engine), echo, program));
        let first_difference = fast.iter().zip(&turmoil).find(|(a, b)| a != b);
        assert_eq!((first_difference, fast.len()), (None, turmoil.len()), "seed {seed}");
        let whole = |event: &&Event| matches!(&event.what, What::Fail { reason, .. } if reason == "320 bytes");
        let came = fast.iter().filter(whole).count();
        assert!(came > 5, "seed {seed}: {came} times everything came through");
    }
}

#[test]
fn the_limit_of_a_socket_passes_by_the_clock_of_its_host() {
    let topology = Topology::Independent { masters: SERVERS, quorum: 2 };
    let setting = Setting::new(topology, CLIENTS, Micros::from_secs(10));
    for family in ["none", "suspend", "clock-drift"] {
        let families = family.parse().unwrap();
        let mut waits = 0;
        for seed in (0..10).map(Seed) {
            let plan = generate(seed, &families, &setting);
            let program = |env, node, recorder, roster| -> TaskFuture {
                Box::pin(wait_for_no_reply(env, node, recorder, roster))
            };
            for event in play_with((seed, &plan, Engine::Fast), echo, program) {
                let What::Fail { reason, .. } = &event.what else { continue };
                let took = reason
                    .strip_prefix("Err(TimedOut) ")
                    .and_then(|took| took.parse::<u128>().ok());
                let limit = LIMIT.as_micros();
                assert!(
                    took.is_some_and(|took| (limit..=limit + 200).contains(&took)),
                    "{family} {seed}: {reason}"
                );
                waits += 1;
            }
        }
        assert!(waits > 10 * 30, "{family}: {waits} waits");
    }
}
