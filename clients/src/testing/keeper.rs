//! A ZooKeeper ensemble for tests. All members share one tree.

use crate::zookeeper::jute::{Decoder, Encoder};
use bytes::BytesMut;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const KEEPER_PORT: u16 = 2181;

pub(crate) type ForSocket = (usize, Vec<u8>);

#[derive(Default)]
pub(crate) struct Keeper {
    zxid: i64,
    nodes: BTreeMap<String, Node>,
    sessions: BTreeSet<i64>,
    sessions_ever: i64,
    connected: BTreeMap<usize, i64>,
    watches: BTreeSet<(bool, String, usize)>,
}

struct Node {
    czxid: i64,
    owner: i64,
    sequence: u32,
}

pub(crate) enum KeeperRequest {
    Connect { session: i64 },
    Request { xid: i32, code: i32, path: String, watch: bool, flags: i32, paths: [Vec<String>; 3] },
}

impl KeeperRequest {
    pub(crate) fn read(frame: &[u8], is_first: bool) -> KeeperRequest {
        let mut decoder = Decoder::take_from(&mut BytesMut::from(frame)).unwrap().unwrap();
        if is_first {
            let (_protocol, _zxid, _timeout) =
                (decoder.int().unwrap(), decoder.long().unwrap(), decoder.int().unwrap());
            return KeeperRequest::Connect { session: decoder.long().unwrap() };
        }
        let (xid, code) = (decoder.int().unwrap(), decoder.int().unwrap());
        let (mut path, mut watch, mut flags) = (String::new(), false, 0);
        let mut paths = [Vec::new(), Vec::new(), Vec::new()];
        match code {
            1 | 19 => {
                path = decoder.string().unwrap();
                decoder.buffer().unwrap();
                assert_eq!((decoder.int().unwrap(), decoder.int().unwrap()), (1, 31));
                let id = (decoder.string().unwrap(), decoder.string().unwrap());
                assert_eq!(id, ("world".to_owned(), "anyone".to_owned()));
                flags = decoder.int().unwrap();
            }
            3 | 4 | 8 => {
                path = decoder.string().unwrap();
                watch = decoder.byte().unwrap() == 1;
            }
            2 => path = decoder.string().unwrap(),
            101 => {
                decoder.long().unwrap();
                paths.fill_with(|| decoder.strings().unwrap());
            }
            11 => {}
            code => panic!("a request of type {code}"),
        }
        KeeperRequest::Request { xid, code, path, watch, flags, paths }
    }

    pub(crate) fn words(&self) -> Vec<String> {
        match self {
            KeeperRequest::Connect { session } => vec!["SESSION".to_owned(), session.to_string()],
            KeeperRequest::Request { code, path, watch, flags, paths, .. } => {
                let name = match code {
                    1 => ["create", "", "", "create-sequential"][*flags as usize],
                    19 => "create-container",
                    2 => "delete",
                    3 => "exists",
                    4 => "getData",
                    8 => "getChildren",
                    11 => "ping",
                    _ => "setWatches",
                };
                let watches = watch.then(|| "watch".to_owned());
                let paths = paths.iter().flatten().cloned();
                let path = (!path.is_empty()).then(|| path.clone());
                [name.to_owned()].into_iter().chain(path).chain(watches).chain(paths).collect()
            }
        }
    }
}

impl Keeper {
    pub(crate) fn children(&self, parent: &str) -> Vec<String> {
        let prefix = format!("{parent}/");
        let paths = self.nodes.keys().filter_map(|path| path.strip_prefix(&prefix));
        paths.filter(|name| !name.contains('/')).map(str::to_owned).collect()
    }

    pub(crate) fn owner_of(&self, path: &str) -> i64 {
        self.nodes[path].owner
    }

    pub(crate) fn expire(&mut self, session: i64) -> (Vec<ForSocket>, Vec<usize>) {
        self.sessions.remove(&session);
        let of_session = self.nodes.iter().filter(|(_, node)| node.owner == session);
        let gone: Vec<String> = of_session.map(|(path, _)| path.clone()).collect();
        let notices = gone.iter().flat_map(|path| self.remove(path)).collect();
        let sockets = self.connected.iter().filter(|(_, of)| **of == session);
        (notices, sockets.map(|(socket, _)| *socket).collect())
    }

    fn remove(&mut self, path: &str) -> Vec<ForSocket> {
        self.zxid += 1;
        self.nodes.remove(path);
        let mut notices = self.notify(false, path, 2);
        notices.extend(self.notify(true, path, 2));
        notices.extend(self.notify(true, parent_of(path), 4));
        notices
    }

    pub(crate) fn hang_up(&mut self, socket: usize) {
        self.connected.remove(&socket);
        self.watches.retain(|(_, _, listener)| *listener != socket);
    }

    pub(crate) fn carry_out(&mut self, socket: usize, asked: &KeeperRequest) -> Vec<ForSocket> {
        match asked {
            KeeperRequest::Connect { session } => vec![(socket, self.accept(socket, *session))],
            KeeperRequest::Request { xid, code, path, watch, flags, paths } => match code {
                1 | 19 => self.create(socket, *xid, path, *flags),
                2 if self.nodes.contains_key(path) => {
                    let notices = self.remove(path);
                    [(socket, self.reply(*xid, 0).finish())].into_iter().chain(notices).collect()
                }
                3 | 4 => vec![(socket, self.stat(socket, *xid, *code, path, *watch))],
                8 => {
                    if *watch {
                        self.watches.insert((true, path.clone(), socket));
                    }
                    let reply = self.reply(*xid, 0).strings(&self.children(path));
                    vec![(socket, reply.finish())]
                }
                11 => vec![(socket, self.reply(*xid, 0).finish())],
                101 => self.set_watches(socket, *xid, paths),
                _ => vec![(socket, self.reply(*xid, -101).finish())],
            },
        }
    }

