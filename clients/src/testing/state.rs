use super::cache::{self, CACHE_PORT, Cache};
use super::etcd::{self, ETCD_PORT};
use super::keeper::{ForSocket, KEEPER_PORT, Keeper, KeeperRequest};
use super::server::{Answer, Call, Store};
use crate::env::{Address, HostKey, TimerKey};
use crate::reply::Reply;
use bytes::BytesMut;
use std::collections::BTreeMap;
use std::io;

/// One-way delay in microseconds.
pub(super) const LATENCY: u64 = 500;

#[derive(Default)]
pub(super) struct State {
    pub(super) now: u64,
    pub(super) sequence: u64,
    pub(super) events: BTreeMap<(u64, u64), Event>,
    pub(super) timers: BTreeMap<u64, u64>,
    pub(super) sockets: Vec<TestSocket>,
    pub(super) servers: BTreeMap<Address, Server>,
    pub(super) keeper: Keeper,
    pub(super) cache: Cache,
    pub(super) draws: [u64; 2],
    /// Offsets of inexact wall clocks, in microseconds.
    pub(super) wall_ahead: BTreeMap<HostKey, i64>,
    pub(super) log: Vec<String>,
}

pub(super) struct Server {
    pub(super) store: Store,
    pub(super) mishaps: Box<dyn FnMut(&Call<'_>) -> Answer>,
    pub(super) calls: usize,
}

pub(super) struct TestSocket {
    pub(super) address: Address,
    pub(super) connected: Option<Result<(), io::ErrorKind>>,
    pub(super) to_server: BytesMut,
    pub(super) to_client: BytesMut,
    pub(super) end: Option<Result<(), io::ErrorKind>>,
    pub(super) subscribed: bool,
    pub(super) closed: bool,
    pub(super) limit: Option<TimerKey>,
    pub(super) frames: [usize; 2],
}

pub(super) enum Event {
    Timer,
    Connected(usize, Result<(), io::ErrorKind>),
    AtServer(usize, Vec<u8>),
    Apply(Address, Vec<String>),
    Asked(usize, KeeperRequest),
    AtClient(usize, Vec<u8>),
    Reset(usize),
}

impl State {
    pub(super) fn after(&mut self, span: u64, event: Event) {
        self.sequence += 1;
        self.events.insert((self.now + span, self.sequence), event);
    }

    pub(super) fn log(&mut self, socket: usize, what: &str) {
        let host = &self.sockets[socket].address.host;
        let (ms, us) = (self.now / 1_000, self.now % 1_000);
        self.log.push(format!("{ms:>5}.{us:03} {host} #{} {what}", socket + 1));
    }

    pub(super) fn handle(&mut self, event: Event) {
        match event {
            Event::Timer => {}
            Event::Connected(key, result) => self.sockets[key].connected = Some(result),
            Event::AtServer(key, bytes) if self.is_keeper(key) => self.frame_arrives(key, &bytes),
            Event::AtServer(key, bytes) => self.arrive(key, &bytes),
            Event::Asked(key, asked) => drop(self.keeper.carry_out(key, &asked)),
            Event::Apply(address, words) => {
                self.carry_out(&address, &words);
            }
            Event::AtClient(key, bytes) if !self.sockets[key].closed => {
                self.sockets[key].to_client.extend_from_slice(&bytes)
            }
            Event::Reset(key) if !self.sockets[key].closed => {
                self.keeper.hang_up(key);
                self.sockets[key].end = Some(Err(io::ErrorKind::ConnectionReset));
            }
            Event::AtClient(..) | Event::Reset(_) => {}
        }
    }

    pub(super) fn is_first(&mut self, key: usize, direction: usize) -> bool {
        let frames = &mut self.sockets[key].frames[direction];
        *frames += 1;
        *frames == 1
    }

    fn arrive(&mut self, key: usize, bytes: &[u8]) {
        if let Some(words) = self.words_of_text(key, bytes) {
            let answer = self.ask(key, &words);
            return self.answer(key, words, answer);
        }
        self.sockets[key].to_server.extend_from_slice(bytes);
        while let Some(command) = Reply::take_from(&mut self.sockets[key].to_server).unwrap() {
            let words = words_of(&command);
            let answer = self.ask(key, &words);
            self.answer(key, words, answer);
        }
    }

