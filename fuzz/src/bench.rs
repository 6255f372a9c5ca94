//! A [`Bench`] runs one machine, whose clock and network the fuzz target controls.

use crate::pieces;
use fake_redis::{Node, NodeConfig};
use fencepost_machine::{ConnectionId, DiskImage, Input, Machine, Now, Output, Outputs, WallTime};

pub const START: WallTime = WallTime(1_700_000_000_000_000);
const ROUNDS_MAX: usize = 1_000_000;

pub struct Bench<M> {
    machine: M,
    pub now: WallTime,
    pub sent: Vec<(ConnectionId, Vec<u8>)>,
    /// Connections that the machine opened and has not closed, oldest first.
    pub opened: Vec<ConnectionId>,
    /// Image of the machine's last `DiskReplace`.
    pub image: Option<DiskImage>,
    /// `true` if the machine has stopped, or did not start.
    pub stopped: bool,
    syncs: usize,
    accepted: u32,
}

impl Bench<Node> {
    pub fn server(config: NodeConfig, disk: DiskImage) -> Bench<Node> {
        Bench::of(Node::new(config, disk, 1, START))
    }
}

impl<M: Machine> Bench<M> {
    pub fn of(machine: M) -> Bench<M> {
        let (sent, opened) = (Vec::new(), Vec::new());
        let (image, stopped, syncs, accepted) = (None, false, 0, 0);
        let mut bench =
            Bench { machine, now: START, sent, opened, image, stopped, syncs, accepted };
        bench.input(Input::Timer);
        bench
    }

    pub fn accept(&mut self) -> ConnectionId {
        let connection = ConnectionId(self.accepted);
        self.accepted += 1;
        self.input(Input::Accepted { connection, peer: "127.0.0.1:50000" });
        connection
    }

    /// Sends a greeting on the first of three connections, plays an input, and returns the reply to
    /// a new client's `request`.
    pub fn converse(
        &mut self,
        greeting: &[u8],
        input: &[u8],
        called: Option<u8>,
        request: &[u8],
    ) -> Vec<u8> {
        let clients = [self.accept(), self.accept(), self.accept()];
        if !greeting.is_empty() {
            self.receive(clients[0], greeting);
        }
        self.play(clients, 0, input, called, |server, _| server.sent.clear());
        let last = self.accept();
        self.receive(last, request);
        self.sent.iter().filter(|(to, _)| *to == last).flat_map(|(_, said)| said.clone()).collect()
    }

    pub fn receive(&mut self, connection: ConnectionId, bytes: &[u8]) {
        self.input(Input::Received { connection, bytes });
    }

    pub fn pass(&mut self, millis: u64) {
        self.now.0 += i64::try_from(millis).unwrap_or(0) * 1_000;
        self.input(Input::Timer);
    }

    /// Sends the pieces of an input to the machine, and calls `look` with the kind of each piece.
    /// Pieces of kinds 0 to 2 are bytes from the three clients, and kind 3 lets time pass. Kinds
    /// from `called` on are bytes from the server that the machine called last. All other kinds
    /// reconnect all clients but the first `kept`.
    pub fn play(
        &mut self,
        mut clients: [ConnectionId; 3],
        kept: usize,
        input: &[u8],
        called: Option<u8>,
        look: impl Fn(&mut Bench<M>, u8),
    ) {
        for (kind, bytes) in pieces(input) {
            match kind {
                0..=2 => self.receive(clients[usize::from(kind)], bytes),
                3 => self.pass(bytes.iter().map(|byte| u64::from(*byte)).sum()),
                _ if called.is_some_and(|called| called <= kind) => {
                    if let Some(server) = self.opened.last().copied() {
                        self.receive(server, bytes);
                    }
                }
                _ => {
                    for client in &mut clients[kept..] {
                        self.input(Input::Closed { connection: *client });
                        *client = self.accept();
                    }
                }
            }
            look(self, kind);
        }
    }

    pub fn ask(&mut self, words: &[&[u8]]) -> Vec<u8> {
        let connection = self.accept();
        self.sent.clear();
        self.receive(connection, &encode(words));
        let answers = self.sent.iter().filter(|(to, _)| *to == connection);
        answers.flat_map(|(_, bytes)| bytes.clone()).collect()
    }

    /// Passes an input to the machine. The machine's connects and disk syncs succeed immediately.
    pub fn input(&mut self, input: Input<'_>) {
        let mut out = Outputs::default();
        self.machine.handle(input, Now::unstepped(self.now), &mut out);
        for _ in 0..ROUNDS_MAX {
            let connects = self.sort_outputs(&mut out);
            let more = out.more;
            out.clear();
            for connection in &connects {
                self.machine.handle(
                    Input::Connected { connection: *connection },
                    Now::unstepped(self.now),
                    &mut out,
                );
            }
            if more {
                self.machine.handle(Input::Continue, Now::unstepped(self.now), &mut out);
            } else if self.syncs > 0 {
                self.syncs -= 1;
                self.machine.handle(Input::DiskSynced, Now::unstepped(self.now), &mut out);
            } else if connects.is_empty() {
                return;
            }
        }
        panic!("the machine never runs out of commands");
    }

    fn sort_outputs(&mut self, out: &mut Outputs) -> Vec<ConnectionId> {
        let mut connects = Vec::new();
        self.stopped |= out.stopped;
        for output in out.list.drain(..) {
            match output {
                Output::Send { connection, bytes } => self.sent.push((connection, bytes.to_vec())),
                Output::Connect { connection, .. } => connects.push(connection),
                Output::Close { connection } | Output::Abort { connection } => {
                    self.opened.retain(|open| *open != connection);
                }
                Output::DiskSync => self.syncs += 1,
                Output::DiskReplace { image } => self.image = Some(image),
                _ => {}
            }
        }
        self.opened.extend(&connects);
        connects
    }
}

pub fn encode(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}
