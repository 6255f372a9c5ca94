use crate::answer::{Answer, fencepost, fencepost_in, json};
use crate::interrupted::interrupted;
use crate::refusal::{is_refused, refuses};
use crate::schema::satisfies;
use serde_json::Value;
use std::path::Path;

const SMALL: &[&str] = &["explore", "--latency", "1ms", "--quiet"];

fn explore(more: &[&str]) -> Answer {
    fencepost(&[SMALL, more].concat())
}

#[test]
fn a_certificate_is_the_same_for_any_number_of_threads_and_comes_out_again() {
    let asked = ["--fault", "lost-reply", "--faults", "2", "--format", "json"];
    let one = explore(&[&asked[..], &["--jobs", "1"]].concat());
    assert_eq!((one.status, one.stderr.as_str()), (0, ""));
    assert_eq!(one.stdout, explore(&[&asked[..], &["--jobs", "3"]].concat()).stdout);
    let written = one.json();
    satisfies("certificate", &written);
    assert_eq!(written["runs"]["violated"], 0);

    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str, more: &[&str]| {
        std::fs::write(folder.path().join("certificate.json"), text).unwrap();
        let asked = ["explore", "--check", "certificate.json", "--quiet"];
        fencepost_in(folder.path(), &[&asked[..], more].concat())
    };
    let whole = check(&one.stdout, &["--whole"]);
    let slices = written["slices"].as_array().unwrap().len();
    assert_eq!(whole.status, 0, "{}{}", whole.stdout, whole.stderr);
    assert!(
        whole.stdout.contains(&format!("same results: repeated {slices} of {slices}")),
        "{}",
        whole.stdout
    );
    assert_eq!(check(&one.stdout, &[]).status, 0);
    for (text, says) in [
        (one.stdout.replace("\"violated\": 0", "\"violated\": 1"), "damaged or edited"),
        (one.stdout[..one.stdout.len() / 2].to_owned(), "truncated"),
        (one.stdout.replace("fencepost.certificate", "fencepost.sweep"), "fencepost.sweep"),
        (one.stdout.replace("\"version\": 1,", "\"version\": 3,"), "version 3"),
    ] {
        is_refused(&check(&text, &[]), &[says]);
    }
}

#[test]
fn late_messages_are_counted_stated_and_checked() {
    let asked = ["explore", "--delays", "1", "--quiet", "--format", "json"];
    let written = fencepost(&asked);
    assert_eq!((written.status, written.stderr.as_str()), (0, ""));
    let found = written.json();
    assert_eq!((&found["version"], &found["bounds"]["delays"]), (&json("2"), &json("1")));
    let counts = found["runs"]["by_delays"].as_array().unwrap();
    let sum: u64 = counts.iter().filter_map(Value::as_u64).sum();
    assert_eq!((Some(sum), &counts[2]), (found["runs"]["all"].as_u64(), &json("0")));
    satisfies("certificate", &found);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("one.json"), &written.stdout).unwrap();
    let check = ["explore", "--check", "one.json", "--whole", "--quiet"];
    assert_eq!(fencepost_in(folder.path(), &check).status, 0);
    for (asked, says) in [
        (&["--delays", "3"][..], "expected a number from 0 to 2"),
        (&["--delays", "1", "--latency", "1ms"], "latency '1ms': expected a range"),
        (&["--delays", "2", "--fault", "pause", "--faults", "2"], "together"),
        (&["--program", "true"], "program 'true': expected --client"),
    ] {
        refuses(&[&["explore"], asked].concat(), &[says]);
    }
}

