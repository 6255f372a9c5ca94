use super::step::{Class, Span, Step};
use super::{ScriptError, inexpressible};
use crate::hosts::programs::resp;
use crate::run::{RunOutcome, RunSpec};
use crate::world::wire_log::Carried;
use bytes::{Bytes, BytesMut};
use fencepost_faults::{FaultKind, Node, SimTime};
use fencepost_reports::{What, WireMessage};
use redis_protocol::resp2::decode::decode_bytes_mut;
use redis_protocol::resp2::types::BytesFrame;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const INCOMPARABLE: &[&str] =
    &["INFO", "HELLO", "CLIENT", "COMMAND", "ROLE", "TIME", "CONFIG", "LASTSAVE", "MEMORY"];
const SUBSCRIBES: &[&str] = &["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR"];
const ABSOLUTE: &[&str] = &["PXAT", "EXAT", "PEXPIREAT", "EXPIREAT"];

#[derive(Default)]
struct Connection {
    asked: BytesMut,
    answered: BytesMut,
    commands: Vec<bool>,
    replies: usize,
    has_subscribed: bool,
}

pub(super) fn transcript(
    spec: &RunSpec,
    outcome: &RunOutcome,
    span: Span,
) -> Result<Vec<Step>, ScriptError> {
    let trace = outcome.trace.as_ref().map_or(&[][..], |trace| &trace.messages);
    let lost = lost_requests(spec, outcome);
    let mut connections: BTreeMap<u32, Connection> = BTreeMap::new();
    let mut steps = Vec::new();
    for carried in in_order_of_arrival(trace, &outcome.carried) {
        let message = &trace[carried.message];
        let at = message.arrived_us.unwrap_or(message.sent_us);
        let is_lost = lost.contains(&(at, message.to, message.from.machine()));
        if at > span.until || is_lost {
            continue;
        }
        let connection = connections.entry(carried.connection).or_default();
        let step = |class, what| Step { at, class, what };
        match (&carried.bytes, message.from.is_process()) {
            (None, true) => steps.push(step(
                Class::Command,
                json!({
                    "do": "close",
                    "by": message.from.to_string(),
                    "connection": carried.connection,
                }),
            )),
            (None, false) => {}
            (Some(bytes), true) => {
                let commands = connection.read_requests(bytes, message)?;
                let of = |words| command(words, carried.connection, message);
                steps.extend(commands.into_iter().map(|words| step(Class::Command, of(words))));
            }
            (Some(bytes), false) => {
                let replies = connection.answers(bytes, message)?;
                let of = |(number, reply)| answer(number, reply, carried.connection, message);
                steps.extend(replies.into_iter().map(|reply| step(Class::Reply, of(reply))));
            }
        }
    }
    Ok(steps)
}

fn in_order_of_arrival<'c>(trace: &[WireMessage], all: &'c [Carried]) -> Vec<&'c Carried> {
    let is_server = |node: Node| node.is_server() || matches!(node, Node::Sentinel(_));
    let is_wanted = |carried: &&Carried| {
        let WireMessage { from, to, arrived_us, .. } = &trace[carried.message];
        let is_talk = from.is_process() && is_server(*to) || is_server(*from) && to.is_process();
        is_talk && (arrived_us.is_some() || carried.bytes.is_none())
    };
    let mut wanted: Vec<&Carried> = all.iter().filter(is_wanted).collect();
    let arrival = |carried: &&Carried| {
        let message = &trace[carried.message];
        let at = message.arrived_us.unwrap_or(message.sent_us);
        (at, message.from.machine(), carried.message)
    };
    wanted.sort_by_key(arrival);
    wanted
}

fn lost_requests(spec: &RunSpec, outcome: &RunOutcome) -> BTreeSet<(SimTime, Node, Node)> {
    let taken = outcome.history.events.iter().filter_map(|event| match &event.what {
        What::FaultBegan { fault, kind: FaultKind::LostRequest, .. } => {
            let timed = spec.plan.faults.iter().find(|timed| timed.id == *fault)?;
            match timed.fault {
                fencepost_faults::Fault::LostRequest { server, client, .. } => {
                    Some((event.time_us, server, client))
                }
                _ => None,
            }
        }
        _ => None,
    });
    taken.collect()
}

impl Connection {
    fn read_requests(
        &mut self,
        bytes: &[u8],
        message: &WireMessage,
    ) -> Result<Vec<Vec<Bytes>>, ScriptError> {
        self.asked.extend_from_slice(bytes);
        let mut commands = Vec::new();
        loop {
            let words = match resp::next_command(&mut self.asked) {
                Ok(Some(words)) => words,
                Ok(None) => return Ok(commands),
                Err(()) => return not_resp2(message.from),
            };
            let name = resp::name(&words[0]);
            let absolute = words.iter().map(resp::name).find(|it| ABSOLUTE.contains(&&**it));
            if let Some(absolute) = absolute {
                return inexpressible(format!(
                    "{} sends {absolute}, a time of the simulated clock",
                    message.from
                ));
            }
            self.has_subscribed |= SUBSCRIBES.contains(&name.as_str());
            self.commands.push(!INCOMPARABLE.contains(&name.as_str()));
            commands.push(words);
        }
    }

    fn answers(
        &mut self,
        bytes: &[u8],
        message: &WireMessage,
    ) -> Result<Vec<(usize, BytesFrame)>, ScriptError> {
        self.answered.extend_from_slice(bytes);
        let mut replies = Vec::new();
        loop {
            let reply = match decode_bytes_mut(&mut self.answered) {
                Ok(Some((reply, ..))) => reply,
                Ok(None) => return Ok(replies),
                Err(_) => return not_resp2(message.to),
            };
            let number = self.replies;
            self.replies += 1;
            if !self.has_subscribed && self.commands.get(number) == Some(&true) {
                replies.push((number, reply));
            }
        }
    }
}

fn not_resp2<T>(client: Node) -> Result<T, ScriptError> {
    inexpressible(format!("{client} does not use the protocol RESP2"))
}

fn command(words: Vec<Bytes>, connection: u32, message: &WireMessage) -> Value {
    json!({
        "do": "command",
        "by": message.from.to_string(),
        "server": message.to.to_string(),
        "connection": connection,
        "words": words.iter().map(text).collect::<Vec<_>>(),
    })
}

fn answer(number: usize, reply: BytesFrame, connection: u32, message: &WireMessage) -> Value {
    json!({
        "do": "reply",
        "by": message.to.to_string(),
        "connection": connection,
        "number": number,
        "value": value(&reply),
    })
}

fn value(frame: &BytesFrame) -> Value {
    match frame {
        BytesFrame::SimpleString(bytes) | BytesFrame::BulkString(bytes) => text(bytes),
        BytesFrame::Error(error) => json!({ "error": error.to_string() }),
        BytesFrame::Integer(number) => json!(number),
        BytesFrame::Array(items) => items.iter().map(value).collect(),
        BytesFrame::Null => Value::Null,
    }
}

fn text(bytes: &Bytes) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!(text),
        Err(_) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "hex": hex })
        }
    }
}
