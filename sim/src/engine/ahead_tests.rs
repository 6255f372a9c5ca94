use super::{Engine, Setup};
use crate::setup::roster::Roster;
use crate::world::host::Software;
use crate::world::recorder::Recorder;
use crate::world::server::Server;
use crate::world::tasks::TaskFuture;
use bytes::{Bytes, BytesMut};
use fencepost_clients::{Address, Env};
use fencepost_faults::{Micros, Node, Seed, SimTime};
use fencepost_machine::{ConnectionId, Input, Machine, Now, Output, Outputs};
use fencepost_reports::{Action, What};
use std::rc::Rc;
use std::time::Duration;

const WAITER: Node = Node::Client(1);
const SECOND: Duration = Duration::from_secs(1);

struct PeerServer {
    number: u16,
    to: Option<ConnectionId>,
}

impl Machine for PeerServer {
    fn handle(&mut self, input: Input<'_>, _: Now, out: &mut Outputs) {
        let other = ConnectionId(u32::MAX);
        match input {
            Input::Received { connection, bytes } if connection.was_accepted() => {
                out.commands += 1;
                out.list.push(Output::Send { connection, bytes: Bytes::copy_from_slice(bytes) });
            }
            Input::Connected { connection } => self.to = Some(connection),
            Input::Timer => {
                out.list.push(Output::WakeAfter { micros: 1_000_000 });
                out.list.extend((self.number == 1).then(|| match self.to {
                    None => Output::Connect { connection: other, host: "redis-2".into(), port: 1 },
                    Some(connection) => {
                        Output::Send { connection, bytes: Bytes::from_static(b"tick") }
                    }
                }));
            }
            _ => {}
        }
    }
}

fn is_silence_reported(service_time: Micros, waits: fn(Env) -> TaskFuture) -> bool {
    let recorder = Rc::new(Recorder::default());
    recorder.report_silences_beyond(Micros::from_secs(1), None);
    let roster = Rc::new(Roster::new(Seed(1), &[WAITER], 1));
    let server = |number| {
        let server = Server::new(
            service_time,
            Micros(0),
            Box::new(move |_, _| Box::new(PeerServer { number, to: None })),
        );
        (Node::Redis(number), Software::Machine(Box::new(server)))
    };
    let send_request = recorder.clone();
    let boot = move |env| -> TaskFuture {
        send_request.invoke(WAITER, Action::Acquire);
        waits(env)
    };
    let hosts = vec![server(1), server(2), (WAITER, Software::Program(Rc::new(boot)))];
    let setup = Setup {
        recorder: recorder.clone(),
        limit: SimTime(10_050_000),
        ..Setup::calm(Seed(1), hosts, roster)
    };
    setup.run(Engine::Fast).unwrap();
    let events = recorder.take();
    let last = events.iter().rev().find_map(|event| match event.what {
        What::Silent { ahead, .. } => Some(ahead),
        _ => None,
    });
    last.expect("the silence of the process is told")
}

async fn gives_up_a_timer(env: &Env) {
    env.timeout(50 * SECOND, env.sleep(SECOND)).await;
}

#[test]
fn a_timer_that_took_the_place_of_an_earlier_one_lies_ahead() {
    assert!(is_silence_reported(Micros(0), |env| Box::pin(async move {
        gives_up_a_timer(&env).await;
        env.sleep(200 * SECOND).await;
    })));
}

#[test]
fn a_limit_that_was_put_off_lies_ahead() {
    assert!(is_silence_reported(Micros(0), |env| Box::pin(async move {
        let address = Address { host: "redis-1".to_owned(), port: 1 };
        let mut socket = env.connect(&address).await.unwrap();
        socket.limit(50 * SECOND);
        socket.limit(200 * SECOND);
        let _ = socket.read(&mut BytesMut::new()).await;
    })));
}

#[test]
fn a_timer_that_was_given_up_does_not_lie_ahead() {
    assert!(!is_silence_reported(Micros(0), |env| Box::pin(async move {
        gives_up_a_timer(&env).await;
        std::future::pending::<()>().await;
    })));
}

fn send_request(env: Env) -> TaskFuture {
    Box::pin(async move {
        env.sleep(SECOND / 2).await;
        let address = Address { host: "redis-2".to_owned(), port: 1 };
        let mut socket = env.connect(&address).await.unwrap();
        socket.write_all(b"word").await.unwrap();
        let _ = socket.read(&mut BytesMut::new()).await;
        let _ = socket.read(&mut BytesMut::new()).await;
    })
}

#[test]
fn an_answer_that_a_server_is_at_work_on_lies_ahead() {
    assert!(is_silence_reported(Micros::from_secs(60), send_request));
}

#[test]
fn what_servers_are_at_work_on_for_each_other_does_not_lie_ahead() {
    assert!(!is_silence_reported(Micros::from_secs(3), send_request), "the process has its answer");
}
