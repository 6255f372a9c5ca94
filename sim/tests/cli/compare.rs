use crate::answer::{Answer, fencepost, fencepost_in, json};
use crate::refusal::is_refused;

const SEEDS: &str = "0..30";

const LONG_HOLDS: [&str; 8] =
    ["--seeds", "0..40", "--client", "single-node", "--fault", "none", "--hold", "8s..14s"];

fn compare(arguments: &[&str]) -> Answer {
    fencepost(&[&["compare", "--quiet", "--seeds", SEEDS, "--fault", "pause"], arguments].concat())
}

fn sweep_in(folder: &std::path::Path, file: &str, arguments: &[&str]) {
    let common = ["sweep", "--quiet", "--no-shrink", "--format", "json"];
    let answer = fencepost_in(folder, &[&common, arguments].concat());
    assert!(answer.status < 2, "{}", answer.stderr);
    std::fs::write(folder.join(file), answer.stdout).unwrap();
}

#[test]
fn two_locks_stand_side_by_side_in_every_format() {
    for format in ["text", "json", "markdown", "html"] {
        let answer = compare(&["single-node", "fencing", "--format", format]);
        assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{format}");
        assert!(answer.stdout.contains("single-node"), "{format}: {}", answer.stdout);
        if format == "text" {
            let wide = answer.stdout.lines().find(|line| line.chars().count() > 100);
            assert_eq!(wide, None);
        }
    }
}

#[test]
fn counts_are_those_of_a_sweep() {
    let folder = tempfile::tempdir().unwrap();
    sweep_in(
        folder.path(),
        "sweep.json",
        &["--seeds", SEEDS, "--client", "single-node", "--fault", "pause"],
    );
    let sweep = std::fs::read_to_string(folder.path().join("sweep.json")).unwrap();
    let sweep = json(&sweep);
    let answer = compare(&["fencing", "single-node", "--format", "json"]);
    let comparison = answer.json();
    let half = &comparison["pairs"][0]["b"];
    for field in ["client", "runs", "violated", "rate"] {
        assert_eq!(half[field], sweep["cells"][0][field], "{field}");
    }
    assert!(half["violated"].as_u64() > Some(0), "{half}");
}

#[test]
fn a_shorter_lease_is_told_apart_from_a_longer_one_and_the_setting_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (file, ttl) in [("short.json", "10s"), ("long.json", "60s")] {
        sweep_in(folder.path(), file, &[&LONG_HOLDS[..], &["--ttl", ttl]].concat());
    }
    let answer = fencepost_in(folder.path(), &["compare", "short.json", "long.json"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
    for words in ["B less often", "only in A: overlap by hold-too-long", "settings differ: ttl: "] {
        assert!(answer.stdout.contains(words), "{words}: {}", answer.stdout);
    }
}

#[test]
fn a_sweep_tells_what_changed_since_its_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let run = |ttl: &'static str, more: &[&'static str]| {
        let common = ["sweep", "--quiet", "--no-shrink", "--ttl", ttl];
        fencepost_in(folder.path(), &[&common, &LONG_HOLDS[..], more].concat())
    };
    let old = run("60s", &["--format", "json"]).stdout;
    std::fs::write(folder.path().join("old.json"), old).unwrap();
    let same = run("60s", &["--baseline", "old.json"]);
    assert!(same.stdout.contains("no significant difference"), "{}", same.stdout);
    assert!(!same.stdout.contains("only in"), "{}", same.stdout);
    let worse = run("10s", &["--baseline", "old.json"]);
    assert_eq!(worse.status, 1);
    for words in ["A is old.json, B is this sweep", "B more often", "only in B: overlap by"] {
        assert!(worse.stdout.contains(words), "{words}: {}", worse.stdout);
    }
    let compared = run("10s", &["--baseline", "old.json", "--format", "json"]).json();
    assert_eq!(compared["baseline"]["pairs"][0]["difference"], "more");
    std::fs::write(folder.path().join("new.json"), compared.to_string()).unwrap();
    let merged = fencepost_in(folder.path(), &["merge", "new.json"]);
    assert_eq!((merged.status, merged.stderr.as_str()), (1, ""));
    let refused = run("10s", &["--baseline", "old.json", "--format", "junit"]);
    is_refused(&refused, &["does not support --baseline"]);
}

#[test]
fn what_cannot_be_compared_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    sweep_in(folder.path(), "pause.json", &["--seeds", "0..2", "--client", "single-node"]);
    for (sides, words) in [
        (["single-node", "redlok"], "did you mean 'redlock'?"),
        (["single-node", "single-node"], "expected two different locks"),
        (["single-node", "pause.json"], "not one of each"),
        (["pause.json", "missing.json"], "missing.json"),
    ] {
        let answer = fencepost_in(folder.path(), &["compare", sides[0], sides[1]]);
        is_refused(&answer, &[words]);
    }
}