    pub(super) fn is_keeper(&self, key: usize) -> bool {
        self.sockets[key].address.port == KEEPER_PORT
    }

    /// Returns the words of a request in a protocol other than Redis's.
    pub(super) fn words_of_text(&self, key: usize, request: &[u8]) -> Option<Vec<String>> {
        match self.sockets[key].address.port {
            CACHE_PORT => Some(cache::words_of(request)),
            ETCD_PORT => Some(etcd::words_of(request)),
            _ => None,
        }
    }

    fn carry_out(&mut self, address: &Address, words: &[String]) -> String {
        let now = self.now;
        match address.port {
            CACHE_PORT => self.cache.run(words, now),
            ETCD_PORT => etcd::run(words),
            _ => self.servers.get_mut(address).unwrap().store.run(words, now),
        }
    }

    fn frame_arrives(&mut self, key: usize, frame: &[u8]) {
        let is_first = self.sockets[key].to_server.is_empty();
        self.sockets[key].to_server.extend_from_slice(b"connected");
        let asked = KeeperRequest::read(frame, is_first);
        match self.ask(key, &asked.words()) {
            Answer::Normal => {
                let replies = self.keeper.carry_out(key, &asked);
                self.send_replies(replies, 0);
            }
            Answer::Late(ms) => {
                let replies = self.keeper.carry_out(key, &asked);
                self.send_replies(replies, ms * 1_000);
            }
            Answer::Says(text) => {
                self.after(LATENCY, Event::AtClient(key, text.as_bytes().to_vec()));
            }
            Answer::AppliedLate(ms) => self.after(ms * 1_000, Event::Asked(key, asked)),
            Answer::ResetAfter | Answer::Lost => {
                let replies = self.keeper.carry_out(key, &asked);
                self.send_replies(replies.into_iter().filter(|(to, _)| *to != key).collect(), 0);
                self.after(LATENCY, Event::Reset(key));
            }
            Answer::ResetBefore => self.after(LATENCY, Event::Reset(key)),
            Answer::Dropped => {}
        }
    }

    pub(super) fn send_replies(&mut self, replies: Vec<ForSocket>, delay: u64) {
        for (key, bytes) in replies {
            self.after(LATENCY + delay, Event::AtClient(key, bytes));
        }
    }

    pub(super) fn ask(&mut self, key: usize, words: &[String]) -> Answer {
        let server = self.servers.get_mut(&self.sockets[key].address).unwrap();
        server.calls += 1;
        (server.mishaps)(&Call { number: server.calls - 1, words })
    }

    fn answer(&mut self, key: usize, words: Vec<String>, answer: Answer) {
        let applied =
            matches!(answer, Answer::Normal | Answer::Late(_) | Answer::Lost | Answer::ResetAfter);
        let address = self.sockets[key].address.clone();
        let reply = match applied {
            true => self.carry_out(&address, &words),
            false => String::new(),
        };
        match answer {
            Answer::Normal => {
                self.sockets[key].subscribed |= words[0] == "SUBSCRIBE";
                self.after(LATENCY, Event::AtClient(key, reply.into_bytes()));
            }
            Answer::Late(ms) => {
                self.after(LATENCY + ms * 1_000, Event::AtClient(key, reply.into_bytes()))
            }
            Answer::Says(text) => {
                self.after(LATENCY, Event::AtClient(key, text.as_bytes().to_vec()))
            }
            Answer::AppliedLate(ms) => self.after(ms * 1_000, Event::Apply(address, words)),
            Answer::ResetAfter | Answer::ResetBefore => self.after(LATENCY, Event::Reset(key)),
            Answer::Lost | Answer::Dropped => {}
        }
    }
}

pub(super) fn words_of(command: &Reply) -> Vec<String> {
    let words = command.as_array().unwrap().iter();
    words.map(|word| String::from_utf8(word.as_bytes().unwrap().to_vec()).unwrap()).collect()
}
