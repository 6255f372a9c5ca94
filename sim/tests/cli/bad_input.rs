use crate::answer::{fencepost, fencepost_in};
use crate::refusal::{refusal, refusal_in, refuses};
use std::path::Path;

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    refuses(&["--client", "redlok"], &["redlok", "redlock", "fencepost list clients"]);
    refuses(&["compare", "redlok", "fencing"], &["redlok", "redlock", "fencepost list clients"]);
    refuses(&["--fault", "pauze"], &["pauze", "pause", "failover"]);
    refuses(&["--fault", "none+pause"], &["none"]);
    refuses(&["--format", "pdf"], &["pdf", "text", "json"]);
    refuses(&["--workload", "bank"], &["bank", "register"]);
    refuses(&["--engine", "warp"], &["warp", "turmoil"]);
    refuses(&["schema", "poem"], &["poem", "report"]);
    refuses(&["frobnicate"], &["frobnicate"]);
}

#[test]
fn a_lua_lock_in_another_place_is_refused_with_the_option() {
    for arguments in [
        &["my.lua"][..],
        &["run", "my.lua"],
        &["--client", "my.lua"],
        &["sweep", "--seeds", "0..2", "--client", "my.lua"],
    ] {
        refuses(arguments, &["'my.lua': expected --lock my.lua for a lock in Lua"]);
    }
    refuses(&["--lock", "."], &["error: .: is a folder: expected a lock in Lua"]);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.md"), "# Notes\n").unwrap();
    let line = refusal_in(folder.path(), &["--lock", "notes.md"]);
    assert!(line.contains("notes.md:1:1: ") && line.contains(": expected a lock in Lua"), "{line}");
    for command in ["replay", "merge"] {
        let line = refusal_in(folder.path(), &[command, "notes.md"]);
        assert!(line.starts_with("error: notes.md: not JSON: expected a "), "{line}");
    }
    std::fs::write(folder.path().join("list.json"), "[]").unwrap();
    let line = refusal_in(folder.path(), &["shrink", "list.json"]);
    assert_eq!(line, "error: list.json: expected a report of `fencepost run --format json`");
}

#[test]
fn commands_that_lack_a_part_are_refused_with_it() {
    refuses(&["findings"], &["error: 'fencepost findings': expected one of list, accept, retest"]);
    refuses(&["new"], &["error: 'fencepost new': expected one of lock, program"]);
    refuses(&["sweep"], &["expected --seeds <A..B|+N>, like --seeds 0..1000"]);
    refuses(&["--seeds", "0..10"], &["did you mean '--seed'", "`fencepost sweep` for --seeds"]);
    refuses(&["compare", "all", "redlock"], &["'all': expected one lock"]);
    let one = refusal(&["compare", "nolock", "redlock"]);
    assert!(one.ends_with("expected a name from `fencepost list clients`"), "{one}");
    refuses(&["--client", "nolock"], &["expected all, or a name from `fencepost list clients`"]);
    let line = refusal(&["explain", "foriegn-release"]);
    assert_eq!(line, "error: unknown name 'foriegn-release' (did you mean 'foreign-release'?)");
}

#[test]
fn folders_that_cannot_be_made_are_refused_before_a_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let sweep = ["sweep", "--seeds", "0..2", "--no-shrink"];
    let line = refusal_in(folder.path(), &[&sweep[..], &["--out", "file/x"]].concat());
    assert!(line.contains("--out 'file/x': "), "{line}");
    let line = refusal_in(folder.path(), &[&sweep[..], &["--findings", "no/f.jsonl"]].concat());
    assert_eq!(
        line,
        "error: no/f.jsonl: no such folder: expected --findings FILE in a folder that exists"
    );
    assert!(!folder.path().join("no").exists());
}

