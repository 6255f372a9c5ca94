use crate::answer::{Answer, fencepost_in};
use serde_json::Value;
use std::fs;

const RUN: &[&str] =
    &["--seed", "15", "--client", "single-node", "--fault", "pause", "--format", "json"];

fn run_of(answer: &Answer) -> Value {
    answer.json()["runs"][0].clone()
}

#[test]
fn a_minimal_run_replays_by_its_command_and_from_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| fencepost_in(folder.path(), arguments);
    let whole = run(RUN);
    fs::write(folder.path().join("run.json"), &whole.stdout).unwrap();
    let minimal = run(&["replay", "run.json", "--minimal", "--format", "json"]);
    fs::write(folder.path().join("minimal.json"), &minimal.stdout).unwrap();
    let (whole, minimal) = (run_of(&whole), run_of(&minimal));
    let stated = &whole["violations"][0]["minimal_run"];
    for key in ["processes", "cycles"] {
        assert_eq!(minimal["workload"][key], stated[key], "{key}");
    }
    assert_eq!(minimal["history_digest"], stated["history_digest"]);
    let command = minimal["violations"][0]["replay"].as_str().unwrap();
    assert_eq!(command, "fencepost replay run.json --minimal");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(run(&words).status, 1);
    let allowed = run(&[&words[..], &["--allow-changed", "--format", "json"]].concat());
    let stated = &run_of(&allowed)["violations"][0]["replay"];
    assert_eq!(*stated, format!("{command} --allow-changed"));

    let again = run(&["replay", "minimal.json", "--format", "json"]);
    assert_eq!(again.status, 1, "{}", again.stderr);
    let again = run_of(&again);
    for key in ["history_digest", "workload"] {
        assert_eq!(again[key], minimal[key], "{key}");
    }
    assert_eq!(again["violations"][0]["replay"], command);
}

#[test]
fn a_report_without_minimal_plans_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], said: &str| {
        let report = fencepost_in(folder.path(), arguments).stdout;
        fs::write(folder.path().join("a run.json"), report).unwrap();
        let answer = fencepost_in(folder.path(), &["replay", "a run.json", "--minimal"]);
        assert_eq!((answer.status, answer.stdout.as_str()), (2, ""));
        assert_eq!(answer.stderr, format!("error: a run.json {said}\n"));
    };
    let bare = [RUN, &["--no-shrink"]].concat();
    let advice = "has no minimal plans: replay the report that `fencepost shrink 'a run.json' \
                  --format json` prints";
    refused(&bare, advice);
    let shrunk = fencepost_in(folder.path(), &["shrink", "a run.json", "--format", "json"]);
    fs::write(folder.path().join("shrunk.json"), shrunk.stdout).unwrap();
    let followed = fencepost_in(folder.path(), &["replay", "shrunk.json", "--minimal"]);
    assert_eq!(followed.status, 1, "{}", followed.stderr);
    let quiet = ["--seed", "1", "--client", "single-node", "--cycles", "3", "--format", "json"];
    refused(&quiet, "has no violations, so it has no minimal plans");
}
