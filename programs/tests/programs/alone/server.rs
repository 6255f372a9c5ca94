//! A line server: `echo WORD` answers WORD, and `close` ends the connection. Once the client has
//! ended its stream, the server sends `end`; after the command `stay`, it does so 80 ms later.

use fencepost_programs::{News, Request, SocketId};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) const NAME: &str = "server";
pub(crate) const STAY: Duration = Duration::from_millis(80);

pub(crate) fn answer(line: &str, stays: &mut bool) -> Option<String> {
    match line.trim_end().split_once(' ') {
        Some(("echo", word)) => Some(format!("{word}\n")),
        _ => {
            *stays |= line.trim_end() == "stay";
            (line.trim_end() != "close").then(String::new)
        }
    }
}

#[derive(Default)]
struct Served {
    heard: String,
    stays: bool,
}

#[derive(Default)]
pub(crate) struct Simulated {
    connections: BTreeMap<SocketId, Served>,
    news: Vec<(u64, News)>,
}

impl Simulated {
    pub(crate) fn hears(&mut self, request: Request, now: u64) {
        match request {
            Request::Connect { socket, .. } => {
                self.connections.insert(socket, Served::default());
                self.news.push((now, News::Connected(socket)));
            }
            Request::Send { socket, bytes } => self.hears_bytes(socket, &bytes, now),
            Request::Shutdown { socket } => {
                if let Some(served) = self.connections.remove(&socket) {
                    let at = now + if served.stays { STAY.as_micros() as u64 } else { 0 };
                    self.news.push((at, News::Received(socket, b"end\n".to_vec())));
                    self.news.push((at, News::Ended(socket)));
                }
            }
            Request::Close { socket } => {
                self.connections.remove(&socket);
            }
        }
    }

    fn hears_bytes(&mut self, socket: SocketId, bytes: &[u8], now: u64) {
        let Some(served) = self.connections.get_mut(&socket) else { return };
        served.heard.push_str(&String::from_utf8_lossy(bytes));
        while let Some(end) = served.heard.find('\n') {
            let line: String = served.heard.drain(..=end).collect();
            match answer(&line, &mut served.stays) {
                Some(text) if text.is_empty() => {}
                Some(text) => self.news.push((now, News::Received(socket, text.into_bytes()))),
                None => {
                    self.connections.remove(&socket);
                    self.news.push((now, News::Ended(socket)));
                    return;
                }
            }
        }
    }

    pub(crate) fn says(&mut self, now: u64) -> Vec<News> {
        let (due, later) = self.news.drain(..).partition(|(at, _)| *at <= now);
        self.news = later;
        due.into_iter().map(|(_, news): (u64, News)| news).collect()
    }

    pub(crate) fn next(&self) -> Option<u64> {
        self.news.iter().map(|(at, _)| *at).min()
    }
}
