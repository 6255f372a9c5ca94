use super::{CLIENTS, Engine, play_with};
use crate::setup::roster::Roster;
use crate::world::recorder::Recorder;
use crate::world::tasks::TaskFuture;
use bytes::{Bytes, BytesMut};
use fencepost_clients::{Address, Env};
use fencepost_faults::{Fault, FaultKind, FaultPlan, Micros, Node, Seed, SimTime, TimedFault};
use fencepost_machine::{Input, Machine, Now, Output, Outputs};
use fencepost_reports::{Event, What};
use std::io::ErrorKind;
use std::rc::Rc;
use std::time::Duration;

const SERVER: Node = Node::Redis(1);

#[derive(Default)]
struct Counter(u64);

impl Machine for Counter {
    fn handle(&mut self, input: Input<'_>, _: Now, out: &mut Outputs) {
        if let Input::Received { connection, .. } = input {
            out.commands += 1;
            self.0 += 1;
            out.list.push(Output::Send { connection, bytes: Bytes::from(self.0.to_string()) });
        }
    }
}

async fn count(env: Env, node: Node, recorder: Rc<Recorder>, roster: Rc<Roster>) {
    let (member, mut socket) = (roster.member(node), None);
    while member.cycles_left.get() > 0 {
        member.cycles_left.set(member.cycles_left.get() - 1);
        env.sleep(env.jitter(&(Duration::from_millis(1)..=Duration::from_secs(1)))).await;
        let answer = ask(&env, &mut socket).await;
        if answer.is_err() {
            socket = None;
        }
        recorder.fail(node, 0, format!("{answer:?}"));
    }
    roster.finish(node);
}

async fn ask(
    env: &Env,
    socket: &mut Option<fencepost_clients::env::Socket>,
) -> Result<u64, ErrorKind> {
    let kind = |error: std::io::Error| error.kind();
    if socket.is_none() {
        let address = Address { host: SERVER.to_string(), port: 1 };
        *socket = Some(env.connect(&address).await.map_err(kind)?);
    }
    let (socket, mut got) = (socket.as_mut().expect("just connected"), BytesMut::new());
    socket.write_all(b"count").await.map_err(kind)?;
    socket.read(&mut got).await.map_err(kind)?;
    Ok(String::from_utf8_lossy(&got).parse().expect("a number"))
}

fn plan(lost: fn(Node, Micros) -> Fault) -> FaultPlan {
    let traps = [(1, 2), (2, 2), (3, 4), (1, 9)];
    let timed = |(id, (client, at)): (u32, (u16, u64))| TimedFault {
        id,
        at_us: SimTime(at * 1_000_000),
        fault: lost(Node::Client(client), Micros::from_secs(5)),
    };
    FaultPlan::new((1..).zip(traps).map(timed).collect())
}

type Hit = (FaultKind, Vec<Node>);

fn result_of(plan: &FaultPlan, engine: Engine) -> (Vec<u64>, usize, Vec<Hit>) {
    let program = |env, node, recorder, roster| -> TaskFuture {
        Box::pin(count(env, node, recorder, roster))
    };
    let machine = || Box::<Counter>::default() as Box<dyn Machine>;
    let events = play_with((Seed(4), plan, engine), machine, program);
    let answer = |event: &Event| match &event.what {
        What::Fail { reason, .. } => Some(reason.clone()),
        _ => None,
    };
    let answers: Vec<String> = events.iter().filter_map(answer).collect();
    let counts = answers
        .iter()
        .filter_map(|answer| answer.strip_prefix("Ok(")?.strip_suffix(')')?.parse().ok())
        .collect();
    let resets = answers.iter().filter(|answer| *answer == "Err(ConnectionReset)").count();
    let began = |event: &Event| match &event.what {
        What::FaultBegan { kind, nodes, .. } => Some((*kind, nodes.clone())),
        _ => None,
    };
    (counts, resets, events.iter().filter_map(began).collect())
}

const ASKED: u64 = 30 * CLIENTS as u64;

#[test]
fn a_lost_request_is_never_applied_and_breaks_its_connection() {
    let plan =
        plan(|client, duration_us| Fault::LostRequest { server: SERVER, client, duration_us });
    let (counts, resets, faults) = result_of(&plan, Engine::Fast);
    assert_eq!((counts.len() as u64, resets), (ASKED - 4, 4));
    assert_eq!(counts.iter().max(), Some(&(ASKED - 4)), "four commands were never applied");
    let hits = |number| (FaultKind::LostRequest, vec![Node::Client(number), SERVER]);
    assert_eq!(faults.len(), 4);
    assert!([1, 2, 3].map(hits).iter().all(|hit| faults.contains(hit)), "{faults:?}");
    assert_eq!((counts, resets, faults), result_of(&plan, Engine::Turmoil));
}

#[test]
fn a_lost_reply_is_of_a_command_that_was_applied() {
    let plan = plan(|client, duration_us| Fault::LostReply { server: SERVER, client, duration_us });
    let (counts, resets, faults) = result_of(&plan, Engine::Fast);
    assert_eq!((counts.len() as u64, resets), (ASKED - 4, 4));
    assert_eq!(counts.iter().max(), Some(&ASKED), "all commands were applied");
    assert!(faults.iter().all(|(kind, nodes)| *kind == FaultKind::LostReply && nodes[0] == SERVER));
}

#[test]
fn a_trap_that_nobody_meets_does_nothing() {
    let never = |client, _| Fault::LostRequest { server: SERVER, client, duration_us: Micros(100) };
    let (counts, resets, faults) = result_of(&plan(never), Engine::Fast);
    assert_eq!((counts.len() as u64, resets, faults.len()), (ASKED, 0, 0));
}
