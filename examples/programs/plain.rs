// A lock on the standard library alone (rustc -O plain.rs): see docs/own-programs.md.
use std::env::var;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::{process, thread, time::Duration};
const UNLOCK: &str = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
struct Client(BufReader<TcpStream>);
impl Client {
    fn new(name: &str) -> Client {
        let url = var(format!("FENCEPOST_{name}")).unwrap();
        Client(BufReader::new(TcpStream::connect(url.trim_start_matches("redis://")).unwrap()))
    }
    /// The first line of the answer, or the text behind it.
    fn ask(&mut self, words: &[&str]) -> String {
        let text: String = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len())).collect();
        self.0.get_mut().write_all(format!("*{}\r\n{text}", words.len()).as_bytes()).unwrap();
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).unwrap() > 0);
        if line.starts_with('$') && !line.starts_with("$-") {
            line.clear(); self.0.read_line(&mut line).unwrap();
        }
        line.trim().trim_start_matches(':').to_owned()
    }
}
fn main() {
    let (mut server, mut storage, mut judge) = (Client::new("REDIS"), Client::new("STORAGE"), Client::new("JUDGE"));
    let (lock, ttl) = (var("FENCEPOST_LOCK").unwrap(), var("FENCEPOST_TTL_MS").unwrap());
    for cycle in 0..var("FENCEPOST_CYCLES").unwrap().parse().unwrap() {
        let owner = format!("{}-{}-{cycle}", var("FENCEPOST_PROCESS").unwrap(), process::id());
        judge.ask(&["ACQUIRING", "orders"]);
        while server.ask(&["SET", &lock, &owner, "NX", "PX", &ttl]) != "+OK" { thread::sleep(Duration::from_millis(100)); }
        let hold: u64 = judge.ask(&["ACQUIRED", "orders"]).parse().unwrap();
        let value: u64 = storage.ask(&["GET", "orders"]).parse().unwrap();
        thread::sleep(Duration::from_millis(hold));
        storage.ask(&["SET", "orders", &(value + 1).to_string()]);
        judge.ask(&["RELEASING", "orders"]);
        if server.ask(&["EVAL", UNLOCK, "1", &lock, &owner]) != "1" { judge.ask(&["LOST", "orders"]); }
        judge.ask(&["RELEASED", "orders"]);
    }
}
