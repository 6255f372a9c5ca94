//! Client connections, each with one request at a time. A watch lasts until its connection ends.

use crate::connection::{Activity, Connection, Stream};
use crate::http::{self, Parsed, Payload, Request, Style};
use crate::mvcc::Event;
use crate::peers::{self, GREETING};
use crate::raft::Message;
use crate::refusal::{self, Refusal};
use crate::request::{self, Call};
use crate::server::Etcd;
use crate::watching::Watching;
use bytes::{Buf, Bytes, BytesMut};
use fencepost_machine::{ConnectionId, Output};
use std::collections::VecDeque;

const UNSENT_MAX: usize = 64 << 20;
/// Maximum size of a call's JSON in bytes: etcd's `--max-request-bytes` (1.5 MiB) in base64.
const CALL_MAX: usize = 2 << 20;

impl Etcd {
    pub(crate) fn accepted(&mut self, connection: ConnectionId, _peer: &str) {
        if self.connections.len() >= self.config.connections_max {
            return self.out.list.push(Output::Close { connection });
        }
        let (input, activity) = (BytesMut::new(), Activity::Nothing);
        let open = Connection { input, is_http: false, is_told: false, activity };
        self.connections.insert(connection, open);
    }

    pub(crate) fn received(&mut self, connection: ConnectionId, bytes: &[u8]) {
        let Some(open) = self.connections.get_mut(&connection) else { return };
        match open.activity {
            Activity::Watching(..) => return,
            Activity::Nothing if open.input.is_empty() && bytes.starts_with(GREETING) => {
                open.activity = Activity::Peer;
            }
            _ => {}
        }
        open.input.extend_from_slice(bytes);
        if matches!(open.activity, Activity::Peer) {
            return self.receive_from_peer(connection);
        }
        self.ready.insert(connection);
    }

    fn receive_from_peer(&mut self, connection: ConnectionId) {
        let Some(open) = self.connections.get_mut(&connection) else { return };
        if open.input.starts_with(GREETING) {
            open.input.advance(GREETING.len());
        }
        let mut heard: Vec<Message> = Vec::new();
        let is_sound = loop {
            match peers::take(&mut open.input) {
                Ok(Some(message)) => heard.push(message),
                Ok(None) => break true,
                Err(()) => break false,
            }
        };
        heard.into_iter().for_each(|message| self.handle_message(message));
        if !is_sound {
            self.hang_up(connection);
        }
    }

    fn hang_up(&mut self, connection: ConnectionId) {
        self.out.list.push(Output::Close { connection });
        self.closed(connection);
    }

    pub(crate) fn closed(&mut self, connection: ConnectionId) {
        self.connections.remove(&connection);
        self.ready.remove(&connection);
        self.heads.closed(connection);
        self.abandon(connection);
    }

    pub(crate) fn unsent(&mut self, connection: ConnectionId, bytes: usize) {
        if bytes > UNSENT_MAX {
            self.out.list.push(Output::Abort { connection });
            self.lost_client(connection);
        }
    }

    fn lost_client(&mut self, connection: ConnectionId) {
        if connection.was_accepted() {
            self.closed(connection);
        } else {
            self.peers.lost(connection);
        }
    }