#[test]
fn plans_that_cannot_be_played_are_refused() {
    let plan = |more: &[&'static str]| [&["serve", "--port", "0"], more].concat();
    for (more, expected) in [
        (&["--seed", "7"][..], &["--fault"][..]),
        (&["--repeat", "2"], &["--fault"]),
        (&["--fault", "falover"], &["falover", "failover"]),
        (&["--fault", "suspend"], &["suspend", "redis servers", "restart"]),
        (&["--fault", "all", "--seed", "x"], &["'x'", "decimal or hexadecimal"]),
        (&["--fault", "restart", "--duration", "0s"], &["--duration '0s'", "1m"]),
        (&["--fault", "restart", "--duration", "soon"], &["soon", "10s"]),
        (&["--fault", "restart", "--repeat", "0"], &["0", "1"]),
        (&["--fault", "restart", "--dir", "here"], &["--dir", "memory"]),
        (&["--fault", "restart", "--clock", "manual"], &["--clock manual", "--clock real"]),
        (&["--fault", "restart", "--real"], &["--real", "export REPORT --as script"]),
        (&["--fault", "failover", "--coordinator", "postgresql"], &["failover", "postgresql"]),
        (
            &["--fault", "restart", "--coordinator", "memcached", "--nodes", "2"],
            &["--nodes", "--nodes 1"],
        ),
    ] {
        refuses(&plan(more), expected);
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    refuses(&["--seed", "-1"], &["-1"]);
    refuses(&["--seed", "99999999999999999999"], &["99999999999999999999", "2^64-1"]);
    refuses(&["--processes", "0"], &["0", "from 1 to 64"]);
    refuses(&["--processes", "65"], &["65"]);
    refuses(&["--ttl", "0s"], &["ttl", "0us", "1ms"]);
    refuses(&["--ttl", "10"], &["10", "10s"]);
    refuses(&["--hold", "1s..1h"], &["hold", "max-time"]);
    refuses(&["--hold", "5s..1s"], &["5s..1s"]);
    refuses(&["--set", "quantum=1us"], &["quantum", "1us"]);
}

#[test]
fn explore_has_no_strategy() {
    refuses(&["explore", "--strategy", "aimed"], &["--strategy: remove this option"]);
    refuses(&["explore", "--set", "strategy=uniform"], &["--strategy: remove this option"]);
}

#[test]
fn calls_are_given_up_of_modelled_locks_and_where_moments_are_drawn() {
    refuses(&["--set", "cancel=sometimes"], &["sometimes", "acquire", "release", "both"]);
    refuses(&["--set", "patience=5s..1s"], &["5s..1s"]);
    let program = ["--program", "mine=true", "--set", "interrupt=acquire"];
    refuses(&program, &["interrupt 'acquire' does not work with mine: remove this setting"]);
    refuses(
        &["explore", "--client", "single-node", "--set", "cancel=both"],
        &["cancel 'both': remove this setting, because explore"],
    );
}

#[test]
fn threads_are_refused_where_the_lock_knows_none() {
    for threads in ["threads=0", "threads=17"] {
        let number = threads.trim_start_matches("threads=");
        refuses(&["--client", "redisson", "--set", threads], &["threads", number, "1 to 16"]);
    }
    let said = ["threads '2'", "expected 1, because redlock", "redisson", "spring-registry"];
    refuses(&["--client", "redisson,redlock", "--set", "threads=2"], &said);
    refuses(
        &["sweep", "--seeds", "0..2", "--client", "all", "--set", "threads=2"],
        &["threads '2'", "single-node"],
    );
    refuses(&["matrix", "--seeds", "0..2", "--set", "threads=2"], &["threads '2'", "single-node"]);
}

#[test]
fn sweeps_need_a_range_and_a_slice_of_it() {
    refuses(&["sweep"], &["--seeds"]);
    refuses(&["sweep", "--seeds", "5..5"], &["5..5"]);
    refuses(&["sweep", "--seeds", "9..3"], &["9..3"]);
    refuses(&["sweep", "--seeds", "0..10", "--shard", "3/2"], &["3/2", "m/n"]);
    refuses(&["sweep", "--seeds", "0..10", "--shard", "0/2"], &["0/2"]);
}

#[test]
fn scenarios_with_unknown_keys_are_refused() {
    refuses(&["--set", "tttl=1s"], &["tttl", "ttl"]);
    refuses(&["--set", "ttl"], &["KEY=VALUE"]);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("scenario.toml"), "masters = 'five'").unwrap();
    let line = refusal_in(folder.path(), &["--scenario", "scenario.toml"]);
    assert!(line.contains("scenario.toml"), "{line}");
    assert!(refusal(&["--scenario", "no-such-file.toml"]).contains("no-such-file.toml"));
}

#[test]
fn wrong_values_of_the_scenario_are_refused_with_the_valid_ones() {
    for (assignment, problem) in [
        ("unsynced-writes=half", "unknown value 'half': expected one of lost, torn"),
        ("workload=5", "unknown value '5': expected one of register, seckill, sequence, jobs"),
        (
            "standby=synchronus",
            "unknown value 'synchronus' (did you mean 'synchronous'?): expected",
        ),
        ("ttl=5", "duration '5': expected a number with a unit"),
        ("cycles=many", "expected a number from 1 to 4294967295"),
        ("cycles=-1", "expected a number from 1 to 4294967295"),
        ("replicas=70000", "expected a number from 0 to 31"),
        ("min-replicas=70000", "expected a number from 0 to 65535"),
    ] {
        refuses(&["--set", assignment], &[&format!("--set '{assignment}': {problem}")]);
    }
    let folder = tempfile::tempdir().unwrap();
    for (line, problem) in [
        ("sync-error = 'ebad'", "sync-error: unknown value 'ebad': expected one of eio, enospc"),
        ("masters = 'five'", "masters: expected a number from 1 to 31"),
    ] {
        std::fs::write(folder.path().join("scenario.toml"), line).unwrap();
        let said = refusal_in(folder.path(), &["--scenario", "scenario.toml"]);
        assert_eq!(said, format!("error: scenario.toml: line 1: {problem}"));
    }
}

fn report(folder: &Path) -> serde_json::Value {
    let arguments = [
        "--seed", "3", "--fault", "pause", "--client", "single-node", "--cycles", "2", "--format",
        "json",
    ];
    fencepost_in(folder, &arguments).json()
}

#[test]
fn reports_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, whole) = (folder.path().join("report.json"), report(folder.path()));
    let text = whole.to_string();
    let mut newer = whole.clone();
    newer["version"] = 3.into();
    let mut other = whole.clone();
    other["format"] = "fencepost.recipe".into();
    let mut stranger = whole.clone();
    stranger["runs"][0]["plan"]["faults"][0]["fault"] =
        serde_json::json!({ "kind": "pause", "node": "client-99", "duration_us": 5 });
    let mut late = whole.clone();
    late["runs"][0]["plan"]["faults"][0]["at_us"] = u64::MAX.into();
    let mut threaded = whole.clone();
    threaded["config"]["scenario"]["threads"] = 2.into();
    let cases = [
        ("lock, stock and barrel".to_owned(), "JSON"),
        (text[..text.len() / 2].to_owned(), "truncated"),
        (newer.to_string(), "version 3"),
        (other.to_string(), "fencepost.recipe"),
        (stranger.to_string(), "client-99"),
        (late.to_string(), "has effects beyond day 100"),
        (threaded.to_string(), "threads '2'"),
    ];
    for (content, says) in cases {
        std::fs::write(&path, content).unwrap();
        let line = refusal_in(folder.path(), &["replay", "report.json"]);
        assert!(
            line.contains("report.json") && line.contains(says),
            "{line:?} does not say {says:?}"
        );
    }
    assert!(refusal(&["replay", "no-such-report.json"]).contains("no-such-report.json"));
}

