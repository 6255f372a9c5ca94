use crate::config::{NodeConfig, Persistence};
use crate::testing::{Bench, check};
use fencepost_machine::{ConnectionId, Input, Machine, Now, Output, Outputs};

#[test]
fn shutdown_closes_every_connection_and_nobody_is_served_any_more() {
    let mut bench = Bench::new();
    bench.run("SET k v");
    assert_eq!(bench.run("SHUTDOWN NOSAVE"), "");
    bench.closed.sort_unstable();
    assert_eq!(bench.closed, [ConnectionId(0), ConnectionId(1), ConnectionId(2)]);
    let mut out = Outputs::default();
    bench.node.handle(
        Input::Accepted { connection: ConnectionId(3), peer: "x:1" },
        Now::unstepped(bench.now),
        &mut out,
    );
    assert!(out.stopped);
    bench.node.handle(Input::Timer, Now::unstepped(bench.now), &mut out);
    assert!(!out.list.iter().any(|output| matches!(output, Output::Send { .. })));
}

#[test]
fn shutdown_saves_if_there_are_save_points_or_it_is_asked_to() {
    let is_saved = |persistence, line: &str| {
        let mut bench = Bench::with(NodeConfig { persistence, ..NodeConfig::default() });
        bench.run("SET k v");
        let mut out = Outputs::default();
        let bytes = format!("{line}\r\n");
        let input = Input::Received { connection: ConnectionId(0), bytes: bytes.as_bytes() };
        bench.node.handle(input, Now::unstepped(bench.now), &mut out);
        out.list.iter().any(|output| matches!(output, Output::DiskReplace { .. }))
    };
    assert!(is_saved(Persistence::Rdb, "SHUTDOWN"));
    assert!(!is_saved(Persistence::Rdb, "SHUTDOWN NOSAVE"));
    assert!(is_saved(Persistence::None, "SHUTDOWN SAVE"));
    assert!(!is_saved(Persistence::None, "SHUTDOWN"));
}

#[test]
fn a_signal_saves_if_there_are_save_points_and_the_server_still_runs() {
    let is_saved = |persistence, line: &str| {
        let mut bench = Bench::with(NodeConfig { persistence, ..NodeConfig::default() });
        bench.run(line);
        let mut out = Outputs::default();
        bench.node.shut_down(Now::unstepped(bench.now), &mut out);
        out.list.iter().any(|output| matches!(output, Output::DiskReplace { .. }))
    };
    assert!(is_saved(Persistence::Rdb, "SET k v"));
    assert!(!is_saved(Persistence::Rdb, "CONFIG SET save \"\""));
    assert!(!is_saved(Persistence::Rdb, "SHUTDOWN NOSAVE"));
    assert!(!is_saved(Persistence::None, "SET k v"));
}

#[test]
fn a_shutdown_that_contradicts_itself_is_refused() {
    check(&[
        ("SHUTDOWN SAVE NOSAVE", "-ERR syntax error"),
        ("SHUTDOWN ABORT NOW", "-ERR syntax error"),
        ("SHUTDOWN please", "-ERR syntax error"),
        ("SHUTDOWN ABORT", "-ERR No shutdown in progress."),
        ("MULTI", "+OK"),
        ("SHUTDOWN", "-ERR Command not allowed inside a transaction"),
    ]);
}

#[test]
fn save_points_can_be_read_and_set() {
    check(&[
        ("CONFIG GET save", "*2|$4|save|$23|3600 1 300 100 60 10000"),
        ("CONFIG SET save \"10 2 5 100\"", "+OK"),
        ("CONFIG GET save", "*2|$4|save|$10|10 2 5 100"),
        (
            "CONFIG SET save \"10 2 5\"",
            "-ERR CONFIG SET failed (possibly related to argument 'save') - Invalid save \
             parameters",
        ),
        ("CONFIG SET save \"\"", "+OK"),
        ("CONFIG GET save", "*2|$4|save|$0|"),
    ]);
}
