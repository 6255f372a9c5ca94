//! Sweeps as CI runs them: killed and resumed, kept violations in files, expectations that decide
//! the exit status.

mod common;

use common::{fencepost, fencepost_in};
use std::path::Path;
use std::process::{Command, Stdio};

const SWEEP: &[&str] = &["sweep", "--client", "single-node", "--cycles", "4", "--quiet"];

fn sweep(folder: &Path, more: &[&str]) -> common::Answer {
    fencepost_in(folder, &[SWEEP, more].concat())
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn without_measured(text: &str) -> serde_json::Value {
    fn strip(value: &mut serde_json::Value) {
        if let Some(map) = value.as_object_mut() {
            map.remove("measured");
            map.values_mut().for_each(strip);
        } else if let Some(list) = value.as_array_mut() {
            list.iter_mut().for_each(strip);
        }
    }
    let mut value = json(text);
    strip(&mut value);
    value
}

#[test]
fn a_sweep_that_was_killed_goes_on_and_ends_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().unwrap();
    let common =
        ["--seeds", "5..150", "--fault", "pause", "--format", "json", "--max-violations", "7"];
    let whole = sweep(folder.path(), &common);
    let checkpointed = [&common[..], &["--checkpoint", "at", "--checkpoint-every", "0s"]].concat();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args([SWEEP, &checkpointed].concat())
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let checkpoint = folder.path().join("at");
    while !checkpoint.exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None, "it was killed before it ended");
    let at = json(&std::fs::read_to_string(&checkpoint).unwrap());
    let runs = at["sum"]["cells"][0]["runs"].as_u64().unwrap();
    assert!((1..145).contains(&runs), "it was killed midway: {runs}");
    let resumed = sweep(folder.path(), &[&checkpointed[..], &["--resume", "--jobs", "1"]].concat());
    assert_eq!(resumed.stderr, "");
    assert_eq!(without_measured(&resumed.stdout), without_measured(&whole.stdout));
}

#[test]
fn a_checkpoint_of_another_sweep_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let with = |seeds: &str, more: &[&str]| {
        let common = ["--seeds", seeds, "--checkpoint", "at", "--resume"];
        sweep(folder.path(), &[&common[..], more].concat())
    };
    assert_eq!(with("0..4", &[]).status, 0, "where there is no checkpoint the sweep begins");
    for (answer, says) in [
        (with("0..5", &[]), "seeds is 0..4, not 0..5"),
        (with("0..4", &["--ttl", "9s"]), "config is"),
        (
            with("0..4", &["--fault", "pause"]),
            "cells is single-node x none, not single-node x pause",
        ),
        (with("0..4", &["--shard", "1/2"]), "shard is 1/1, not 1/2"),
    ] {
        assert_eq!((answer.status, answer.stdout.as_str()), (2, ""));
        assert!(answer.stderr.contains(says), "{} does not say {says}", answer.stderr);
    }
    std::fs::write(folder.path().join("at"), "{").unwrap();
    assert!(with("0..4", &[]).stderr.contains("not a checkpoint"));
    let nowhere = sweep(folder.path(), &["--seeds", "0..4", "--resume"]);
    assert!(
        nowhere.stderr.contains("expected --checkpoint FILE or --out DIR"),
        "{}",
        nowhere.stderr
    );
}

#[test]
fn kept_violations_are_reports_that_replay() {
    let folder = tempfile::tempdir().unwrap();
    let answer = sweep(
        folder.path(),
        &[
            "--seeds",
            "0..60",
            "--fault",
            "pause",
            "--format",
            "json",
            "--out",
            "out",
            "--max-violations",
            "3",
        ],
    );
    let sum = json(&answer.stdout);
    let mut files: Vec<_> =
        std::fs::read_dir(folder.path().join("out")).unwrap().map(|file| file.unwrap()).collect();
    files.retain(|file| file.path().extension().is_some_and(|extension| extension == "json"));
    assert_eq!(files.len(), 3, "as many as --max-violations says");
    for found in sum["cells"][0]["fingerprints"].as_array().unwrap().iter().take(3) {
        let (seed, id) =
            (found["smallest"]["seed"].as_str().unwrap(), found["id"].as_str().unwrap());
        let path = format!("out/single-node-pause-{seed}-{id}.json");
        let replay = fencepost_in(folder.path(), &["replay", &path]);
        assert_eq!((replay.status, replay.stderr.as_str()), (1, ""), "{path}");
    }
    assert!(folder.path().join("out/sweep-1-of-1.checkpoint").exists());
}