    pub(crate) fn has_more(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(crate) fn serve_next(&mut self) {
        while let Some(connection) = self.ready.pop_first() {
            if self.serve(connection) {
                return;
            }
        }
    }

    fn serve(&mut self, connection: ConnectionId) -> bool {
        let Some(open) = self.connections.get_mut(&connection) else { return false };
        if !matches!(open.activity, Activity::Nothing) || open.input.is_empty() {
            return false;
        }
        if !open.is_http {
            match http::is_http(&open.input) {
                None => return false,
                Some(false) => {
                    self.hang_up(connection);
                    return false;
                }
                Some(true) => open.is_http = true,
            }
        }
        match http::parse(&mut open.input, open.is_told) {
            Parsed::Partial => false,
            Parsed::Continue => {
                open.is_told = true;
                self.send(connection, http::CONTINUE);
                false
            }
            Parsed::Refused(answer) => {
                self.send(connection, answer);
                self.hang_up(connection);
                true
            }
            Parsed::Request(request) => {
                open.is_told = false;
                if !open.input.is_empty() {
                    self.ready.insert(connection);
                }
                self.out.commands += 1;
                self.route(connection, request);
                true
            }
        }
    }

    fn route(&mut self, connection: ConnectionId, request: Request) {
        let Request { method, path, body, style } = request;
        let Some(open) = self.connections.get_mut(&connection) else { return };
        open.activity = Activity::Calling(style);
        let is_get = method == "GET";
        if method == "OPTIONS" {
            return self.answer(connection, 200, Payload::Nothing);
        }
        let call = path.strip_prefix("/v3beta/").or_else(|| path.strip_prefix("/v3/"));
        match (path.as_str(), call) {
            ("/version" | "/health", _) if !is_get => {
                self.answer(connection, 405, Payload::NotAllowed);
            }
            ("/version", _) => {
                let versions = "{\"etcdserver\":\"3.4.23\",\"etcdcluster\":\"3.4.0\"}";
                self.answer(connection, 200, Payload::Bare(versions.to_owned()));
            }
            ("/health", _) => self.health(connection),
            (_, None) => self.answer(connection, 404, Payload::Text("404 page not found\n")),
            (_, Some(_)) => {
                let path = &path[path.find("/v3").map_or(0, |at| at + 1)..];
                let path = path.find('/').map_or("", |at| &path[at..]);
                self.gateway(connection, (method.as_str(), path), &body, style);
            }
        }
    }

    fn gateway(
        &mut self,
        connection: ConnectionId,
        (method, path): (&str, &str),
        bytes: &Bytes,
        style: Style,
    ) {
        let is_stream = matches!(path, "/watch" | "/lease/keepalive");
        if !is_stream && Call::read(path, b"{}").is_none() {
            return self.answer(connection, 404, Payload::Text("Not Found\n"));
        }
        if method != "POST" {
            return self.answer(connection, 405, Payload::Text("Method Not Allowed\n"));
        }
        if bytes.len() > CALL_MAX {
            return self.reply(connection, Err(Refusal::RequestTooLarge));
        }
        match path {
            "/watch" => self.watch(connection, bytes, style),
            "/lease/keepalive" => self.keep_alive(connection, bytes, style),
            _ => match Call::read(path, bytes) {
                None => self.answer(connection, 404, Payload::Text("Not Found\n")),
                Some(Err(text)) => self.refuse(connection, &text),
                Some(Ok(call)) => self.begin(connection, call),
            },
        }
    }

    fn refuse(&mut self, connection: ConnectionId, text: &str) {
        self.answer(connection, 400, Payload::Json(refusal::body(text, 3)));
    }

    fn health(&mut self, connection: ConnectionId) {
        let (status, text) = if self.raft.leader == 0 {
            (503, "{\"health\":\"false\"}")
        } else {
            (200, "{\"health\":\"true\"}")
        };
        self.answer(connection, status, Payload::Sniffed(text.to_owned()));
    }

    pub(crate) fn reply(&mut self, connection: ConnectionId, told: Result<String, Refusal>) {
        match told {
            Ok(body) => self.answer(connection, 200, Payload::Json(body)),
            Err(refusal) => {
                self.answer(connection, refusal.status(), Payload::Failure(refusal.body()));
            }
        }
    }

    fn answer(&mut self, connection: ConnectionId, status: u16, payload: Payload) {
        let wall = self.now.wall;
        let Some(open) = self.connections.get_mut(&connection) else { return };
        let (Activity::Calling(style)
        | Activity::Watching(Stream { style, .. }, _)
        | Activity::KeepingAlive(Stream { style, .. }, _)) = &open.activity
        else {
            return;
        };
        let style = *style;
        open.activity = Activity::Nothing;
        let has_input = !open.input.is_empty();
        self.send(connection, http::answer(style, status, payload, wall));
        self.rest(connection, style, has_input);
    }

    fn rest(&mut self, connection: ConnectionId, style: Style, has_input: bool) {
        if style.closes {
            self.hang_up(connection);
        } else if has_input {
            self.ready.insert(connection);
        }
    }

    fn watch(&mut self, connection: ConnectionId, body: &Bytes, style: Style) {
        let (mut watching, mut said) = (Watching::default(), Vec::new());
        let mut failure = None;
        for read in request::watches(body) {
            match read {
                Ok(watch) => {
                    said.extend(watching.serve(watch, &self.state.store, self.responder()))
                }
                Err(text) => {
                    failure = Some(text);
                    break;
                }
            }
        }
        if let Some(text) = failure.filter(|_| said.is_empty() && watching.is_empty()) {
            return self.answer(connection, 500, Payload::Json(refusal::body(&text, 2)));
        }
        let Some(open) = self.connections.get_mut(&connection) else { return };
        open.input.clear();
        open.activity = Activity::Watching(Stream { style, has_begun: false }, watching);
        self.send_items(connection, &said);
    }

    fn send_items(&mut self, connection: ConnectionId, items: &[String]) {
        let wall = self.now.wall;
        let Some(open) = self.connections.get_mut(&connection) else { return };
        let (Activity::Watching(stream, _) | Activity::KeepingAlive(stream, _)) =
            &mut open.activity
        else {
            return;
        };
        if items.is_empty() {
            return;
        }
        let mut text = String::new();
        if !std::mem::replace(&mut stream.has_begun, true) {
            text.push_str(&http::stream_head(stream.style, true, wall));
        }
        for item in items {
            text.push_str(&http::stream_item(item));
        }
        self.send(connection, text.into());
    }

    pub(crate) fn notify_watchers(&mut self, events: &[Event]) {
        let (who, store) = (self.responder(), &self.state.store);
        let mut said = Vec::new();
        for (connection, open) in &mut self.connections {
            if let Activity::Watching(_, watching) = &mut open.activity {
                said.push((*connection, watching.changed(events, store, who)));
            }
        }
        said.into_iter().for_each(|(connection, items)| self.send_items(connection, &items));
    }

    fn keep_alive(&mut self, connection: ConnectionId, body: &Bytes, style: Style) {
        let mut wanted = VecDeque::new();
        for read in request::keep_alives(body) {
            let is_broken = read.is_err();
            wanted.push_back(read);
            if is_broken {
                break;
            }
        }
        let Some(open) = self.connections.get_mut(&connection) else { return };
        open.activity = Activity::KeepingAlive(Stream { style, has_begun: false }, wanted);
        self.renew_next(connection);
    }

    fn renew_next(&mut self, connection: ConnectionId) {
        let Some(open) = self.connections.get_mut(&connection) else { return };
        let Activity::KeepingAlive(stream, wanted) = &mut open.activity else { return };
        let stream = *stream;
        match wanted.pop_front() {
            Some(Ok(lease)) => self.begin_renewal(connection, lease),
            Some(Err(text)) if !stream.has_begun => {
                self.answer(connection, 500, Payload::Json(refusal::body(&text, 2)));
            }
            Some(Err(_)) | None => self.end_stream(connection, stream),
        }
    }

    fn end_stream(&mut self, connection: ConnectionId, stream: Stream) {
        let mut text = String::new();
        if !stream.has_begun {
            text.push_str(&http::stream_head(stream.style, false, self.now.wall));
        }
        text.push_str(http::STREAM_END);
        if let Some(open) = self.connections.get_mut(&connection) {
            open.activity = Activity::Nothing;
            let has_input = !open.input.is_empty();
            self.send(connection, text.into());
            self.rest(connection, stream.style, has_input);
        }
    }

    pub(crate) fn answer_keep_alive(
        &mut self,
        connection: ConnectionId,
        told: Result<String, Refusal>,
    ) {
        match told {
            Ok(item) => {
                self.send_items(connection, &[item]);
                self.renew_next(connection);
            }
            Err(refusal) => {
                let wall = self.now.wall;
                let Some(open) = self.connections.get_mut(&connection) else { return };
                let Activity::KeepingAlive(Stream { style, has_begun }, _) = open.activity else {
                    return;
                };
                open.activity = Activity::Nothing;
                let has_input = !open.input.is_empty();
                let mut text = match has_begun {
                    true => String::new(),
                    false => http::failed_stream_head(style, refusal.status(), wall),
                };
                text.push_str(&http::stream_failure(&refusal.stream_item()));
                text.push_str(http::STREAM_END);
                self.send(connection, text.into());
                self.rest(connection, style, has_input);
            }
        }
    }
}