#[test]
fn two_certificates_are_compared_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, more: &[&str]| {
        let written = explore(&[&["--format", "json"], more].concat());
        assert_eq!(written.status, 0, "{}", written.stderr);
        std::fs::write(folder.path().join(name), written.stdout).unwrap();
    };
    write("none.json", &[]);
    write("again.json", &[]);
    write("seed.json", &["--seed", "1"]);
    write("lost.json", &["--fault", "lost-reply"]);
    std::fs::write(folder.path().join("cut.json"), "{ \"format\": \"fencepost.cer").unwrap();
    let diff = |a: &str, b: &str| fencepost_in(folder.path(), &["explore", "--diff", a, b]);
    let same = diff("none.json", "again.json");
    assert_eq!((same.status, same.stdout.lines().count()), (0, 1), "{}", same.stdout);
    for (other, says) in [
        ("seed.json", &["bounds.seed: 0 -> 1", "not_covered: ", "digest: "][..]),
        ("lost.json", &["bounds.fault: none -> lost-reply", "runs.all: 2 -> ", "slices: 1 of 1"]),
    ] {
        let told = diff("none.json", other);
        assert_eq!((told.status, told.stderr.as_str()), (1, ""), "{other}");
        for part in says {
            let has = told.stdout.lines().any(|line| line.starts_with(part));
            assert!(has, "{part}: {}", told.stdout);
        }
    }
    for (bad, says) in [("cut.json", "truncated"), ("no-such.json", "no-such.json")] {
        for refused in [diff("none.json", bad), diff(bad, "none.json")] {
            is_refused(&refused, &[says]);
        }
    }
    assert_eq!(fencepost_in(folder.path(), &["explore", "--diff", "none.json"]).status, 2);
}

const RUNS_MAX: u64 = 3_000;
/// Certificates with more runs take too long here. `ci/nightly.sh` checks all certificates.
const SAMPLED_MAX: u64 = 50_000;

#[test]
fn the_published_certificates_come_out_again_the_small_ones_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/data/certificates");
    let mut small = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("it is text");
        let written = fencepost_reports::documents::certificate::read(&text);
        let written = written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(written.runs.violated, 0, "{}", path.display());
        if written.runs.all > SAMPLED_MAX {
            continue;
        }
        let is_small = written.runs.all <= RUNS_MAX;
        small += usize::from(is_small);
        let name = path.to_str().expect("it is text");
        let whole: &[&str] = if is_small { &["--whole"] } else { &[] };
        let checked = fencepost(&[&["explore", "--check", name, "--quiet"], whole].concat());
        let said = (checked.stdout, checked.stderr);
        assert_eq!(checked.status, 0, "docs/data/certificates/make makes it again: {said:?}");
    }
    assert!(small >= 3, "{small}");
}

#[test]
fn a_counterexample_is_a_report_that_replays() {
    let asked = ["--client", "set-ex-del", "--fault", "pause", "--no-shrink", "--format", "json"];
    let found = explore(&asked);
    assert_eq!((found.status, found.stderr.as_str()), (1, ""));
    let report = found.json();
    let run = &report["runs"][0];
    assert_eq!(run["plan"]["faults"].as_array().unwrap().len(), 1, "one fault is enough");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("report.json"), &found.stdout).unwrap();
    let replayed = fencepost_in(folder.path(), &["replay", "report.json", "--format", "json"]);
    assert_eq!(replayed.status, 1, "{}", replayed.stderr);
    assert_eq!(replayed.json()["runs"][0]["history_digest"], run["history_digest"]);

    let command = run["violations"][0]["replay"].as_str().unwrap();
    assert_eq!(replayed.json()["runs"][0]["violations"][0]["replay"], command);
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let again = fencepost(&[&words[..], &["--quiet", "--no-shrink", "--format", "json"]].concat());
    assert_eq!(again.json()["runs"], report["runs"]);
}

#[test]
fn a_counterexample_counts_no_other_seeds_because_no_seed_draws_its_plan() {
    let asked = ["--fault", "pause", "--faults", "1"];
    let report = explore(&[&asked[..], &["--format", "json"]].concat()).json();
    let remedies = report["runs"][0]["violations"][0]["remedies"].as_array().unwrap();
    assert!(!remedies.is_empty() && remedies.iter().all(|one| one["seeds"] == 0), "{remedies:?}");
    let text = explore(&asked).stdout;
    assert!(text.contains("  remedies   In this run, "), "{text}");
}