#[test]
fn a_report_whose_digest_is_another_is_a_mismatch() {
    let folder = tempfile::tempdir().unwrap();
    let mut forged = report(folder.path());
    forged["runs"][0]["history_digest"] = "0".repeat(64).into();
    std::fs::write(folder.path().join("report.json"), forged.to_string()).unwrap();
    let line = refusal_in(folder.path(), &["replay", "report.json"]);
    assert!(line.contains("the replayed history has the digest"), "{line}");
}

#[test]
fn formats_of_a_single_run_are_refused_for_sweeps() {
    for format in ["perfetto", "edn", "porcupine", "shiviz"] {
        let sweep = refusal(&["sweep", "--seeds", "0..1", "--format", format]);
        let merge = refusal(&["merge", "a.json", "--format", format]);
        for line in [sweep, merge] {
            assert!(line.contains(format) && line.contains("expected one of text, json"), "{line}");
        }
    }
}

#[test]
fn help_and_version_are_answers() {
    for flag in ["--help", "--version"] {
        let answer = fencepost(&[flag]);
        assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{flag}");
        assert!(answer.stdout.contains("fencepost"), "{flag}");
    }
}

#[test]
fn help_of_a_command_may_come_before_it() {
    let of = |arguments: &[&str]| {
        let answer = fencepost(arguments);
        assert_eq!(answer.status, 0, "{}", answer.stderr);
        answer.stdout
    };
    assert_eq!(of(&["help", "sweep"]), of(&["sweep", "--help"]));
    assert_eq!(of(&["help", "findings", "list"]), of(&["findings", "list", "--help"]));
    assert_eq!(of(&["list", "locks"]), of(&["list", "clients"]));
}

