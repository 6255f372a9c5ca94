use crate::testing::{Bench, readable};
use fencepost_machine::{ConnectionId, Input, InputDriver, InterruptedMachine, Output, Outputs};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

const BUSY: &str =
    "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";

#[derive(Debug, Default)]
struct ScriptedDriver {
    now: Cell<u64>,
    lines: RefCell<Vec<(u32, &'static str)>>,
    seen: RefCell<Vec<String>>,
    must_stop: Cell<bool>,
}

impl InputDriver for ScriptedDriver {
    fn now(&self) -> Duration {
        Duration::from_secs(self.now.replace(self.now.get() + 10))
    }

    fn must_stop(&self) -> bool {
        self.must_stop.get()
    }

    fn deliver_input(&self, interrupted: &mut dyn InterruptedMachine) {
        let mut lines = self.lines.borrow_mut();
        let Some((client, line)) = lines.pop() else { return };
        if line == "leave" {
            return self.must_stop.set(true);
        }
        let connection = ConnectionId(client);
        if !interrupted.takes(connection) {
            return self.seen.borrow_mut().push(format!("{client} is not served"));
        }
        let mut out = Outputs::default();
        let bytes = [line.as_bytes(), b"\r\n"].concat();
        interrupted.handle(Input::Received { connection, bytes: &bytes }, &mut out);
        while out.more {
            interrupted.handle(Input::Continue, &mut out);
        }
        self.seen.borrow_mut().extend(out.list.iter().map(describe));
    }
}

fn describe(output: &Output) -> String {
    match output {
        Output::Send { connection, bytes } => format!("{}>{}", connection.0, readable(bytes)),
        Output::Close { connection } => format!("{} is closed", connection.0),
        other => format!("{other:?}"),
    }
}

fn run(bench: &mut Bench, script: &str, lines: &[(u32, &'static str)]) -> (Vec<String>, String) {
    let scripted = Rc::new(ScriptedDriver::default());
    scripted.lines.borrow_mut().extend(lines.iter().rev());
    bench.node.set_driver(Rc::<ScriptedDriver>::clone(&scripted));
    let answer = readable(&bench.words(0, &[b"EVAL", script.as_bytes(), b"1", b"k"]));
    (scripted.seen.take(), answer)
}

#[test]
fn others_are_answered_and_may_end_a_script_that_has_not_written() {
    let mut bench = Bench::new();
    let lines = [
        (1, "GET k"),
        (0, "GET k"),
        (2, "GET"),
        (1, "MULTI\r\nSET k v\r\nEXEC"),
        (2, "SHUTDOWN"),
        (2, "QUIT"),
        (1, "SCRIPT KILL\r\nPING"),
    ];
    let (seen, answer) =
        run(&mut bench, "while true do pcall(function() while true do end end) end", &lines);
    let expected = [
        &format!("1>{BUSY}"),
        "0 is not served",
        "2>-ERR wrong number of arguments for 'get' command",
        "1>+OK",
        &format!("1>{BUSY}"),
        &format!("1>-EXECABORT Transaction discarded because of: {}", &BUSY[1..]),
        &format!("2>{BUSY}"),
        "2>+OK",
        "2 is closed",
        "1>+OK",
        &format!("1>{BUSY}"),
    ];
    assert_eq!(seen, expected);
    assert!(
        answer.starts_with("-ERR Script killed by user with SCRIPT KILL... script: "),
        "{answer}"
    );
    assert!(answer.ends_with(", on @user_script:1."), "{answer}");
    assert_eq!(bench.run("GET k"), "$-1");
}

#[test]
fn a_script_that_has_written_is_whole_whatever_happens_meanwhile() {
    let mut bench = Bench::new();
    assert_eq!(bench.type_at(2, "BLPOP k 0"), "");
    let script = "redis.call('RPUSH', KEYS[1], 'a') for i = 1, 1000000 do end redis.call('RPUSH', \
     KEYS[1], 'b')";
    let (seen, answer) =
        run(&mut bench, script, &[(1, "SCRIPT KILL"), (1, "WATCH k"), (1, "UNWATCH")]);
    assert!(
        seen[0].starts_with("1>-UNKILLABLE Sorry the script already executed write commands"),
        "{seen:?}"
    );
    assert_eq!(seen[1..], ["1>+OK", "1>+OK"]);
    assert_eq!(answer, "$-1");
    assert_eq!(bench.replies(2), "*2|$1|k|$1|a");
    assert_eq!(bench.propagated(), "MULTI | RPUSH k a | RPUSH k b | EXEC | LPOP k");
}

#[test]
fn shutdown_ends_a_script_and_what_it_wrote_goes_nowhere() {
    let mut bench = Bench::new();
    bench.type_at(0, "MULTI");
    bench.type_at(0, "SET before 1");
    bench.words(0, &[b"EVAL", b"redis.call('SET', 'k', 1) while true do end", b"0"]);
    bench.type_at(0, "SET after 1");
    let scripted = Rc::new(ScriptedDriver::default());
    scripted.lines.borrow_mut().push((1, "SHUTDOWN NOSAVE"));
    bench.node.set_driver(Rc::<ScriptedDriver>::clone(&scripted));
    assert_eq!(bench.type_at(0, "EXEC"), "", "there is no answer but the end");
    assert_eq!(scripted.seen.take(), ["2 is closed", "1 is closed"]);
    assert_eq!(bench.closed, [ConnectionId(0)]);
    assert_eq!(bench.propagated(), "");
}

#[test]
fn a_driver_that_has_to_end_ends_the_script() {
    let mut bench = Bench::new();
    let (seen, answer) = run(&mut bench, "while true do end", &[(1, "leave")]);
    assert_eq!((seen.len(), answer.as_str()), (0, ""));
    assert_eq!(bench.closed.len(), 3);
}

#[test]
fn a_short_script_and_one_that_nobody_may_interrupt_are_left_alone() {
    let mut bench = Bench::new();
    bench.run("CONFIG SET busy-reply-threshold 0");
    assert_eq!(bench.run("CONFIG GET lua-time-limit"), "*2|$14|lua-time-limit|$1|0");
    let (seen, answer) = run(&mut bench, "for i = 1, 1000000 do end return 1", &[(1, "GET k")]);
    assert_eq!((seen.len(), answer.as_str()), (0, ":1"));
    bench.run("CONFIG SET lua-time-limit 3600000");
    let (seen, answer) = run(&mut bench, "for i = 1, 1000000 do end return 1", &[(1, "GET k")]);
    assert_eq!((seen.len(), answer.as_str()), (0, ":1"));
    let refused = "-ERR CONFIG SET failed (possibly related to argument 'lua-time-limit') - \
     argument must be between 0 \
                   and 9223372036854775807 inclusive";
    assert_eq!(bench.run("CONFIG SET lua-time-limit -1"), refused);
}
