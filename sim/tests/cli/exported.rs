use crate::answer::fencepost_in;
use crate::refusal::is_refused;
use fencepost_testing::skip;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

const PAUSE: &str = "--client single-node --fault pause --seed 2 --ttl 2s --hold 10ms..1800ms \
                     --cycles 6";
const RESTART: &str = "--client single-node --fault restart --seed 54 --ttl 2s \
                       --hold 10ms..1800ms --cycles 6";

fn reported(options: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let words: Vec<&str> = options.split(' ').chain(["--format", "json"]).collect();
    let answer = fencepost_in(folder.path(), &words);
    assert!(answer.status != 2, "{options}: {}", answer.stderr);
    fs::write(folder.path().join("report.json"), answer.stdout).unwrap();
    folder
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|said| said.status.success())
}

fn shows(options: &str, violation: &str) {
    if !is_installed("redis-server") || !is_installed("python3") {
        skip("FENCEPOST_REAL_REDIS", "redis-server or python3");
        return;
    }
    let folder = reported(options);
    let words = ["export", "report.json", "--as", "script", "--out", "shown"];
    let answer = fencepost_in(folder.path(), &words);
    assert_eq!((answer.status, &*answer.stdout), (0, "sh shown/run.sh\n"), "{}", answer.stderr);
    let files = TempDir::new().unwrap();
    let mut script = Command::new("sh");
    script.arg(folder.path().join("shown/run.sh")).env("TMPDIR", files.path());
    let shown = script.output().unwrap();
    let said = String::from_utf8_lossy(&shown.stdout);
    let errors = String::from_utf8_lossy(&shown.stderr);
    assert_eq!(shown.status.code(), Some(1), "{said}{errors}");
    assert!(said.starts_with(violation), "{said}");
    assert!(said.contains("VIOLATION SHOWN: "), "{said}");
    let left: Vec<_> = files.path().read_dir().unwrap().collect();
    assert!(left.is_empty(), "left over: {left:?}");
}

#[test]
fn a_script_shows_an_overlap_by_a_pause_on_a_real_server() {
    shows(PAUSE, "overlap by holder-pause: single-node under pause");
}

#[test]
fn a_script_shows_an_overlap_by_a_restart_on_real_servers() {
    shows(RESTART, "overlap by restart-without-delay: single-node under restart");
}

#[test]
fn what_no_script_can_show_is_refused_in_one_line() {
    let server_clock = "a fault changes the clock of redis-1 alone";
    for (options, why) in [
        ("--client single-node --fault clock-jump --seed 0 --cycles 8", server_clock),
        ("--client etcd-mutex --fault pause --seed 2 --no-shrink", "the lock uses etcd, not redis"),
        ("--client setnx --fault client-crash --seed 0 --no-shrink", "and stale writes, not stuck"),
        (
            "--client single-node --fault none --seed 0",
            "expected a report of a run with a violation",
        ),
        ("--client single-node,set-ex-del --fault pause --seed 15", "several runs have violations"),
    ] {
        let folder = reported(options);
        let words = ["export", "report.json", "--as", "script"];
        let answer = fencepost_in(folder.path(), &words);
        is_refused(&answer, &[why]);
        assert!(!folder.path().join("violation").exists(), "{options}");
    }
}

#[test]
fn wrong_arguments_of_an_export_are_named() {
    let folder = reported(PAUSE);
    let full = folder.path().join("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("file"), "").unwrap();
    for (arguments, why) in [
        ("--as scrip", "unknown --as 'scrip' (did you mean 'script'?)"),
        ("--as script --out full", "--out 'full' already exists: expected a new folder"),
        ("--as script --violation 0", "--violation '0' is not in report.json: expected one of "),
    ] {
        let words: Vec<&str> =
            ["export", "report.json"].into_iter().chain(arguments.split(' ')).collect();
        let answer = fencepost_in(folder.path(), &words);
        is_refused(&answer, &[why]);
    }
}