#[test]
fn a_text_says_what_is_not_covered_and_how_many_were_exercised() {
    let quiet = explore(&["--fault", "lost-reply"]);
    for part in ["No plan with one fault of lost-reply", "Not covered:", "valid", "left out:"] {
        assert!(quiet.stdout.contains(part), "{part}: {}", quiet.stdout);
    }
    let alone = explore(&["--processes", "1"]);
    assert_eq!(alone.status, 3, "nothing was exercised");
    assert!(alone.stdout.contains("no certificate: no run exercised the lock"), "{}", alone.stdout);
}

#[test]
fn an_interrupted_exploration_is_no_certificate() {
    let asked = ["--fault", "client-crash", "--faults", "2", "--yes", "--format", "json"];
    let arguments = [&["explore", "--latency", "1ms"], &asked[..]].concat();
    let (status, partial) = interrupted(&arguments, Path::new("."), 2, "INT");
    assert_eq!(status, Some(130));
    assert_eq!(partial["format"], "fencepost.exploration");
    assert_eq!(partial["is_certificate"], false);
    assert!(partial["reason"].as_str().unwrap().starts_with("stopped after "), "{partial}");
    satisfies("exploration", &partial);
}

#[test]
fn shards_merge_to_the_bytes_of_the_whole_and_nothing_less_is_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["--fault", "lost-reply", "--faults", "2"];
    let run = |more: &[&str]| fencepost_in(folder.path(), &[SMALL, &asked, more].concat());
    let merge = |more: &[&str]| fencepost_in(folder.path(), &[&["merge"], more].concat());
    for name in ["1", "2", "3"] {
        let part = run(&["--shard", &format!("{name}/3"), "--format", "json"]);
        assert_eq!((part.status, part.stderr.as_str()), (0, ""));
        assert!(part.json()["reason"].as_str().unwrap().contains("only shard"));
        std::fs::write(folder.path().join(name), part.stdout).unwrap();
    }
    for format in ["json", "text", "html"] {
        let (whole, sum) =
            (run(&["--format", format]), merge(&["3", "1", "2", "--format", format]));
        assert_eq!((whole.status, sum.status), (0, 0), "{}", sum.stderr);
        assert!(whole.stdout == sum.stdout, "{format}");
    }
    let some = merge(&["1", "3", "--partial", "--format", "json"]);
    assert_eq!((some.status, some.stderr.as_str()), (3, ""));
    assert_eq!(some.json()["is_certificate"], false);
    std::fs::write(folder.path().join("some"), &some.stdout).unwrap();
    assert_eq!(merge(&["2", "some", "--format", "json"]).stdout, run(&["--format", "json"]).stdout);
    let text = std::fs::read_to_string(folder.path().join("2")).unwrap();
    std::fs::write(folder.path().join("edited"), text.replace("\"valid\": ", "\"valid\": 1"))
        .unwrap();
    std::fs::write(folder.path().join("cut"), &text[..text.len() / 2]).unwrap();
    std::fs::write(folder.path().join("sweep"), "{ \"format\": \"fencepost.sweep\" }").unwrap();
    let asked = ["--client", "set-ex-del", "--fault", "pause", "--no-shrink", "--format", "json"];
    std::fs::write(folder.path().join("report"), explore(&asked).stdout).unwrap();
    let check = |more: &[&str]| fencepost_in(folder.path(), &[&["explore"], more].concat());
    for (refused, says) in [
        (merge(&["1", "3"]), "are missing"),
        (merge(&["1", "2", "3", "2"]), "is also in an earlier file"),
        (merge(&["1", "edited", "3"]), "damaged or edited"),
        (merge(&["1", "cut", "3"]), "truncated"),
        (merge(&["1", "sweep", "3"]), "expected fencepost.exploration"),
        (merge(&["1", "report", "3"]), "this shard found a counterexample"),
        (merge(&["1", "2", "3", "--format", "svg"]), "svg"),
        (merge(&["1", "2", "3", "--expect", "x"]), "--expect"),
        (check(&["--check", "1"]), "expected fencepost.certificate"),
        (check(&["--diff", "1", "1"]), "expected fencepost.certificate"),
        (check(&["--shard", "4/3"]), "1 <= m <= n"),
        (check(&["--resume"]), "--checkpoint"),
    ] {
        is_refused(&refused, &[says]);
    }
}

