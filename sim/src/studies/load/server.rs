use super::Book;
use crate::hosts::coordinators::{Entry, ServerSetup};
use crate::setup::scenario::Scenario;
use crate::world::host::Software;
use crate::world::server::Server;
use fencepost_clients::{Coordinator, ServerLock, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Micros, Node, Seed};
use fencepost_machine::wording::Wording;
use fencepost_machine::{
    DiskImage, Input, Machine, Now, OperatorAction, Output, Outputs, WallTime,
};
use std::rc::Rc;

pub(super) fn node(coordinator: Coordinator) -> Node {
    match coordinator {
        Coordinator::Redis => Node::Redis(1),
        Coordinator::Memcached
        | Coordinator::ZooKeeper
        | Coordinator::PostgreSql
        | Coordinator::MySql
        | Coordinator::Etcd
        | Coordinator::Chubby
        | Coordinator::GemFire
        | Coordinator::Own => Node::Server(1),
    }
}

fn setup<'r>(scenario: &'r Scenario, entry: &Entry, seed: Seed) -> ServerSetup<'r> {
    let topology = match entry.coordinator {
        Coordinator::Redis => Topology::Standalone,
        Coordinator::Memcached
        | Coordinator::ZooKeeper
        | Coordinator::PostgreSql
        | Coordinator::MySql
        | Coordinator::Etcd
        | Coordinator::Chubby
        | Coordinator::GemFire
        | Coordinator::Own => Topology::Ensemble { servers: 1 },
    };
    ServerSetup {
        seed,
        scenario,
        topology,
        tap_prefix: None,
        lock: crate::setup::places::RESOURCE,
        server_lock: ServerLock::Unchecked,
    }
}

pub(super) fn servers(entry: &Entry, seed: Seed, process: Node) -> Servers {
    let scenario = Scenario::default();
    (entry.servers)(&setup(&scenario, entry, seed), process)
}

pub(super) fn server(entry: &Entry, seed: Seed, service: Micros, book: &Rc<Book>) -> Software {
    let (scenario, book) = (Scenario::default(), book.clone());
    let setup = setup(&scenario, entry, seed);
    let mut machine = (entry.machine)(&setup, node(entry.coordinator));
    let factory = move |image: DiskImage, now: Now| -> Box<dyn Machine> {
        let machine = machine(image, now);
        Box::new(Counting { machine, started: now.wall, book: book.clone() })
    };
    Software::Machine(Box::new(Server::new(service, Micros::ZERO, Box::new(factory))))
}

struct Counting {
    machine: Box<dyn Machine>,
    started: WallTime,
    book: Rc<Book>,
}

impl Machine for Counting {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        let received = u64::from(matches!(input, Input::Received { .. }));
        self.machine.handle(input, now, out);
        let is_message = |output: &&Output| matches!(output, Output::Send { .. });
        let sent = out.list.iter().filter(is_message).count() as u64;
        self.book.messages.set(self.book.messages.get() + received + sent);
        if out.commands > 0 {
            let at = now.wall.0.saturating_sub(self.started.0);
            let at = u64::try_from(at).unwrap_or(0);
            self.book.commands.borrow_mut().push((at, u64::from(out.commands)));
        }
    }

    fn supports(&self, action: OperatorAction) -> bool {
        self.machine.supports(action)
    }

    fn will_send(&self) -> bool {
        self.machine.will_send()
    }

    fn wording(&self) -> Wording {
        self.machine.wording()
    }
}
