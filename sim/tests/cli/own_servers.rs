use crate::answer::fencepost_in;
use crate::refusal::is_refused;
use fencepost_testing::skip;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const BEANSTALKD: &str = "/usr/bin/beanstalkd";
const PYTHON: &str = "/usr/bin/python3";
const WORKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/programs/beanstalkd_job.py");

fn is_missing() -> bool {
    let missing = [BEANSTALKD, PYTHON].into_iter().find(|path| !Path::new(path).exists());
    missing.inspect(|path| skip("FENCEPOST_REAL_BEANSTALKD", path)).is_some()
}

fn worker(how: &str) -> String {
    format!("job={PYTHON} {WORKER} {how}")
}

fn asked<'w>(server: &'w str, program: &'w str, more: &[&'w str]) -> Vec<&'w str> {
    let words = ["--server", server, "--program", program, "--ttl", "4s", "--hold", "1s..8s"];
    [more, &words, &["--cycles", "4", "--format", "json"]].concat()
}

#[test]
fn a_holder_that_outlasts_its_time_to_run_is_caught_and_one_that_renews_it_is_not() {
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = format!("queue={BEANSTALKD} -b . -f 0");
    let run = |how: &str| {
        let program = worker(how);
        let fault = ["--seed", "4", "--fault", "pause", "--set", "pause=500ms..1500ms"];
        let answer = fencepost_in(folder.path(), &asked(&server, &program, &fault));
        let run = answer.json()["runs"][0].clone();
        assert_eq!(run["not_reproducible"], Value::Null, "{how}");
        assert_eq!(run["failure"], Value::Null, "{how}");
        run
    };
    assert_eq!(run("touch")["verdict"], "valid");
    let broken = run("");
    assert_eq!(broken["verdict"], "violated");
    let overlap = broken["violations"].as_array().unwrap().iter();
    let overlap = overlap.clone().find(|one| one["kind"] == "overlap").unwrap();
    let said = overlap["summary"].as_str().unwrap();
    assert!(said.contains("fencepost does not see the locks of this server"), "{said}");
    assert!(!said.contains("report the seed"), "{said}");
    let note = broken["note"].as_str().unwrap();
    assert!(note.contains("server-1 is queue:11300: /usr/bin/beanstalkd -b . -f 0"), "{note}");
}

#[test]
fn every_fault_that_can_reach_such_a_server_does_and_two_runs_are_equal() {
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = format!("queue:11300={BEANSTALKD} -b . -f 0");
    let program = worker("touch");
    for (fault, reaches) in [
        ("restart+slow-server", true),
        ("partition+lost-reply+lost-request", true),
        ("clock-jump+clock-drift+latency", true),
        ("failover", false),
        ("eviction+operator+replication-lag", false),
    ] {
        let words = asked(&server, &program, &["--seed", "1", "--fault", fault, "--no-shrink"]);
        let report = fencepost_in(folder.path(), &words).json();
        let run = &report["runs"][0];
        assert_eq!(run["not_reproducible"], Value::Null, "{fault}");
        assert_eq!(run["failure"], Value::Null, "{fault}");
        assert_eq!(run["faults_fired"].as_u64() > Some(0), reaches, "{fault}");
    }
}

#[test]
fn a_report_is_replayed_with_the_same_server_only() {
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::copy(BEANSTALKD, at("queued")).unwrap();
    let options = format!(
        "server = \"queue=./queued -b .\"\nprogram = \"{}\"\nttl = \"4s\"\ncycles = 4\nhold = \
         \"1s..8s\"\nfault = \"pause\"\n",
        worker("")
    );
    fs::write(at("fencepost.toml"), options).unwrap();
    let words = ["--seed", "4", "--set", "pause=500ms..1500ms", "--format", "json"];
    let answer = fencepost_in(folder.path(), &words);
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    fs::write(at("report.json"), &answer.stdout).unwrap();
    let replay = |more: &[&str]| {
        fencepost_in(folder.path(), &[&["replay"], more, &["report.json"]].concat())
    };
    assert_eq!(replay(&[]).status, 1, "{}", replay(&[]).stderr);
    let shown = answer.json()["runs"][0]["violations"][0]["replay"].as_str().unwrap().to_owned();
    assert!(shown.contains("/queued -b .'"), "{shown}");
    let mut bytes = fs::read(at("queued")).unwrap();
    bytes.push(0);
    fs::write(at("queued"), bytes).unwrap();
    is_refused(&replay(&[]), &["a file of the server 'queue'"]);
    let allowed = replay(&["--allow-changed"]);
    assert_eq!(allowed.status, 1, "{}", allowed.stderr);
    assert!(allowed.stderr.contains("the histories are not compared"), "{}", allowed.stderr);
}

fn script(folder: &Path, name: &str, does: &str) {
    fs::write(folder.join(name), format!("#!/bin/sh\n{does}\n")).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_server_that_cannot_serve_is_an_error_of_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    script(at, "dies", "echo 'Fatal: no licence' >&2; exit 3");
    script(at, "leaves", "sleep 1000 & exit 0");
    script(at, "sleeps", "sleep 100000");
    script(at, "forks", "while :; do sleep 1000 & done");
    script(at, "grows", "exec truncate -s 2G big");
    fs::write(at.join("plain"), "").unwrap();
    for (server, expected) in [
        ("queue", "expected NAME=CMD or NAME:PORT=CMD"),
        ("Queue=./sleeps", "expected a NAME of lower-case letters"),
        ("storage=./sleeps", "another machine has the name storage"),
        ("queue=./nowhere", "program './nowhere' not found"),
        ("queue=./plain", "'./plain' is not executable"),
        ("queue=./dies", "exited with status 3 before it was ready: Fatal: no licence"),
        ("queue=./leaves", "expected a server that stays in the foreground"),
        ("queue=./sleeps", "did not listen on any IPv4 TCP port within 10 s of its start"),
        (
            "queue:7=./sleeps",
            "did not listen on port 7 within 10 s of its start (open ports: none)",
        ),
        ("queue=./forks", "has more than 256 threads before it was ready"),
        ("queue=./grows", "because it wrote a file of 1 GiB before it was ready"),
    ] {
        let words = ["--server", server, "--program", "worker=./sleeps"];
        let named = format!("--server '{server}'");
        is_refused(&fencepost_in(at, &words), &[expected, &named]);
    }
}

#[test]
fn a_server_belongs_to_a_program_and_replaces_its_coordinator() {
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), "sleeps", "sleep 100000");
    let server = ["--server", "queue:7=./sleeps", "--server", "queue:8=./sleeps"];
    for (more, expected) in [
        (&[][..], "--program"),
        (&["--program", "./sleeps", "--coordinator", "etcd"], "--coordinator"),
        (&["--program", "./sleeps"], "given twice"),
    ] {
        is_refused(&fencepost_in(folder.path(), &[&server, more].concat()), &[expected]);
    }
}
