use crate::answer::{fencepost, fencepost_in, json};
use crate::refusal::{is_refused, refuses};
use crate::schema::satisfies;
use serde_json::Value;
use std::path::Path;

const BOUNDARY: &[&str] = &[
    "boundary", "--client", "single-node", "--fault", "pause", "--vary", "pause", "--between",
    "1s..25s", "--parts", "2", "--step", "500ms", "--seeds", "0..24", "-q",
];

#[test]
fn a_boundary_lies_beyond_its_bound_and_is_the_same_for_any_number_of_threads() {
    let one = fencepost(&[BOUNDARY, &["--format", "json", "--jobs", "1"]].concat()).json();
    satisfies("boundary", &one);
    assert_eq!(one, fencepost(&[BOUNDARY, &["--format", "json", "--jobs", "3"]].concat()).json());
    let (violated, quiet) =
        (one["found"]["violated"].as_u64().unwrap(), one["found"]["quiet"].as_u64().unwrap());
    let bound = one["bounds"][0]["value"].as_u64().unwrap();
    assert!(quiet < violated && violated - quiet <= 500_000, "{quiet} {violated}");
    // ttl of 10 s - critical section of 8 s - seven messages of 2 ms
    assert_eq!(bound, 1_986_000);
    assert!(bound < violated, "a shorter pause than the bound breaks nothing");
    assert!(one["explanation"].as_str().unwrap().contains("do not break the rule"));
}

#[test]
fn a_boundary_is_shown_as_text_and_as_a_plot() {
    let text = fencepost(BOUNDARY);
    assert_eq!(text.status, 1, "some value is violated: {}", text.stderr);
    assert!(
        text.stdout.contains("bound 1.986s") && text.stdout.contains("Violations begin between")
    );
    let svg = fencepost(&[BOUNDARY, &["--format", "svg"]].concat()).stdout;
    assert!(svg.starts_with("<svg") && svg.contains("bound 1.986s") && svg.contains("<polyline"));
}

#[test]
fn redlock_cannot_be_broken_by_drift_within_its_margin() {
    let search = [
        "boundary", "--client", "redlock", "--fault", "clock-drift", "--vary", "drift", "--hold",
        "until-validity",
    ];
    let small = [
        "--between", "9000..13000", "--parts", "2", "--step", "1000", "--cycles", "4", "--seeds",
        "0..20", "-q",
    ];
    let report = fencepost(&[&search[..], &small, &["--format", "json"]].concat()).json();
    let (bound, violated) =
        (report["bounds"][0]["value"].as_u64().unwrap(), report["found"]["violated"].as_u64());
    // Redlock subtracts a margin of 1 % of 10 s plus 2 ms, and the acquire takes time.
    assert!((10_300..10_800).contains(&bound), "{bound}");
    assert!(violated.is_some_and(|violated| violated > bound), "{violated:?}");
}

const MATRIX: &[&str] = &[
    "matrix", "--client", "single-node,redlock", "--fault", "none,pause", "--seeds", "0..6", "-q",
];

#[test]
fn a_matrix_is_the_same_from_seeds_and_from_their_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = fencepost(&[MATRIX, &["--format", "json"]].concat()).json();
    satisfies("matrix", &matrix);
    let cells = matrix["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    assert_eq!(
        (cells[0]["verdict"].as_str(), cells[0]["agreement"].as_str()),
        (Some("quiet"), Some("agrees"))
    );
    assert_eq!(
        (cells[1]["verdict"].as_str(), cells[1]["fault"].as_str()),
        (Some("violated"), Some("pause"))
    );
    let sweep = [
        "sweep", "--client", "single-node,redlock", "--fault", "none,pause", "--seeds", "0..6",
        "-q",
    ];
    let sweep = fencepost(&[&sweep[..], &["--no-shrink", "--format", "json"]].concat());
    std::fs::write(folder.path().join("sweep.json"), sweep.stdout).unwrap();
    let from = fencepost_in(folder.path(), &["matrix", "--from", "sweep.json", "--format", "json"]);
    assert_eq!(from.json()["cells"], matrix["cells"]);
}

