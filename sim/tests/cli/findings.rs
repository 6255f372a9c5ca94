use crate::answer::{Answer, fencepost_in};
use crate::refusal::{is_refused, refusal_in};
use serde_json::Value;
use std::path::Path;

const FLAWED: &str = r#"
function acquire(key, ttl)
  if redis.call("SET", key, "1", "NX", "PX", ttl) then return "1" end
end

function release(key, owner)
  return redis.call("DEL", key) == 1
end
"#;

const FIXED: &str = r#"
function acquire(key, ttl)
  if redis.call("SET", key, "1", "NX") then return "1" end
end

function release(key, owner)
  return redis.call("DEL", key) == 1
end
"#;

const PROJECT: &str = r#"
lock = "lock.lua"
fault = "pause"
format = "junit"
findings = "findings.jsonl"
cycles = 5
no-shrink = true
"#;

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lock.lua"), FLAWED).unwrap();
    std::fs::write(folder.path().join("fencepost.toml"), PROJECT).unwrap();
    folder
}

fn status(folder: &Path, arguments: &[&str]) -> (i32, Answer) {
    let answer = fencepost_in(folder, arguments);
    (answer.status, answer)
}

fn store(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("findings.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn states(folder: &Path) -> Vec<String> {
    store(folder)[1..].iter().map(|one| one["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn nights_find_accept_and_fix() {
    let folder = project();
    let folder = folder.path();
    let (code, first) = status(folder, &["sweep", "--seeds", "+6", "--format", "json"]);
    assert_eq!(code, 1, "{}", first.stderr);
    assert!(first.stderr.contains("findings.jsonl: "), "{}", first.stderr);
    let sweep = first.json();
    assert_eq!(sweep["cells"][0]["fingerprints"][0]["state"], "new");
    assert!(states(folder).iter().all(|state| state == "new"));
    assert_eq!(store(folder)[0]["next_seed"], "6");

    let (code, _) = status(folder, &["sweep", "--seeds", "+2"]);
    assert_eq!((code, &store(folder)[0]["next_seed"]), (1, &"8".into()), "known seeds show it");
    assert!(states(folder).contains(&"known".to_owned()));
    let replay = store(folder)[1]["replay"].as_str().unwrap().to_owned();
    let words: Vec<&str> = replay.split_whitespace().skip(1).chain(["--no-shrink"]).collect();
    assert_eq!(status(folder, &words).0, 1, "{replay}");

    let ids: Vec<String> =
        store(folder)[1..].iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    let mut accept = vec!["findings", "accept", "--note", "known hazard"];
    accept.extend(ids.iter().map(String::as_str));
    let (code, accepted) = status(folder, &accept);
    let said = format!("findings.jsonl: {} accepted\n", ids.len());
    assert!(code == 0 && accepted.stderr.ends_with(&said), "{}", accepted.stderr);
    assert_eq!(
        status(folder, &["sweep", "--seeds", "0..6"]).0,
        0,
        "accepted findings fail nothing"
    );
    assert_eq!(status(folder, &["findings", "retest"]).0, 0);
    let listed = status(folder, &["findings", "list"]).1.stdout;
    assert!(listed.contains("accepted") && listed.contains("note: known hazard"), "{listed}");
}

#[test]
fn a_retest_tells_what_is_fixed() {
    let folder = project();
    let folder = folder.path();
    status(folder, &["sweep", "--seeds", "0..6"]);
    let (code, still) = status(folder, &["findings", "retest"]);
    assert_eq!(code, 1, "{}", still.stderr);
    assert!(still.stderr.contains("still violated: "), "{}", still.stderr);
    let (_, other) = status(folder, &["findings", "retest", "--ttl", "9s"]);
    assert!(other.stderr.contains(" with --set cycles=5 were not repeated: "), "{}", other.stderr);
    std::fs::write(folder.join("lock.lua"), FIXED).unwrap();
    let (code, gone) = status(folder, &["findings", "retest"]);
    assert_eq!(code, 0, "{}", gone.stderr);
    assert!(gone.stdout.starts_with("fixed "), "{}", gone.stdout);
    std::fs::write(folder.join("lock.lua"), FLAWED).unwrap();
    assert_eq!(status(folder, &["sweep", "--seeds", "50..51"]).0, 1, "known seeds come first");
    assert!(states(folder).contains(&"known".to_owned()), "it is back on the same day");
}

#[test]
fn a_sweep_with_other_settings_hides_no_finding() {
    let folder = project();
    let folder = folder.path();
    assert_eq!(status(folder, &["sweep", "--seeds", "0..3"]).0, 1);
    assert_eq!(status(folder, &["sweep", "--seeds", "0..3", "--ttl", "9s"]).0, 1);
    assert_eq!(status(folder, &["sweep", "--seeds", "90..91"]).0, 1, "known seeds show it");
    let (code, retest) = status(folder, &["findings", "retest"]);
    assert_eq!(code, 1, "{}", retest.stderr);
    assert!(retest.stderr.contains("still violated: "), "{}", retest.stderr);
    assert!(retest.stderr.contains(" with --set cycles=5 --set ttl=9s were not repeated: "));
    std::fs::write(folder.join("lock.lua"), FIXED).unwrap();
    let (code, gone) = status(folder, &["findings", "retest"]);
    assert_eq!((code, gone.stdout.contains("fixed ")), (0, false), "{}", gone.stdout);
    let (_, both) = status(folder, &["findings", "retest", "--ttl", "9s"]);
    assert!(both.stdout.starts_with("fixed "), "{}", both.stdout);
}

#[test]
fn a_stopped_sweep_of_new_seeds_can_be_resumed_and_loses_none() {
    let folder = project();
    let folder = folder.path();
    let new_seeds = ["sweep", "--seeds", "+40", "--checkpoint", "at", "--format", "json", "-q"];
    let stopped = status(folder, &[&new_seeds[..], &["--fail-fast"]].concat()).1;
    let sum = stopped.json();
    assert_eq!(sum["complete"], false);
    let missing = sum["gaps"].get(0).map_or(&sum["seeds"]["to"], |gap| &gap["from"]);
    assert_eq!(store(folder)[0]["next_seed"], *missing);
    let resumed = status(folder, &[&new_seeds[..], &["--resume"]].concat()).1;
    let sum = resumed.json();
    assert_eq!(sum["seeds"], serde_json::json!({ "from": "0", "to": "40" }));
    assert_eq!((&sum["complete"], &store(folder)[0]["next_seed"]), (&true.into(), &"40".into()));
}

#[test]
fn a_merge_adds_all_slices() {
    let folder = project();
    let folder = folder.path();
    for slice in ["1/2", "2/2"] {
        let name = format!("slice-{}.json", &slice[..1]);
        let arguments =
            ["sweep", "--no-config", "--lock", "lock.lua", "--fault", "pause", "--seeds", "0..6"];
        let rest = ["--cycles", "5", "--no-shrink", "--shard", slice, "--format", "json"];
        let (_, answer) = status(folder, &[&arguments[..], &rest].concat());
        std::fs::write(folder.join(name), answer.stdout).unwrap();
    }
    let merge = ["merge", "slice-1.json", "slice-2.json", "--findings", "merged.jsonl"];
    let (code, first) = status(folder, &[&merge[..], &["--format", "markdown"]].concat());
    assert_eq!(code, 1);
    assert!(first.stderr.starts_with("merged.jsonl: ") && first.stderr.contains(" new"));
    assert!(first.stdout.contains("| **new** | `"), "{}", first.stdout);
    let list = ["findings", "list", "--findings", "merged.jsonl"];
    let once = status(folder, &list).1.stdout;
    let (_, second) = status(folder, &merge);
    assert!(second.stderr.contains(" known") && !second.stderr.contains(" new"));
    let twice = status(folder, &list).1.stdout;
    assert_eq!(twice.replace("known", "new  "), once, "each run counts once");
    let (_, listed) =
        status(folder, &["findings", "list", "--findings", "merged.jsonl", "--format", "json"]);
    let merged = listed.json();
    assert_eq!(merged["next_seed"], "6");
    assert!(!merged["all"].as_object().unwrap().is_empty());
}

#[test]
fn slices_that_share_a_store_run_the_same_new_seeds_and_count_once() {
    let folder = project();
    let folder = folder.path();
    for slice in ["1/2", "2/2"] {
        let name = format!("slice-{}.json", &slice[..1]);
        let (_, answer) =
            status(folder, &["sweep", "--seeds", "+8", "--shard", slice, "--format", "json"]);
        std::fs::write(folder.join(name), answer.stdout).unwrap();
    }
    let runs = |folder: &Path| {
        store(folder)[1..].iter().map(|one| one["runs"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let of_slices = runs(folder);
    let (code, merged) = status(folder, &["merge", "slice-1.json", "slice-2.json"]);
    assert_eq!(code, 1, "{}", merged.stderr);
    assert_eq!(store(folder)[0]["next_seed"], "8");
    assert_eq!(runs(folder), of_slices);
}

#[test]
fn a_retest_skips_a_lock_that_is_missing_and_names_its_option() {
    let folder = project();
    let folder = folder.path();
    status(folder, &["sweep", "--seeds", "0..6"]);
    let (code, answer) = status(folder, &["findings", "retest", "--no-config", "--cycles", "5"]);
    assert_eq!(code, 0, "{}", answer.stderr);
    let expected =
        " with the lock 'lock.lua' were not repeated: to repeat them, add --lock lock.lua";
    assert!(answer.stderr.contains(expected), "{}", answer.stderr);
    assert!(!states(folder).contains(&"fixed".to_owned()), "{:?}", states(folder));
}

#[test]
fn a_time_budget_also_ends_the_retest_of_known_findings() {
    let folder = project();
    let folder = folder.path();
    status(folder, &["sweep", "--seeds", "0..6"]);
    let count = states(folder).len();
    let (_, answer) = status(folder, &["sweep", "--seeds", "90..96", "--time-budget", "1us"]);
    let of_findings =
        format!("--time-budget ended before fencepost repeated the runs of {count} known finding");
    assert!(answer.stderr.contains(&of_findings), "{}", answer.stderr);
    let of_seeds = "--time-budget ended the sweep after 0 of 6 seeds\n";
    assert!(answer.stderr.contains(of_seeds), "{}", answer.stderr);
    assert!(!states(folder).contains(&"fixed".to_owned()), "{:?}", states(folder));
}

#[test]
fn damage_and_wrong_names_are_refused_in_one_line() {
    let folder = project();
    let folder = folder.path();
    let refused = |arguments: &[&str], part: &str| {
        is_refused(&fencepost_in(folder, arguments), &[part]);
    };
    refused(&["findings", "list"], "findings.jsonl: no such file: expected a store");
    refused(&["sweep", "--seeds", "+x"], "expected +N");
    refused(&["sweep", "--no-config", "--seeds", "+5"], "expected --findings FILE");
    status(folder, &["sweep", "--seeds", "0..6"]);
    refused(&["findings", "accept", "000000000000"], "unknown finding '000000000000'");
    let path = folder.join("findings.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"state\":\"new\"", "\"state\":\"odd\"")).unwrap();
    refused(&["findings", "list"], "findings.jsonl: line 2: unknown variant `odd`");
    refused(&["sweep", "--seeds", "+5"], "findings.jsonl: line 2: ");
    std::fs::write(&path, &text[..text.len() - 2]).unwrap();
    refused(&["findings", "retest"], "cut short");
}

#[cfg(unix)]
#[test]
fn files_that_cannot_be_written_are_refused_before_the_runs() {
    use std::os::unix::fs::PermissionsExt;
    let folder = project();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("closed")).unwrap();
    std::fs::set_permissions(at("closed"), PermissionsExt::from_mode(0o555)).unwrap();
    // Root can write to this folder, but no user can write to Linux's /proc.
    let is_closed = std::fs::write(at("closed/file"), "").is_err();
    let mut refused = vec![("--checkpoint", "."), ("--checkpoint", "closed")];
    if is_closed {
        refused.extend([("--checkpoint", "closed/c.json"), ("--findings", "closed/f.jsonl")]);
        refused.push(("--out", "closed"));
    }
    if cfg!(target_os = "linux") {
        refused.extend([("--checkpoint", "/proc/c.json"), ("--findings", "/proc/f.jsonl")]);
    }
    for (option, path) in refused {
        // Runs that need hours show that the check comes first.
        let words = ["sweep", "--seeds", "0..1000000000", option, path];
        let line = refusal_in(folder.path(), &words);
        assert!(line.starts_with(&format!("error: {option} '{path}': ")), "{line}");
        let kind = if option == "--out" { "folder" } else { "writable file" };
        assert!(line.contains(&format!(": expected a {kind}")), "{line}");
        assert!(!line.contains("tmp-fencepost"), "{line}");
    }
}
