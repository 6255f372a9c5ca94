use crate::answer::fencepost;
use crate::refusal::refuses;
use crate::schema::satisfies;
use serde_json::Value;

#[test]
fn reports_and_sweeps_satisfy_their_schemas() {
    let run = [
        "--seed", "2", "--fault", "failover,pause", "--cycles", "6", "--format", "json",
        "--with-history",
    ];
    let report = fencepost(&run).json();
    let sweep = [
        "sweep", "--seeds", "0..12", "--fault", "pause", "--cycles", "6", "--format", "json", "-q",
    ];
    let sweep = fencepost(&sweep).json();
    let plan = report["runs"][0]["plan"].clone();
    let history = report["runs"][0]["history"].clone();
    for (name, value) in
        [("report", &report), ("sweep", &sweep), ("plan", &plan), ("history", &history)]
    {
        satisfies(name, value);
    }
}

#[test]
fn a_report_holds_what_the_contract_names() {
    let run = ["--seed", "2", "--fault", "pause", "--client", "single-node", "--format", "json"];
    let report = fencepost(&run).json();
    assert_eq!(report["format"], "fencepost.report");
    assert_eq!(report["version"], 2);
    assert_eq!(report["seed"], "2", "seeds are decimal strings");
    let run = &report["runs"][0];
    for key in [
        "client", "fault", "verdict", "expected", "history_digest", "virtual_time_us",
        "operations", "acquisitions", "messages", "faults_fired", "plan", "latency_us",
        "violations", "timeline",
    ] {
        assert!(!run[key].is_null(), "{key}");
    }
    let violation = &run["violations"][0];
    for key in [
        "id", "kind", "severity", "resource", "at_us", "duration_us", "processes", "cause",
        "summary", "witness",
    ] {
        assert!(!violation[key].is_null(), "{key}");
    }
    assert!(violation["replay"].as_str().unwrap().starts_with("fencepost "));
}

#[test]
fn a_recorded_history_is_judged_again_alike() {
    let folder = tempfile::tempdir().unwrap();
    let run = [
        "--seed", "1", "--fault", "pause", "--client", "single-node", "--format", "json",
        "--with-history",
    ];
    let report = fencepost(&run).json();
    let (path, history) = (folder.path().join("history.json"), &report["runs"][0]["history"]);
    std::fs::write(&path, history.to_string()).unwrap();
    let answer = fencepost(&["check", path.to_str().unwrap(), "--format", "json"]);
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    let judged = answer.json();
    let ids = |violations: &Value| -> Vec<String> {
        violations.as_array().unwrap().iter().map(|violation| violation["id"].to_string()).collect()
    };
    assert_eq!(ids(&judged["violations"]), ids(&report["runs"][0]["violations"]));
    assert!(!ids(&judged["violations"]).is_empty());
    let mut swapped = history.clone();
    swapped["events"][5]["time_us"] = 0.into();
    std::fs::write(&path, swapped.to_string()).unwrap();
    refuses(&["check", path.to_str().unwrap()], &["event 5"]);
}

#[test]
fn exit_statuses_follow_the_verdicts() {
    let status = |arguments: &[&str]| fencepost(arguments).status;
    let quick = ["--cycles", "3", "--client", "single-node"];
    assert_eq!(status(&[&["--seed", "1"], &quick[..]].concat()), 0, "no faults, no violation");
    assert_eq!(
        status(&["--seed", "1", "--fault", "pause", "--client", "single-node"]),
        1,
        "a violation"
    );
    assert_eq!(
        status(&[
            "--seed", "0", "--fault", "replication-lag", "--client", "redlock", "--cycles", "2"
        ]),
        3
    );
}

#[test]
fn everything_that_list_names_can_be_asked_for() {
    for what in ["clients", "coordinators", "faults", "workloads", "storages", "formats"] {
        let rows = fencepost(&["list", what, "--format", "json"]).json();
        let rows = rows.as_array().unwrap();
        assert!(rows.len() >= 2, "{what}");
        for row in rows {
            assert!(!row["about"].as_str().unwrap().is_empty(), "{what} {row}");
        }
        let text = fencepost(&["list", what]);
        assert_eq!(text.stdout.lines().count(), rows.len(), "{what}");
    }
}

#[test]
fn completions_are_printed() {
    let answer = fencepost(&["completions", "bash"]);
    assert_eq!(answer.status, 0);
    assert!(answer.stdout.contains("_fencepost"));
}

#[test]
fn the_bound_of_availability_may_stand_behind_a_space() {
    let run = |bound: &[&str]| {
        let run = ["--seed", "0", "--fault", "none", "--client", "single-node", "--cycles", "1"];
        let answer = fencepost(&[&run[..], &["--no-shrink", "--format", "json"], bound].concat());
        assert_eq!(answer.status, 0, "{}", answer.stderr);
        answer.stdout
    };
    let apart = run(&["--availability", "12s"]);
    assert_eq!(apart, run(&["--availability=12s"]));
    assert_ne!(apart, run(&["--availability"]), "the ttl is 10 s");
}