#[test]
fn an_exploration_goes_on_after_a_signal_where_its_checkpoint_is() {
    let folder = tempfile::tempdir().unwrap();
    let safe = ["explore", "--latency", "1ms", "--cycles", "1", "--set", "persistence=aof-always"];
    let asked = [&safe[..], &["--fault", "restart", "--faults", "2"]].concat();
    let kept = ["--format", "json", "--checkpoint", "kept", "--resume"];
    let arguments = [&asked[..], &kept, &["--checkpoint-every", "1us"]].concat();
    let (status, partial) = interrupted(&arguments, folder.path(), 2, "INT");
    assert_eq!(status, Some(130));
    let kept_file = json(&std::fs::read_to_string(folder.path().join("kept")).unwrap());
    assert_eq!((&partial["slices"], &partial["runs"]), (&kept_file["slices"], &kept_file["runs"]));

    let other = ["--fault", "pause", "--quiet"];
    let other = fencepost_in(folder.path(), &[&["explore"], &other[..], &kept].concat());
    is_refused(&other, &["belongs to another exploration: "]);

    let whole = fencepost(&[&asked[..], &["--quiet", "--format", "json"]].concat());
    for _ in 0..2 {
        let again = fencepost_in(folder.path(), &[&asked[..], &kept, &["--quiet"]].concat());
        assert_eq!((again.status, again.stderr.as_str()), (0, ""));
        assert!(again.stdout == whole.stdout, "the same bytes as without an interruption");
    }
}

#[test]
fn what_cannot_be_enumerated_is_refused_in_one_line() {
    for (asked, says) in [
        (&["--fault", "clock-drift"][..], &["clock-drift", "lost-reply"][..]),
        (&["--fault", "all"], &["'all'", "pause"]),
        (&["--fault", "pose"], &["pose", "did you mean"]),
        (&["--faults", "1"], &["none", "--faults 0"]),
        (&["--fault", "pause", "--faults", "3"], &["3"]),
        (&["--fault", "pause", "--hold", "1s..2s"], &["hold '1s..2s'", "hold=1s"]),
        (&["--fault", "pause", "--longest", "2h"], &["longest '7200s'", "1h"]),
        (&["--fault", "pause", "--no-prune", "all"], &["all", "gap"]),
        (&["--client", "redlok"], &["redlok", "redlock"]),
        (&["--set", "slow-link=client-1/redis-1"], &["client-1/redis-1", "in turn"]),
        (&["--set", "slow-link=client-1"], &["client-1", "client-1/redis-1"]),
        (&["--format", "svg"], &["svg", "json"]),
        (&["--delays", "1"], &["latency '1ms'", "expected a range"]),
        (
            &["--fault", "client-crash", "--faults", "2"],
            &["runs, about", "MiB", "--yes", "--shard"],
        ),
        (
            &["--client", "redlock", "--fault", "pause", "--faults", "2", "--cycles", "40"],
            &["runs, about", "on 1 core", "MiB", "--yes"],
        ),
        (&["--check", "no-such.json"], &["no-such.json"]),
    ] {
        is_refused(&explore(&[asked, &["--jobs", "1"]].concat()), says);
    }
}