    fn accept(&mut self, socket: usize, asked: i64) -> Vec<u8> {
        let session = match asked {
            0 => {
                self.sessions_ever += 1;
                self.sessions.insert(self.sessions_ever);
                self.sessions_ever
            }
            known => known,
        };
        let timeout_ms = if self.sessions.contains(&session) { 10_000 } else { 0 };
        self.connected.insert(socket, session);
        Encoder::frame()
            .int(0)
            .int(timeout_ms)
            .long(session)
            .buffer(&[7; 16])
            .boolean(false)
            .finish()
    }

    fn create(&mut self, socket: usize, xid: i32, path: &str, flags: i32) -> Vec<ForSocket> {
        let parent = parent_of(path).to_owned();
        let number = match self.nodes.get_mut(&parent) {
            None if !parent.is_empty() => {
                return vec![(socket, self.reply(xid, -101).finish())];
            }
            None => 0,
            Some(node) => {
                node.sequence += 1;
                node.sequence - 1
            }
        };
        let path = if flags == 3 { format!("{path}{number:010}") } else { path.to_owned() };
        if self.nodes.contains_key(&path) {
            return vec![(socket, self.reply(xid, -110).finish())];
        }
        self.zxid += 1;
        let owner = if flags == 3 { self.connected[&socket] } else { 0 };
        self.nodes.insert(path.clone(), Node { czxid: self.zxid, owner, sequence: 0 });
        let reply = (socket, self.reply(xid, 0).string(&path).finish());
        let mut all = vec![reply];
        all.extend(self.notify(true, &parent, 4));
        all.extend(self.notify(false, &path, 1));
        all
    }

    fn stat(&mut self, socket: usize, xid: i32, code: i32, path: &str, watch: bool) -> Vec<u8> {
        let known = self.nodes.get(path).map(|node| (node.czxid, node.owner));
        if watch && (known.is_some() || code == 3) {
            self.watches.insert((false, path.to_owned(), socket));
        }
        let Some((czxid, owner)) = known else { return self.reply(xid, -101).finish() };
        let reply = self.reply(xid, 0);
        let reply = if code == 4 { reply.buffer(b"") } else { reply };
        let reply = [czxid, czxid, 0, 0].into_iter().fold(reply, Encoder::long);
        let reply = [0, 0, 0].into_iter().fold(reply, Encoder::int);
        reply.long(owner).int(0).int(0).long(czxid).finish()
    }

    fn set_watches(&mut self, socket: usize, xid: i32, paths: &[Vec<String>; 3]) -> Vec<ForSocket> {
        let mut all = Vec::new();
        for path in paths[0].iter().chain(&paths[1]) {
            match self.nodes.contains_key(path) {
                true => drop(self.watches.insert((false, path.clone(), socket))),
                false => all.push((socket, notice(2, path))),
            }
        }
        for path in &paths[2] {
            self.watches.insert((true, path.clone(), socket));
        }
        all.push((socket, self.reply(xid, 0).finish()));
        all
    }

    fn reply(&self, xid: i32, error: i32) -> Encoder {
        Encoder::frame().int(xid).long(self.zxid).int(error)
    }

    fn notify(&mut self, children: bool, path: &str, kind: i32) -> Vec<ForSocket> {
        let (fired, kept): (BTreeSet<_>, BTreeSet<_>) = std::mem::take(&mut self.watches)
            .into_iter()
            .partition(|(of_children, watched, _)| *of_children == children && watched == path);
        self.watches = kept;
        fired.into_iter().map(|(_, _, socket)| (socket, notice(kind, path))).collect()
    }
}

fn notice(kind: i32, path: &str) -> Vec<u8> {
    Encoder::frame().int(-1).long(-1).int(0).int(kind).int(3).string(path).finish()
}

fn parent_of(path: &str) -> &str {
    &path[..path.rfind('/').unwrap()]
}

pub(crate) fn describe(frames: &[u8], mut is_first: bool) -> String {
    let (mut input, mut texts) = (BytesMut::from(frames), Vec::new());
    while let Some(mut decoder) = Decoder::take_from(&mut input).unwrap() {
        let (xid, zxid) = (decoder.int().unwrap(), decoder.long().unwrap());
        texts.push(match (std::mem::take(&mut is_first), xid) {
            (true, _) => {
                let (timeout, session) =
                    (zxid >> 32, zxid << 32 | i64::from(decoder.int().unwrap()));
                format!("session {} for {timeout} ms", session & 0xffff_ffff)
            }
            (_, -2) => "pong".to_owned(),
            (_, -1) => {
                let (_error, kind, _state) =
                    (decoder.int().unwrap(), decoder.int().unwrap(), decoder.int().unwrap());
                let kind = ["", "created", "deleted", "data", "children"][kind as usize];
                format!("{kind} {}", decoder.string().unwrap())
            }
            _ => match decoder.int().unwrap() {
                0 => format!("{xid} ok"),
                error => format!("{xid} error {error}"),
            },
        });
    }
    texts.join(", ")
}
