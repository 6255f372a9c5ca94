//! The storage's protocol for a user's programs: `GET name [token] [AS holder]`, `SET name value
//! [token] [AS holder]`, and the handshakes of client libraries. Only the value `orders` is
//! guarded. A request belongs to the latest acquisition that the process or the named holder has
//! reported. A write is based on the value that the holder last read, or wrote after a read, even
//! before the acquisition, or else on the current value.

use super::{Request, Storage, answer, error};
use crate::hosts::programs::resp::{answer_handshake, name, number, parse_token, take_pair, words};
use bytes::Bytes;
use fencepost_faults::Node;
use fencepost_machine::{ConnectionId, Output, Outputs};
use fencepost_reports::{Action, What};
use redis_protocol::resp2::types::BytesFrame;

const GUARDED: &[u8] = b"orders";

impl Storage {
    pub(super) fn serve_program(
        &mut self,
        connection: ConnectionId,
        by: Node,
        frame: &BytesFrame,
        out: &mut Outputs,
    ) {
        let Some(mut words) = words(frame) else {
            answer(connection, &error("ERR Protocol error"), out);
            return;
        };
        if let Some(text) = answer_handshake(&words) {
            out.list.push(Output::Send { connection, bytes: Bytes::from(text) });
            return;
        }
        let by = match words.get(1).is_some_and(|name| name == GUARDED) {
            true => self.desk.clone().unwrap_or_default().holder(by, take_pair(&mut words, "AS")),
            false => by,
        };
        match (name(&words[0]).as_str(), words.len()) {
            ("GET", 2 | 3) if words[1] == GUARDED => {
                self.asks(connection, by, None, words.get(2), out);
            }
            ("SET", 3 | 4) if words[1] == GUARDED => match number::<i64>(&words[2]) {
                Some(value) => self.asks(connection, by, Some(value), words.get(3), out),
                None => answer(connection, &error("ERR the guarded value is an integer"), out),
            },
            ("GET", 2) => {
                let found = self.others.get(&words[1]).cloned();
                let frame = found.map_or(BytesFrame::Null, BytesFrame::BulkString);
                answer(connection, &frame, out);
            }
            ("SET", 3..) => {
                self.others.insert(words[1].clone(), words[2].clone());
                answer(connection, &BytesFrame::SimpleString("OK".into()), out);
            }
            _ => {
                let text = "ERR expected GET name [token] or SET name value [token]";
                answer(connection, &error(text), out);
            }
        }
    }

    fn asks(
        &mut self,
        connection: ConnectionId,
        by: Node,
        value: Option<i64>,
        token: Option<&Bytes>,
        out: &mut Outputs,
    ) {
        let token = match parse_token(token) {
            Ok(token) => token,
            Err(text) => return answer(connection, &error(&format!("ERR {text}")), out),
        };
        let desk = self.desk.clone().unwrap_or_default();
        let Some(acquisition) = desk.acquisition(by) else {
            self.answers_unjudged(connection, by, value, out);
            return;
        };
        let based_on = desk.known(by).unwrap_or(self.value);
        let write = value.map(|value| (value, based_on));
        let action = match write {
            Some((value, based_on)) => Action::Write { acquisition, value, based_on },
            None => Action::Read { acquisition },
        };
        let operation = self.recorder.invoke(by, action);
        self.request(connection, Request { operation, by, acquisition, token, write }, out);
    }

    fn answers_unjudged(
        &mut self,
        connection: ConnectionId,
        by: Node,
        value: Option<i64>,
        out: &mut Outputs,
    ) {
        let desk = self.desk.clone().unwrap_or_default();
        let frame = match value {
            Some(value) => {
                self.value = value;
                desk.writes(by, value);
                BytesFrame::SimpleString("OK".into())
            }
            None => {
                desk.reads(by, self.value);
                BytesFrame::BulkString(self.value.to_string().into())
            }
        };
        answer(connection, &frame, out);
    }

    pub(super) fn completes(&self, request: &Request, frame: &BytesFrame) {
        let Some(desk) = &self.desk else { return };
        let operation = request.operation;
        if let BytesFrame::Error(text) = frame {
            self.recorder.fail(request.by, operation, text.to_string());
            return;
        }
        if let Some((value, _)) = request.write {
            desk.writes(request.by, value);
            self.recorder.ok(request.by, operation);
            return;
        }
        desk.reads(request.by, self.value);
        let value = Some(self.value);
        let what = What::Ok { operation, owner: None, token: None, valid_for_us: None, value };
        self.recorder.record(request.by, what);
    }
}