#[test]
fn help_fits_on_one_screen_and_the_whole_is_asked_for() {
    let (short, whole) = (fencepost(&["--help"]).stdout, fencepost(&["--help-all"]).stdout);
    assert!(short.lines().count() <= 60, "{short}");
    for common in ["sweep", "--seed", "--fault", "--lock", "--format", "--help-all"] {
        assert!(short.contains(common), "{common} is missing: {short}");
    }
    for rare in ["completions", "--restart-delay"] {
        assert!(!short.contains(rare) && whole.contains(rare), "{rare}: {short}");
    }
    assert!(fencepost(&["run", "--help"]).stdout.contains("--restart-delay"));
}

#[test]
fn an_error_is_one_bounded_line_whatever_it_quotes() {
    let long = "x".repeat(70_000);
    let line = refusal(&["--client", &long]);
    assert!(line.len() < 2_200 && line.contains("characters left out"), "{}", line.len());
    assert!(line.ends_with("a name from `fencepost list clients`"), "{line}");
    for name in ["a\nb\nc", "a\x1b[2J\x1b]0;title\x07", "a\u{202e}b\r"] {
        let line = refusal(&["--fault", name]);
        assert!(line.chars().all(|letter| !letter.is_control()), "{line:?}");
        assert!(!line.contains('\u{202e}'), "{line:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("odd\nname\x1b[2J.json"), "{}").unwrap();
    let line = refusal_in(folder.path(), &["replay", "odd\nname\x1b[2J.json"]);
    assert!(line.starts_with("error: odd\\nname\\u{1b}[2J.json: "), "{line}");
}

#[test]
fn servers_without_a_password_are_for_this_computer_only() {
    for bind in ["0.0.0.0", "::", "192.0.2.1"] {
        let words = ["serve", "--port", "0", "--bind", bind];
        refuses(&words, &[bind, "loopback", "--requirepass", "--no-protected-mode"]);
        refuses(&[&words[..], &["--requirepass", ""]].concat(), &["loopback"]);
    }
    let name = ["serve", "--bind", "localhost"];
    refuses(&name, &["'localhost' for '--bind <IP>': expected an IP address, like 127.0.0.1"]);
    for more in [&["--no-protected-mode"][..], &["--requirepass", "secret"]] {
        let words = [&["serve", "--port", "0", "--bind", "192.0.2.1"], more].concat();
        let line = refusal(&words);
        assert!(!line.contains("loopback") && line.contains("192.0.2.1"), "{line}");
    }
}

#[test]
fn a_closed_stderr_is_no_panic() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["--client", "nosuch"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
}