#[test]
fn a_matrix_of_one_rule_counts_the_runs_that_broke_it() {
    let folder = tempfile::tempdir().unwrap();
    let cells = ["--client", "single-node", "--fault", "none,partition", "--seeds", "0..40", "-q"];
    let judged = [&cells[..], &["--availability", "3s"]].concat();
    let of_it = ["--kind", "unavailable"];
    let made = [&["matrix"], &judged[..], &of_it, &["--out", "."]].concat();
    assert_eq!(fencepost_in(folder.path(), &made).status, 0);
    let matrix = json_in(folder.path(), "matrix.json");
    satisfies("matrix", &matrix);
    assert_eq!(matrix["kind"], "unavailable");
    let sweep = [&["sweep"], &judged[..], &["--no-shrink", "--format", "json"]].concat();
    std::fs::write(folder.path().join("sweep.json"), fencepost(&sweep).stdout).unwrap();
    let sweep = json_in(folder.path(), "sweep.json");
    for (cell, all) in [0, 1].map(|at| (&matrix["cells"][at], &sweep["cells"][at])) {
        let broken = all["violations_by_kind"]["unavailable"].as_u64().unwrap_or(0);
        assert_eq!((&cell["fault"], cell["violated"].as_u64()), (&all["fault"], Some(broken)));
        assert_eq!(broken > 0, cell["fault"] == "partition", "{all}");
    }
    let made = |more: &[&str]| fencepost_in(folder.path(), &[&["matrix"], more].concat());
    let from = made(&[&["--from", "sweep.json", "--format", "json"], &of_it[..]].concat());
    assert_eq!(from.json()["cells"], matrix["cells"]);
    let held = made(&[&judged[..], &of_it, &["--check", "matrix.json"]].concat());
    assert_eq!((held.status, held.stderr.as_str()), (0, ""));
    let refused: &[(&[&str], &str)] = &[
        (&["--kind", "overlaps"], "did you mean 'overlap'"),
        (&["--kind", "held-forever"], "--set held-bound=DURATION"),
        (&["--kind", "held-forever", "--from", "sweep.json"], "--set held-bound=DURATION"),
        (
            &["--kind", "overlap", "--from", "matrix.json"],
            "counts violations of unavailable, not of overlap",
        ),
        (&["--check", "matrix.json"], "not of any rule: expected --kind unavailable"),
    ];
    for (asked, says) in refused {
        is_refused(&made(asked), &[says]);
    }
}

fn json_in(folder: &Path, file: &str) -> Value {
    json(&std::fs::read_to_string(folder.join(file)).unwrap())
}

fn checked(folder: &Path, more: &[&str]) -> (i32, String) {
    let answer = fencepost_in(folder, &[MATRIX, &["--check", "matrix.json"], more].concat());
    (answer.status, answer.stderr)
}

#[test]
fn a_published_matrix_holds_until_something_changes() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(fencepost_in(folder.path(), &[MATRIX, &["--out", "."]].concat()).status, 0);
    assert!(folder.path().join("matrix.md").exists());
    assert_eq!(checked(folder.path(), &[]), (0, String::new()));
    let mut published = json_in(folder.path(), "matrix.json");
    published["cells"][1]["violated"] = 0.into();
    published["cells"][1]["verdict"] = "quiet".into();
    std::fs::write(folder.path().join("matrix.json"), published.to_string()).unwrap();
    let (status, told) = checked(folder.path(), &[]);
    assert_eq!((status, told.lines().count()), (1, 1), "{told}");
    assert!(told.starts_with("stale: single-node under pause"), "{told}");
}

#[test]
fn waiting_without_a_pause_costs_more_commands_than_with_one() {
    let load = [
        "load",
        "--processes",
        "20",
        "--requests",
        "60",
        "--waiting",
        "none,fixed:5ms,exponential:1ms..16ms",
    ];
    let report = fencepost(&[&load[..], &["--format", "json"]].concat()).json();
    satisfies("load", &report);
    let cost = |place: usize| report["cases"][place]["commands_per_request"].as_f64().unwrap();
    assert!(cost(0) > 2.0 * cost(1) && cost(0) > 2.0 * cost(2), "{report:#}");
    let text = fencepost(&load);
    assert!(text.status == 0 && text.stdout.contains("fixed:5ms"), "{}", text.stdout);
    assert!(fencepost(&[&load[..], &["--format", "svg"]].concat()).stdout.starts_with("<svg"));
}

#[test]
fn wrong_arguments_are_refused_with_what_would_be_valid() {
    let boundary = |more: &[&'static str]| -> Vec<&'static str> {
        [&["boundary", "--client", "redlock", "--fault", "restart"], more].concat()
    };
    refuses(&boundary(&["--vary", "colour"]), &["colour", "restart-delay"]);
    refuses(&boundary(&["--vary", "pause"]), &["restart", "pause, suspend"]);
    let elsewhere = ["boundary", "--client", "gemfire", "--fault", "pause", "--vary", "lock-delay"];
    refuses(&elsewhere, &["gemfire", "a lock on chubby"]);
    refuses(
        &boundary(&["--vary", "restart-delay", "--between", "5s..1s"]),
        &["5s..1s", "A below B"],
    );
    refuses(
        &boundary(&["--vary", "restart-delay", "--kind", "bad-luck"]),
        &["bad-luck", "overlap"],
    );
    refuses(&boundary(&["--vary", "restart-delay", "--format", "pdf"]), &["pdf", "svg"]);
    refuses(&["matrix", "--format", "pdf"], &["pdf", "markdown"]);
    refuses(&["matrix", "--check", "no-such-file.json"], &["no-such-file.json"]);
    refuses(&["--set", "lagging-replicas=0"], &["lagging-replicas '0'", "at least 1"]);
    refuses(&["load", "--waiting", "patiently"], &["patiently", "fixed:20ms"]);
    refuses(&["load", "--client", "redlock"], &["redlock", "one server"]);
    refuses(&["load", "--sed", "3"], &["--sed", "did you mean '--seed'?"]);
}
