use crate::fakes::Fakes;
use crate::real::{Client, RealRedis, encode};
use fake_redis::serve::ServeOptions;
use fencepost_testing::wait_for;
use std::net::TcpStream;

struct Transcript {
    port: u16,
    lines: Vec<String>,
}

impl Transcript {
    fn of(port: u16) -> Transcript {
        let mut transcript = Transcript { port, lines: Vec::new() };
        transcript.type_at(
            &mut Client::of(port),
            &["CONFIG SET busy-reply-threshold 1", "CONFIG GET lua-time-limit"],
        );
        transcript
    }

    fn client(&self) -> Client {
        Client::of(self.port)
    }

    fn note(&mut self, line: &str, answer: impl AsRef<str>) {
        self.lines.push(format!("{line} -> {}", answer.as_ref()));
    }

    fn type_at(&mut self, client: &mut Client, lines: &[&str]) {
        for line in lines {
            let answer = client.run(line);
            self.note(line, answer);
        }
    }

    fn record_messages(&mut self, client: &mut Client) {
        let answer = String::from_utf8_lossy(&client.read()).into_owned();
        self.note("heard", answer);
    }

    fn begin(&mut self, client: &mut Client, script: &str) {
        let bytes = [encode(&["EVAL", script, "1", "k"]), encode(&["PING"])].concat();
        client.write(&bytes);
        self.wait_until("busy", "GET k", |answer| answer.starts_with("-BUSY "));
    }

    fn wait_until(&self, what: &str, line: &str, is_so: impl Fn(&str) -> bool) {
        let mut client = Client::of(self.port);
        wait_for(what, || is_so(&client.run(line)).then_some(()));
    }

    fn kill(&mut self, client: &mut Client) {
        self.type_at(&mut Client::of(self.port), &["SCRIPT KILL"]);
        self.record_messages(client);
        self.record_messages(client);
    }
}

fn compare(steps: impl Fn(&mut Transcript)) -> Option<Vec<String>> {
    let fakes = Fakes::start(ServeOptions::default());
    let mut fake = Transcript::of(fakes.ports[0]);
    steps(&mut fake);
    let real = RealRedis::start(&[])?;
    let mut expected = Transcript::of(real.port);
    steps(&mut expected);
    assert_eq!(fake.lines, expected.lines);
    Some(expected.lines)
}

#[test]
fn others_are_answered_busy_and_may_kill_a_script_that_has_not_written() {
    let lines = compare(|transcript| {
        let (mut caller, mut early, mut queuing) =
            (transcript.client(), transcript.client(), transcript.client());
        transcript.type_at(&mut queuing, &["WATCH k", "MULTI", "SET k 1"]);
        early.write(b"*2\r\n$3\r\nGET\r\n$1\r");
        transcript.begin(&mut caller, "local n = 0\nwhile true do\nn = n + 1\nend");
        early.write(b"\nk\r\n*1\r\n$4\r\nPING\r\n");
        transcript.record_messages(&mut early);
        transcript.record_messages(&mut early);
        transcript.type_at(&mut queuing, &["GET k", "EXEC", "EXEC", "MULTI", "SET k 2", "DISCARD"]);
        let mut fresh = transcript.client();
        transcript.type_at(
            &mut fresh,
            &["PING", "NOSUCH", "GET", "SCRIPT FLUSH", "SCRIPT NOSUCH", "SHUTDOWN"],
        );
        transcript.type_at(
            &mut fresh,
            &["SHUTDOWN SAVE", "SHUTDOWN ABORT", "SHUTDOWN NOSUCH", "EVAL return 0"],
        );
        transcript.type_at(
            &mut fresh,
            &["AUTH x", "WATCH k", "UNWATCH", "HELLO 9", "RESET", "EXEC", "QUIT"],
        );
        transcript.record_messages(&mut fresh);
        transcript.kill(&mut caller);
        transcript.type_at(&mut transcript.client(), &["GET k", "SCRIPT KILL", "PING"]);
    });
    let Some(lines) = lines else { return };
    assert!(
        lines.iter().any(|line| line.contains("Script killed by user with SCRIPT KILL...")),
        "{lines:#?}"
    );
}

#[test]
fn a_script_cannot_catch_that_it_is_killed_nor_can_the_transaction_around_it() {
    compare(|transcript| {
        let mut caller = transcript.client();
        transcript.begin(
            &mut caller,
            "local function f()\nwhile true do\nredis.call('PING')\nend\nend\nwhile true \
             do\npcall(f)\nend",
        );
        transcript.kill(&mut caller);
        transcript.type_at(&mut caller, &["MULTI", "SET k 1"]);
        transcript.note(
            "EVAL",
            // The script has one line, because the error names the line that the kill interrupted.
            String::from_utf8_lossy(&caller.ask(&["EVAL", "while true do local a = 1 end", "0"])),
        );
        transcript.type_at(&mut caller, &["SET k 2"]);
        caller.write(&[encode(&["EXEC"]), encode(&["PING"])].concat());
        transcript.wait_until("busy", "GET k", |answer| answer.starts_with("-BUSY "));
        transcript.kill(&mut caller);
        transcript.type_at(&mut caller, &["GET k"]);
    });
}

#[test]
fn a_script_that_has_written_goes_on_until_the_server_is_shut_down() {
    compare(|transcript| {
        let (mut caller, mut waiting) = (transcript.client(), transcript.client());
        waiting.write(&encode(&["BLPOP", "list", "0"]));
        transcript
            .wait_until("blocked", "INFO clients", |answer| answer.contains("blocked_clients:1"));
        let script = "redis.call('SET', KEYS[1], 1)\nredis.call('RPUSH', 'list', 1)\nwhile true \
         do\nlocal a = 1\nend";
        transcript.begin(&mut caller, script);
        transcript.type_at(&mut transcript.client(), &["SCRIPT KILL", "GET k", "MULTI", "EXEC"]);
        let mut last = transcript.client();
        last.write(&encode(&["SHUTDOWN", "NOSAVE"]));
        for client in [&mut last, &mut caller, &mut waiting] {
            transcript.record_messages(client);
        }
        let port = transcript.port;
        wait_for("nobody listens any more", || TcpStream::connect(("127.0.0.1", port)).err());
    });
}

#[test]
fn a_script_that_is_long_and_ends_is_as_good_as_any() {
    compare(|transcript| {
        let mut caller = transcript.client();
        caller.write(
            &[encode(&[
                "EVAL",
                "for i = 1, 3000000 do end redis.call('SET', KEYS[1], 1) return 'done'",
                "1",
                "k",
            ])]
            .concat(),
        );
        transcript.record_messages(&mut caller);
        transcript.wait_until("not busy", "GET k", |answer| !answer.starts_with("-BUSY "));
        transcript.type_at(&mut transcript.client(), &["GET k", "SCRIPT KILL"]);
    });
}
