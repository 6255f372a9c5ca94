//! A server of lines, once over real TCP and once simulated, that behaves the same: `echo WORD` is
//! answered with the word, `close` with an end, and after `stay` it stays for a while once the
//! client has ended. To that end it says `end`, and then it closes.

use fencepost_programs::{News, Request, SocketId};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// What the simulated one is called.
pub(crate) const NAME: &str = "server";
/// For how long it stays.
const STAY: Duration = Duration::from_millis(80);

/// What a line is answered with; `None` if the server closes.
fn answer(line: &str, stays: &mut bool) -> Option<String> {
    match line.trim_end().split_once(' ') {
        Some(("echo", word)) => Some(format!("{word}\n")),
        _ => {
            *stays |= line.trim_end() == "stay";
            (line.trim_end() != "close").then(String::new)
        }
    }
}

/// Serves over real TCP for as long as the tests run; its port.
pub(crate) fn real() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || drop(serve(stream)));
        }
    });
    port
}

fn serve(stream: TcpStream) -> std::io::Result<()> {
    let (mut lines, mut out) = (BufReader::new(stream.try_clone()?), stream);
    let (mut line, mut stays) = (String::new(), false);
    while lines.read_line(&mut line)? > 0 {
        let Some(text) = answer(&line, &mut stays) else { return Ok(()) };
        out.write_all(text.as_bytes())?;
        line.clear();
    }
    std::thread::sleep(if stays { STAY } else { Duration::ZERO });
    out.write_all(b"end\n")
}

/// The simulated one: a connection that it serves.
#[derive(Default)]
struct Served {
    heard: String,
    stays: bool,
}

/// The simulated one. Its network takes no time.
#[derive(Default)]
pub(crate) struct Simulated {
    connections: BTreeMap<SocketId, Served>,
    /// What it will say, and when.
    news: Vec<(u64, News)>,
}

impl Simulated {
    /// Hears what the group asks of the network at an instant.
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

    /// What it says by now.
    pub(crate) fn says(&mut self, now: u64) -> Vec<News> {
        let (due, later) = self.news.drain(..).partition(|(at, _)| *at <= now);
        self.news = later;
        due.into_iter().map(|(_, news): (u64, News)| news).collect()
    }

    /// When it says something next.
    pub(crate) fn next(&self) -> Option<u64> {
        self.news.iter().map(|(at, _)| *at).min()
    }
}
