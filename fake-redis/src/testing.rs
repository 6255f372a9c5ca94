use crate::config::NodeConfig;
use crate::front::node::Node;
use bytes::Bytes;
use fencepost_machine::{
    ConnectionId, DiskImage, Input, Machine, Now, Output, Outputs, TapEvent, WallTime,
};
use std::fmt::Write;

pub(crate) const START_MS: i64 = 1_700_000_000_000;

pub(crate) struct Bench {
    pub(crate) node: Node,
    pub(crate) now: WallTime,
    pub(crate) taps: Vec<TapEvent>,
    pub(crate) sent: Vec<Vec<u8>>,
    pub(crate) closed: Vec<ConnectionId>,
    pub(crate) wake_at: Option<WallTime>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Bench::with(NodeConfig::default())
    }

    pub(crate) fn with(config: NodeConfig) -> Self {
        let now = WallTime(START_MS * 1_000);
        let node = Node::new(config, DiskImage::default(), 1, now);
        let mut bench = Bench {
            node,
            now,
            taps: Vec::new(),
            sent: Vec::new(),
            closed: Vec::new(),
            wake_at: None,
        };
        bench.input(Input::Timer);
        for client in 0..3 {
            bench.sent.push(Vec::new());
            bench.input(Input::Accepted {
                connection: ConnectionId(client),
                peer: "127.0.0.1:50000",
            });
        }
        bench
    }

    pub(crate) fn pass(&mut self, millis: i64) {
        let end = WallTime(self.now.0 + millis * 1_000);
        while let Some(wake_at) = self.wake_at.filter(|wake_at| *wake_at <= end) {
            self.now = wake_at;
            self.wake_at = None;
            self.input(Input::Timer);
        }
        self.now = end;
    }

    pub(crate) fn step_clock(&mut self, millis: i64) {
        self.now.0 += millis * 1_000;
        self.wake_at = self.wake_at.map(|wake_at| WallTime(wake_at.0 + millis * 1_000));
    }

    pub(crate) fn input(&mut self, input: Input<'_>) {
        let mut out = Outputs::default();
        self.node.handle(input, Now::unstepped(self.now), &mut out);
        let mut rounds = 0;
        loop {
            assert!(out.commands <= 1, "one input serves one command at most");
            let more = out.more;
            for output in std::mem::take(&mut out.list) {
                self.take_output(output);
            }
            if !more {
                return;
            }
            rounds += 1;
            assert!(rounds < 100_000, "the server never runs out of commands");
            out.clear();
            self.node.handle(Input::Continue, Now::unstepped(self.now), &mut out);
        }
    }

    fn take_output(&mut self, output: Output) {
        match output {
            Output::Send { connection, bytes } => {
                self.sent[connection.0 as usize].extend_from_slice(&bytes)
            }
            Output::Close { connection } | Output::Abort { connection } => {
                self.closed.push(connection)
            }
            Output::WakeAfter { micros } => {
                self.wake_at = Some(WallTime(self.now.0 + micros as i64))
            }
            Output::Tap(event) => self.taps.push(event),
            _ => {}
        }
    }

    pub(crate) fn raw(&mut self, client: u32, bytes: &[u8]) -> Vec<u8> {
        self.input(Input::Received { connection: ConnectionId(client), bytes });
        std::mem::take(&mut self.sent[client as usize])
    }

    pub(crate) fn words(&mut self, client: u32, words: &[&[u8]]) -> Vec<u8> {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            request.extend_from_slice(word);
            request.extend_from_slice(b"\r\n");
        }
        self.raw(client, &request)
    }

    pub(crate) fn type_at(&mut self, client: u32, line: &str) -> String {
        let mut request = line.as_bytes().to_vec();
        request.extend_from_slice(b"\r\n");
        let reply = self.raw(client, &request);
        readable(&reply)
    }

    pub(crate) fn run(&mut self, line: &str) -> String {
        self.type_at(0, line)
    }

    pub(crate) fn replies(&mut self, client: u32) -> String {
        readable(&std::mem::take(&mut self.sent[client as usize]))
    }

    pub(crate) fn propagated(&mut self) -> String {
        let propagated = self.node.take_propagated();
        let mut text = Vec::new();
        for (db, parts) in propagated {
            let words: Vec<_> =
                parts.iter().map(|part| String::from_utf8_lossy(part).into_owned()).collect();
            let prefix = if db == 0 { String::new() } else { format!("{db}: ") };
            text.push(prefix + &words.join(" "));
        }
        text.join(" | ")
    }

    pub(crate) fn tapped(&mut self) -> String {
        let show = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
        let mut text = String::new();
        for event in std::mem::take(&mut self.taps) {
            let value = event.value.as_ref().map(show).unwrap_or_default();
            let by = event.by.map_or(String::from("-"), |by| by.0.to_string());
            let expiry =
                event.expires_at_ms.map_or(String::from("-"), |at| (at - START_MS).to_string());
            let _ = writeln!(
                text,
                "{:?} {}={value} by {by} until {expiry}",
                event.change,
                show(&event.key)
            );
        }
        text.trim_end().to_owned()
    }
}

pub(crate) fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.strip_suffix("\r\n").unwrap_or(&text).replace("\r\n", "|")
}

#[track_caller]
pub(crate) fn check(script: &[(&str, &str)]) {
    let mut bench = Bench::new();
    check_on(&mut bench, script);
}

/// Runs client commands. `+100` waits 100 ms, and `1>GET k` makes client 1 send `GET k`.
#[track_caller]
pub(crate) fn check_on(bench: &mut Bench, script: &[(&str, &str)]) {
    for (line, expected) in script {
        if let Some(millis) = line.strip_prefix('+') {
            bench.pass(millis.parse().unwrap());
            continue;
        }
        let (client, command) = match line.split_once('>') {
            Some((client, command)) if client.len() == 1 => (client.parse().unwrap(), command),
            _ => (0, *line),
        };
        let reply = bench.type_at(client, command);
        assert_eq!(reply, *expected, "reply to {line:?}");
    }
}

#[test]
fn a_string_is_set_read_and_expires() {
    check(&[
        ("SET k v NX PX 100", "+OK"),
        ("SET k w NX PX 100", "$-1"),
        ("get k", "$1|v"),
        ("+100", ""),
        ("GET k", "$1|v"),
        ("+1", ""),
        ("GET k", "$-1"),
    ]);
}
