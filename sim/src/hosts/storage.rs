//! The protected storage, with one guarded value and a rule for fencing tokens. `READ operation
//! acquisition token` returns the value, and `WRITE operation acquisition token value based-on`
//! returns `OK`. A token of `-` means no token. Both commands return the error `STALE` if the rule
//! checks the token and the storage has seen a higher one (Kleppmann 2016).

mod programs;

use crate::hosts::programs::desk::HolderDesk;
use crate::world::recorder::Recorder;
use bytes::{Bytes, BytesMut};
use fencepost_faults::Node;
use fencepost_machine::wording::{self, Wording};
use fencepost_machine::{ConnectionId, Input, Machine, Now, Output, Outputs};
use fencepost_reports::record::history::Access;
use fencepost_reports::{StorageRule, What};
use redis_protocol::resp2::decode::decode_bytes_mut;
use redis_protocol::resp2::encode::extend_encode;
use redis_protocol::resp2::types::BytesFrame;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

const CHECK_TO_WRITE_US: u64 = 5_000;

pub(crate) struct Storage {
    rule: StorageRule,
    value: i64,
    highest: Option<u64>,
    answers: BTreeMap<u64, BytesFrame>,
    connections: BTreeMap<ConnectionId, Connection>,
    checked: VecDeque<(ConnectionId, Request)>,
    recorder: Rc<Recorder>,
    desk: Option<Rc<HolderDesk>>,
    others: BTreeMap<Bytes, Bytes>,
}

struct Connection {
    peer: Node,
    buffer: BytesMut,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Request {
    operation: u64,
    by: Node,
    acquisition: u64,
    token: Option<u64>,
    write: Option<(i64, i64)>,
}

impl Storage {
    pub(crate) fn new(rule: StorageRule, value: i64, recorder: Rc<Recorder>) -> Storage {
        Storage {
            rule,
            value,
            highest: None,
            answers: BTreeMap::new(),
            connections: BTreeMap::new(),
            checked: VecDeque::new(),
            recorder,
            desk: None,
            others: BTreeMap::new(),
        }
    }

    pub(crate) fn for_programs(self, desk: Option<Rc<HolderDesk>>) -> Storage {
        Storage { desk, ..self }
    }

    fn serve(&mut self, connection: ConnectionId, out: &mut Outputs) {
        let Some(from) = self.connections.get_mut(&connection) else { return };
        let by = from.peer;
        let frame = match decode_bytes_mut(&mut from.buffer) {
            Ok(Some((frame, _, _))) => frame,
            Ok(None) => return,
            Err(_) => {
                out.list.push(Output::Close { connection });
                return;
            }
        };
        out.commands += 1;
        out.more = !from.buffer.is_empty();
        if self.desk.is_some() {
            self.serve_program(connection, by, &frame, out);
            return;
        }
        match parse(&frame, by) {
            Some(request) => self.request(connection, request, out),
            None => {
                answer(connection, &error("ERR expected READ or WRITE with its arguments"), out)
            }
        }
    }

    fn request(&mut self, connection: ConnectionId, request: Request, out: &mut Outputs) {
        if let Some(first) = self.answers.get(&request.operation) {
            answer(connection, first, out);
            return;
        }
        let is_stale =
            self.checks(&request) && request.token.is_some_and(|token| Some(token) < self.highest);
        if is_stale {
            self.note(&request, false, self.value);
            self.reply(connection, &request, error("STALE a higher token has been seen"), out);
            return;
        }
        if self.rule.checks().writes_late && request.write.is_some() {
            self.checked.push_back((connection, request));
            out.list.push(Output::WakeAfter { micros: CHECK_TO_WRITE_US });
            return;
        }
        self.accept(connection, &request, out);
    }

