use crate::protocol::reply::Reply;
use crate::protocol::request::{Limits, RequestReader};
use fencepost_machine::{ConnectionId, Input, Machine, Now, Output, Outputs};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) master: Option<String>,
    pub(super) offset: u64,
    pub(super) priority: u32,
    pub(super) run_id: String,
    pub(super) link_up: bool,
    pub(super) told: Vec<String>,
}

#[derive(Clone)]
pub(super) struct Topology(Rc<RefCell<BTreeMap<String, Part>>>);

impl Topology {
    pub(super) fn new(servers: usize) -> Self {
        let part = |number: usize| Part {
            master: (number > 1).then(|| "redis-1".to_owned()),
            offset: 1_000,
            priority: 100,
            run_id: format!("{number:040}"),
            link_up: true,
            told: Vec::new(),
        };
        let parts = (1..=servers).map(|number| (format!("redis-{number}"), part(number))).collect();
        Self(Rc::new(RefCell::new(parts)))
    }

    pub(super) fn change(&self, server: &str, change: impl FnOnce(&mut Part)) {
        change(self.0.borrow_mut().get_mut(server).unwrap());
    }

    pub(super) fn part(&self, server: &str) -> Part {
        self.0.borrow()[server].clone()
    }

    fn info(&self, server: &str) -> String {
        let parts = self.0.borrow();
        let part = &parts[server];
        let mut text = format!("# Server\r\nrun_id:{}\r\n\r\n# Replication\r\n", part.run_id);
        match &part.master {
            None => text += "role:master\r\n",
            Some(master) => {
                let status = if part.link_up { "up" } else { "down" };
                text += &format!(
                    "role:slave\r\nmaster_host:{master}\r\nmaster_port:6379\r\n\
                     master_link_status:{status}\r\n"
                );
                text += &format!(
                    "slave_repl_offset:{}\r\nslave_priority:{}\r\n",
                    part.offset, part.priority
                );
            }
        }
        let followers = parts.iter().filter(|(_, other)| other.master.as_deref() == Some(server));
        for (number, (name, other)) in followers.enumerate() {
            text += &format!(
                "slave{number}:ip={name},port=6379,state=online,offset={},lag=0\r\n",
                other.offset
            );
        }
        text
    }
}

pub(super) struct ScriptedServer {
    name: String,
    topology: Topology,
    readers: BTreeMap<ConnectionId, RequestReader>,
    subscribers: BTreeSet<ConnectionId>,
}

impl ScriptedServer {
    pub(super) fn new(name: &str, topology: &Topology) -> Self {
        let (name, topology) = (name.to_owned(), topology.clone());
        Self { name, topology, readers: BTreeMap::new(), subscribers: BTreeSet::new() }
    }

    fn execute(&mut self, connection: ConnectionId, words: &[String], out: &mut Outputs) {
        let mut reply = Reply::default();
        let lower: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
        match lower.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["ping"] => reply.status("PONG"),
            ["info"] => reply.bulk(self.topology.info(&self.name).as_bytes()),
            ["subscribe", channel] => {
                self.subscribers.insert(connection);
                reply.array(3);
                reply.bulk(b"subscribe");
                reply.bulk(channel.as_bytes());
                reply.integer(1);
            }
            ["publish", ..] => {
                self.publish(&words[1], &words[2], out);
                reply.count(self.subscribers.len());
            }
            ["slaveof", ..] => {
                let master = (lower[1] != "no").then(|| words[1].clone());
                self.topology.change(&self.name, |part| {
                    part.master = master;
                    part.told.push(words[1..].join(" "));
                });
                reply.ok();
            }
            _ => reply.ok(),
        }
        out.list.push(Output::Send { connection, bytes: reply.take() });
    }

    fn publish(&mut self, channel: &str, message: &str, out: &mut Outputs) {
        for subscriber in &self.subscribers {
            let mut reply = Reply::default();
            reply.array(3);
            [b"message", channel.as_bytes(), message.as_bytes()]
                .iter()
                .for_each(|part| reply.bulk(part));
            out.list.push(Output::Send { connection: *subscriber, bytes: reply.take() });
        }
    }
}

impl Machine for ScriptedServer {
    fn handle(&mut self, input: Input<'_>, _: Now, out: &mut Outputs) {
        match input {
            Input::Accepted { connection, .. } => {
                self.readers.insert(connection, RequestReader::default());
            }
            Input::Closed { connection } => {
                self.readers.remove(&connection);
                self.subscribers.remove(&connection);
            }
            Input::Received { connection, bytes } => {
                let mut reader = self.readers.remove(&connection).unwrap();
                reader.feed(bytes);
                let limits = Limits::of(1 << 20);
                while reader.advance(limits).unwrap() {
                    let request = reader.take();
                    let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
                    let words: Vec<String> = request.args().iter().map(text).collect();
                    self.execute(connection, &words, out);
                    reader.give_back(request);
                }
                self.readers.insert(connection, reader);
            }
            _ => {}
        }
    }
}