#[test]
fn what_is_kept_does_not_depend_on_the_slices() {
    let folder = tempfile::tempdir().unwrap();
    let common = [
        "--seeds",
        "0..90",
        "--fault",
        "pause,failover",
        "--format",
        "json",
        "--max-violations",
        "4",
    ];
    let whole = sweep(folder.path(), &common);
    let mut files = Vec::new();
    for index in ["2", "3", "1"] {
        let slice =
            sweep(folder.path(), &[&common[..], &["--shard", &format!("{index}/3")]].concat());
        let name = format!("slice-{index}.json");
        std::fs::write(folder.path().join(&name), slice.stdout).unwrap();
        files.push(name);
    }
    let mut arguments = vec!["merge", "--format", "json"];
    arguments.extend(files.iter().map(String::as_str));
    let merged = fencepost_in(folder.path(), &arguments);
    let (merged, whole) = (without_measured(&merged.stdout), without_measured(&whole.stdout));
    assert_eq!(merged, whole);
    let kept = |cell: &serde_json::Value| -> usize {
        let found = cell["fingerprints"].as_array().unwrap();
        found.iter().map(|found| 1 + found["others"].as_array().map_or(0, Vec::len)).sum()
    };
    let anomalies = whole["cells"][0]["fingerprints"].as_array().unwrap().len();
    assert_eq!(kept(&whole["cells"][0]), anomalies.max(4));
}

#[test]
fn the_exit_status_says_whether_it_came_out_as_expected() {
    let folder = tempfile::tempdir().unwrap();
    let with = |expectations: &str| {
        std::fs::write(folder.path().join("expect.toml"), expectations).unwrap();
        sweep(
            folder.path(),
            &["--seeds", "0..40", "--fault", "none,pause", "--expect", "expect.toml"],
        )
    };
    let right = with("[single-node]\nnone = 'safe'\npause = 'violates'");
    assert_eq!((right.status, right.stderr.as_str()), (0, ""));
    let wrong = with("[single-node]\nnone = { violates = ['overlap'] }\npause = 'safe'");
    assert_eq!(wrong.status, 1);
    let lines: Vec<&str> = wrong.stderr.lines().collect();
    assert_eq!(
        lines[0],
        "not as expected: single-node x none: expected overlap, got no overlap in 40 runs"
    );
    assert!(
        lines[1]
            .starts_with("not as expected: single-node x pause: expected safe, got overlap in "),
        "{lines:?}"
    );
    // The last line is a command that shows it.
    let command = lines.last().unwrap().trim().strip_prefix("see it: fencepost ").unwrap();
    let shown = fencepost_in(folder.path(), &command.split(' ').collect::<Vec<_>>());
    assert!(shown.status == 1 && shown.stdout.contains("overlap"), "{command}: {}", shown.stdout);
    let silent = with("[single-node]\nnone = 'safe'");
    assert!(
        silent.status == 1 && silent.stderr.contains("the file does not have it"),
        "{}",
        silent.stderr
    );
    let unknown = with("[single-nod]\nnone = 'safe'");
    assert!(unknown.status == 2 && unknown.stderr.contains("single-nod"), "{}", unknown.stderr);
    let run = [
        "run",
        "--seed",
        "3",
        "--client",
        "single-node",
        "--cycles",
        "4",
        "--expect",
        "expect.toml",
    ];
    with("[single-node]\nnone = 'safe'");
    assert_eq!(fencepost_in(folder.path(), &run).status, 0);
    with("[single-node]\nnone = 'violates'");
    assert_eq!(fencepost_in(folder.path(), &run).status, 1);
}

#[test]
fn the_checked_in_matrix_is_accepted() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("expectations.toml");
    let answer =
        fencepost(&[SWEEP, &["--seeds", "0..4", "--expect", path.to_str().unwrap()]].concat());
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
}

#[test]
fn a_quiet_sweep_says_nothing_on_stderr() {
    assert_eq!(fencepost(&[SWEEP, &["--seeds", "0..4"]].concat()).stderr, "");
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_what_was_done_by_then() {
    use std::io::{BufRead, BufReader};
    let arguments = [
        "sweep",
        "--seeds",
        "0..1000000",
        "--client",
        "single-node",
        "--cycles",
        "2",
        "--format",
        "json",
    ];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command
        .args(arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The first line of progress: it has begun.
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut String::new()).unwrap();
    let interrupt = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupt.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let sum: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(sum["complete"], false);
    let runs = sum["cells"][0]["runs"].as_u64().unwrap();
    assert!((1..1_000_000).contains(&runs), "{runs}");
}