    fn accept(&mut self, connection: ConnectionId, request: &Request, out: &mut Outputs) {
        if self.checks(request) {
            self.highest = self.highest.max(request.token);
        }
        let before = self.value;
        let reply = match request.write {
            Some((value, _)) => {
                self.value = value;
                BytesFrame::SimpleString(Bytes::from_static(b"OK"))
            }
            None if self.desk.is_some() => BytesFrame::BulkString(self.value.to_string().into()),
            None => BytesFrame::Integer(self.value),
        };
        self.note(request, true, before);
        self.reply(connection, request, reply, out);
    }

    fn checks(&self, request: &Request) -> bool {
        let checks = self.rule.checks();
        if request.write.is_some() { checks.writes } else { checks.reads }
    }

    fn note(&self, request: &Request, accepted: bool, before: i64) {
        let what = What::Storage {
            operation: request.operation,
            by: request.by,
            access: if request.write.is_some() { Access::Write } else { Access::Read },
            token: request.token,
            acquisition: request.acquisition,
            accepted,
            before,
            after: self.value,
            based_on: request.write.map(|(_, based_on)| based_on),
        };
        self.recorder.record(Node::Storage, what);
    }

    fn reply(
        &mut self,
        connection: ConnectionId,
        request: &Request,
        frame: BytesFrame,
        out: &mut Outputs,
    ) {
        self.completes(request, &frame);
        answer(connection, &frame, out);
        self.answers.insert(request.operation, frame);
    }
}

impl Machine for Storage {
    fn handle(&mut self, input: Input<'_>, _: Now, out: &mut Outputs) {
        match input {
            Input::Accepted { connection, peer } => {
                let name = peer.split(':').next().unwrap_or_default();
                if let Ok(peer) = name.parse() {
                    self.connections
                        .insert(connection, Connection { peer, buffer: BytesMut::new() });
                }
            }
            Input::Received { connection, bytes } => {
                if let Some(from) = self.connections.get_mut(&connection) {
                    from.buffer.extend_from_slice(bytes);
                }
                self.serve(connection, out);
            }
            Input::Continue => {
                let waiting = self
                    .connections
                    .iter()
                    .find(|(_, from)| !from.buffer.is_empty())
                    .map(|(id, _)| *id);
                if let Some(connection) = waiting {
                    self.serve(connection, out);
                }
            }
            Input::Closed { connection } => {
                self.connections.remove(&connection);
            }
            Input::Timer => {
                if let Some((connection, request)) = self.checked.pop_front() {
                    self.accept(connection, &request, out);
                }
                if !self.checked.is_empty() {
                    out.list.push(Output::WakeAfter { micros: CHECK_TO_WRITE_US });
                }
            }
            Input::Connected { .. }
            | Input::ConnectFailed { .. }
            | Input::DiskSynced
            | Input::DiskFailed { .. }
            | Input::Unsent { .. }
            | Input::Operator { .. } => {}
        }
    }

    fn wording(&self) -> Wording {
        wording::resp
    }
}

fn parse(frame: &BytesFrame, by: Node) -> Option<Request> {
    let BytesFrame::Array(items) = frame else { return None };
    let text = |index: usize| match items.get(index) {
        Some(BytesFrame::BulkString(bytes)) => std::str::from_utf8(bytes).ok(),
        _ => None,
    };
    let (operation, acquisition) = (text(1)?.parse().ok()?, text(2)?.parse().ok()?);
    let token = match text(3)? {
        "-" => None,
        token => Some(token.parse().ok()?),
    };
    let write = match text(0)? {
        "READ" => None,
        "WRITE" => Some((text(4)?.parse().ok()?, text(5)?.parse().ok()?)),
        _ => return None,
    };
    Some(Request { operation, by, acquisition, token, write })
}

fn error(text: &str) -> BytesFrame {
    BytesFrame::Error(text.to_owned().into())
}

fn answer(connection: ConnectionId, frame: &BytesFrame, out: &mut Outputs) {
    let mut bytes = BytesMut::with_capacity(32);
    if extend_encode(&mut bytes, frame, false).is_ok() {
        out.list.push(Output::Send { connection, bytes: bytes.freeze() });
    }
}