#[test]
fn a_certificate_a_counterexample_and_an_exploration_without_either_are_pages() {
    let page = |asked: &[&str]| {
        let answer = explore(&[asked, &["--no-shrink", "--format", "html"]].concat());
        assert!(answer.stdout.starts_with("<!DOCTYPE html>"), "{asked:?}: {}", answer.stderr);
        (answer.status, answer.stdout)
    };
    let (status, certificate) = page(&["--fault", "lost-reply", "--faults", "1"]);
    assert!(status == 0 && certificate.contains("certificate"));
    let (status, counterexample) = page(&["--fault", "pause", "--faults", "1"]);
    assert!(status == 1 && counterexample.contains("single-node under pause"));
    let (status, neither) = page(&["--fault", "lost-reply", "--faults", "1", "--processes", "1"]);
    assert!(status == 3 && neither.contains("No certificate: no run exercised the lock"));
}

#[test]
fn every_published_counterexample_is_found_by_its_command() {
    use fencepost_reports::summary::published::{COUNTEREXAMPLES, published};
    for one in COUNTEREXAMPLES {
        let command = one.command();
        let asked: Vec<&str> = command.split(' ').skip(1).collect();
        let found = fencepost(&[&asked[..], &["--no-shrink", "--quiet"]].concat());
        assert_eq!((found.status, found.stderr.as_str()), (1, ""), "{command}");
        assert!(found.stdout.contains("stale write"), "{command}: {}", found.stdout);
        let certified = published(one.client, one.fault, &serde_json::json!({})).count();
        assert_eq!(certified, 0, "{command}: certified as well");
    }
}

#[test]
fn the_table_of_published_certificates_is_that_of_the_folder() {
    use fencepost_reports::documents::certificate::{Certificate, read};
    use fencepost_reports::summary::published::{PUBLISHED, Published};
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/data/certificates");
    let row = |name: &str, written: &Certificate| {
        let bounds = &written.bounds;
        let count = |count: u8, what: &str| match count {
            0 => None,
            1 => Some(format!("1 {what}")),
            more => Some(format!("{more} {what}s")),
        };
        let most = [count(bounds.faults, "fault"), count(bounds.delays, "late message")];
        let most: Vec<String> = most.into_iter().flatten().collect();
        let most = if most.is_empty() { "no fault".to_owned() } else { most.join(" and ") };
        let scenario = &bounds.scenario;
        let mut words = vec![most, format!("{} processes", scenario["processes"])];
        let is_redlock = bounds.client == "redlock";
        words.extend(is_redlock.then(|| format!("{} masters", scenario["masters"])));
        if bounds.fault == "restart" {
            let delay = scenario["restart-delay"].as_str().filter(|delay| *delay != "0us");
            words.extend(delay.map(|delay| format!("back after {delay}")));
            let persistence = scenario["persistence"].as_str().filter(|kept| *kept != "none");
            words.extend(persistence.map(str::to_owned));
        }
        let hold = scenario["hold"].as_str().filter(|hold| *hold != "4s");
        words.extend(hold.map(|hold| format!("holds of {hold}")));
        let latency = scenario["latency"].as_str().filter(|latency| *latency != "200us..2ms");
        words.extend(latency.map(|latency| format!("latency {latency}")));
        let (lock, fault, words) = (&bounds.client, &bounds.fault, words.join(", "));
        format!("    of({lock:?}, {fault:?}, {name:?}, {words:?}),\n")
    };
    let mut rows: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let name = path.file_stem().and_then(|name| name.to_str()).expect("it is text");
        let text = std::fs::read_to_string(&path).expect("it is text");
        rows.push(row(name, &read(&text).expect("it is a certificate")));
    }
    rows.sort();
    let table: String = rows.concat();
    let said = |one: &Published| {
        let (lock, fault, name, words) = (one.client, one.fault, one.name, one.bounds);
        format!("    of({lock:?}, {fault:?}, {name:?}, {words:?}),\n")
    };
    let published: String = PUBLISHED.iter().map(said).collect();
    assert_eq!(published, table, "the table should be\n{table}");
}
