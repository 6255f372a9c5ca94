use super::{Echo, Engine, SERVERS, echo, play_with};
use crate::setup::roster::Roster;
use crate::world::recorder::Recorder;
use crate::world::tasks::TaskFuture;
use bytes::{Bytes, BytesMut};
use fencepost_clients::env::Draw;
use fencepost_clients::{Address, Env};
use fencepost_faults::setting::{Setting, Topology};
use fencepost_faults::{FaultPlan, Micros, Node, Seed, generate};
use fencepost_machine::{Input, Machine, Now, Output, Outputs};
use fencepost_reports::{Event, What};
use std::io::ErrorKind;
use std::rc::Rc;
use std::time::Duration;

const WORDS: u64 = 5;

#[derive(Default)]
struct SyncingServer {
    held: Vec<Output>,
}

impl Machine for SyncingServer {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        match input {
            Input::DiskSynced => out.list.append(&mut self.held),
            Input::Received { .. } => {
                Echo.handle(input, now, out);
                self.held.append(&mut out.list);
                out.list.push(Output::DiskAppend { bytes: Bytes::from_static(b"word") });
                out.list.push(Output::DiskSync);
            }
            _ => {}
        }
    }

    fn will_send(&self) -> bool {
        !self.held.is_empty()
    }
}

async fn ask(env: Env, node: Node, recorder: Rc<Recorder>, roster: Rc<Roster>) {
    let member = roster.member(node);
    while member.cycles_left.get() > 0 {
        member.cycles_left.set(member.cycles_left.get() - 1);
        env.sleep(env.jitter(&(Duration::from_millis(1)..=Duration::from_secs(4)))).await;
        let host = format!("redis-{}", 1 + env.random(Draw::Owner) % u64::from(SERVERS));
        let asked = env.timeout(Duration::from_secs(8), converse(&env, host)).await;
        recorder.fail(node, 0, format!("{asked:?}"));
    }
    roster.finish(node);
}

async fn converse(env: &Env, host: String) -> Result<usize, ErrorKind> {
    let kind = |error: std::io::Error| error.kind();
    let mut socket = env.connect(&Address { host, port: 1 }).await.map_err(kind)?;
    for word in 0..WORDS {
        socket.write_all(&word.to_be_bytes()).await.map_err(kind)?;
    }
    socket.shutdown();
    let late = socket.write_all(b"late").await.map_err(kind);
    assert_eq!(late, Err(ErrorKind::BrokenPipe), "nothing is sent behind the end");
    let mut got = BytesMut::new();
    while socket.read(&mut got).await.map_err(kind)? > 0 {}
    for (word, bytes) in (0..).zip(got.chunks_exact(8)) {
        assert_eq!(bytes, u64::to_be_bytes(word), "answers keep their order");
    }
    Ok(got.len())
}

fn play(
    seed: Seed,
    plan: &FaultPlan,
    engine: Engine,
    machine: fn() -> Box<dyn Machine>,
) -> Recorded {
    let program =
        |env, node, recorder, roster| -> TaskFuture { Box::pin(ask(env, node, recorder, roster)) };
    Recorded(play_with((seed, plan, engine), machine, program))
}

#[derive(PartialEq, Debug)]
struct Recorded(Vec<Event>);

impl Recorded {
    fn reasons(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|event| match &event.what {
            What::Fail { reason, .. } => Some(reason.as_str()),
            _ => None,
        })
    }
}

const ALL: &str = "Some(Ok(40))";

#[test]
fn a_server_answers_what_was_asked_before_the_end_and_then_closes() {
    for machine in [echo, || Box::<SyncingServer>::default() as Box<dyn Machine>] {
        let told = play(Seed(0), &FaultPlan::default(), Engine::Fast, machine);
        let reasons: Vec<&str> = told.reasons().collect();
        assert_eq!(reasons.len(), 90);
        assert!(reasons.iter().all(|reason| *reason == ALL), "{reasons:?}");
    }
}

#[test]
fn both_engines_end_half_of_a_connection_alike() {
    let topology = Topology::Independent { masters: SERVERS, quorum: 2 };
    let setting = Setting::new(topology, super::CLIENTS, Micros::from_secs(10));
    let families = "all".parse().unwrap();
    let (mut whole, mut broken) = (0, 0);
    for seed in (0..20).map(Seed) {
        let plan = generate(seed, &families, &setting);
        let [fast, turmoil] =
            [Engine::Fast, Engine::Turmoil].map(|engine| play(seed, &plan, engine, echo));
        let first_difference = fast.0.iter().zip(&turmoil.0).find(|(a, b)| a != b);
        assert_eq!((first_difference, fast.0.len()), (None, turmoil.0.len()), "seed {seed}");
        whole += fast.reasons().filter(|reason| *reason == ALL).count();
        broken += fast.reasons().filter(|reason| *reason != ALL).count();
    }
    assert!(whole > 20 * 50 && broken > 20, "{whole} whole, {broken} broken");
}
