// A lock that uses only the standard library. Build it with `rustc -O plain.rs`.
use std::{env::var, io::{BufRead, BufReader, Write}, net::TcpStream, process, thread, time::Duration};
const UNLOCK: &str = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
struct Client(String, Option<BufReader<TcpStream>>);
impl Client {
    fn new(name: &str) -> Client {
        Client(var(format!("FENCEPOST_{name}")).unwrap().replace("redis://", ""), None)
    }
    fn ask(&mut self, words: &[&str]) -> String {
        let line = self.line(words).unwrap_or_default();
        if line.is_empty() { self.1 = None; } // the connection is lost
        line.trim().trim_start_matches(':').to_owned()
    }
    fn line(&mut self, words: &[&str]) -> std::io::Result<String> {
        if self.1.is_none() { self.1 = Some(BufReader::new(TcpStream::connect(&self.0)?)); }
        let (stream, mut line) = (self.1.as_mut().unwrap(), String::new());
        let text: String = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len())).collect();
        stream.get_mut().write_all(format!("*{}\r\n{text}", words.len()).as_bytes())?;
        stream.read_line(&mut line)?;
        if line.starts_with('$') && !line.starts_with("$-") { line.clear(); stream.read_line(&mut line)?; }
        Ok(line)
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
        storage.ask(&["SET", "orders", &(value + 1).to_string()]); judge.ask(&["RELEASING", "orders"]);
        let removed = server.ask(&["EVAL", UNLOCK, "1", &lock, &owner]);
        if removed != "1" { judge.ask(&[if removed == "0" { "LOST" } else { "UNKNOWN" }, "orders"]); }
        judge.ask(&["RELEASED", "orders"]);
    }
}
