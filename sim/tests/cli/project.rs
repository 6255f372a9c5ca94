use crate::answer::fencepost_in;
use crate::refusal::{is_refused, refusal_in};
use serde_json::Value;
use std::path::Path;

const LOCK: &str = r#"
function acquire(key, ttl)
  if redis.call("SET", key, "1", "NX", "PX", ttl) then return "1" end
end

function release(key, owner)
  return redis.call("DEL", key) == 1
end
"#;

const PROJECT: &str = r#"
lock = "locks/orders.lua"
fault = ["none", "pause"]
seeds = "0..3"
cycles = 2
no-shrink = true
quiet = true
format = "json"

[profile.pull-request]
fault = "none"
no-shrink = false

[profile.night]
seeds = "0x10..0x14"
availability = true
"#;

fn project(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("locks")).unwrap();
    std::fs::write(folder.path().join("locks/orders.lua"), LOCK).unwrap();
    std::fs::write(folder.path().join("fencepost.toml"), text).unwrap();
    folder
}

fn done(place: &Path, arguments: &[&str]) -> Value {
    let answer = fencepost_in(place, arguments);
    assert!(answer.status < 2, "{}", answer.stderr);
    answer.json()
}

fn cells(sweep: &Value) -> Vec<(&str, &str)> {
    let cells = sweep["cells"].as_array().unwrap().iter();
    cells.map(|cell| (cell["client"].as_str().unwrap(), cell["fault"].as_str().unwrap())).collect()
}

#[test]
fn a_project_is_found_above_and_its_paths_are_relative_to_it() {
    let folder = project(PROJECT);
    for place in [folder.path().to_owned(), folder.path().join("locks")] {
        let sweep = done(&place, &["sweep"]);
        assert_eq!(cells(&sweep), [("orders.lua", "none"), ("orders.lua", "pause")]);
        assert_eq!(
            (&sweep["seeds"]["to"], &sweep["config"]["explains"]),
            (&"3".into(), &false.into())
        );
        assert_eq!(sweep["config"]["scenario"]["cycles"], 2);
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let config = folder.path().join("fencepost.toml").display().to_string();
    let sweep = done(elsewhere.path(), &["sweep", "--config", &config]);
    assert_eq!(cells(&sweep).len(), 2);
}

#[test]
fn a_profile_replaces_general_options_and_flags_replace_both() {
    let folder = project(PROJECT);
    let of = |arguments: &[&str]| done(folder.path(), arguments);
    let sweep = of(&["sweep", "--profile", "pull-request"]);
    assert_eq!(cells(&sweep), [("orders.lua", "none")]);
    assert_eq!(sweep["config"]["explains"], true, "a flag that is off in the profile");
    let sweep = of(&["sweep", "--profile=night", "--fault", "restart"]);
    assert_eq!(cells(&sweep), [("orders.lua", "restart")]);
    assert_eq!(sweep["seeds"], serde_json::json!({ "from": "16", "to": "20" }));
    assert!(sweep["config"]["scenario"]["availability"].is_string());
    let sweep = of(&["sweep", "--client", "redlock", "--fault", "none", "-q", "--seeds", "0..1"]);
    assert_eq!(cells(&sweep), [("redlock", "none")], "a lock on the command line stands alone");
    let run = of(&["--seed", "1", "--fault", "none"]);
    assert_eq!(run["runs"].as_array().unwrap().len(), 1);
    let plain = fencepost_in(folder.path(), &["--no-config", "--client", "fencing"]);
    assert!(plain.stdout.starts_with("fencepost "), "{}", plain.stdout);
}

#[test]
fn commands_that_replay_ignore_the_project() {
    let folder = project(PROJECT);
    let sweep = ["--fault", "pause", "--seed", "15", "--cycles", "20", "--ttl", "10s"];
    let report = done(folder.path(), &sweep);
    let replay = report["runs"][0]["violations"][0]["replay"].as_str().unwrap();
    assert!(replay.contains(" --lock locks/orders.lua") && replay.ends_with(" --no-config"));
    let words: Vec<&str> = replay.split_whitespace().skip(1).chain(["--format", "json"]).collect();
    let again = done(folder.path(), &words);
    assert_eq!(again["runs"][0]["history_digest"], report["runs"][0]["history_digest"]);
}

#[test]
fn a_wrong_line_is_named_with_what_is_valid() {
    let refused = |text: &str, parts: &[&str]| {
        let folder = project(text);
        println!("{text}");
        is_refused(&fencepost_in(folder.path(), &["sweep"]), parts);
    };
    refused("seeds = '0..3'\nfalt = 'pause'", &["line 2: unknown key 'falt'", "'fault'"]);
    refused("colour = 1", &["line 1: unknown key 'colour'", "[profile.NAME]", "seeds, "]);
    refused("seeds = '3..0'", &["line 1: seeds: ", "A below B"]);
    refused("seeds = 3", &["line 1: seeds: ", "A..B"]);
    refused("seeds = ['0..1']", &["line 1: seeds: expected one value, not an array"]);
    refused("cycles = 2.5", &["line 1: cycles: invalid value '2.5'", "expected a whole number"]);
    refused("cycles = true", &["line 1: cycles: invalid value 'true'", "expected a whole number"]);
    refused("cycles = [1, 2]", &["line 1: cycles: expected one value, not an array"]);
    refused("ttl = 2.5", &["line 1: ttl: invalid value '2.5'", "like"]);
    refused("client = 1.5", &["line 1: client: expected a string, not a value of type float"]);
    refused("out = true", &["line 1: out: expected a string, not a value of type boolean"]);
    refused("no-shrink = 'yes'", &["line 1: no-shrink: expected true or false"]);
    refused("fault = ['pause', 'pauze']", &["line 1: fault: ", "pauze", "'pause'"]);
    refused("client = 'redlok'", &["line 1: client: unknown client 'redlok'", "redlock"]);
    refused("\nttl = '10x'", &["line 2: ttl: ", "10x"]);
    refused("ttl = '0us'", &["line 1: ttl: ", "at least 1ms"]);
    refused("set = ['tll=2s']", &["line 1: set: ", "'ttl'"]);
    refused("format = 'pdf'", &["line 1: format: ", "pdf", "json"]);
    refused("lock = 'gone.lua'", &["line 1: lock: 'gone.lua' not found"]);
    refused("config = 'x'", &["line 1: unknown key 'config'"]);
    refused("seeds = ", &["line 1: "]);
    refused("[profil.night]\nttl = '1s'", &["unknown table 'profil': expected [profile.night]"]);
    refused("[profile.night]\nttl = '1x'", &["line 2: ttl: "]);
    refused("profile = 'night'", &["line 1: profile: expected a table, [profile.NAME]"]);
    refused("processes = 0", &["line 1: processes: ", "from 1 to 64"]);
}

#[test]
fn an_unknown_command_is_named_and_not_the_options_of_the_project() {
    let folder = project(PROJECT);
    for (command, expected) in [
        ("swep --seeds 0..2", "error: unknown command 'swep' (did you mean 'sweep'?)"),
        ("help nope", "error: unknown command 'nope': expected one of "),
        ("findngs list", "error: unknown command 'findngs' (did you mean 'findings'?)"),
        ("--seed 1 sweep", "error: the subcommand 'sweep' cannot be used with '--seed <N>'\n"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let answer = fencepost_in(folder.path(), &words);
        is_refused(&answer, &[]);
        assert!(answer.stderr.starts_with(expected), "{}", answer.stderr);
    }
}

#[test]
fn a_profile_that_is_nowhere_is_refused() {
    let folder = project(PROJECT);
    let unknown = refusal_in(folder.path(), &["sweep", "--profile", "nigth"]);
    assert!(unknown.contains("unknown profile 'nigth' (did you mean 'night'?)"), "{unknown}");
    assert!(unknown.contains("expected one of night, pull-request"), "{unknown}");
    let without = refusal_in(tempfile::tempdir().unwrap().path(), &["--profile", "night"]);
    assert!(without.contains("expected fencepost.toml in the current folder"), "{without}");
    let missing = refusal_in(folder.path(), &["sweep", "--config", "missing.toml"]);
    assert!(missing.contains("missing.toml: no such file: expected options in TOML"), "{missing}");
}

#[test]
fn a_file_above_starts_programs_only_in_the_same_repository() {
    let folder = project("program = 'w=./worker'\ndeployment = 'single'\ncycles = 2");
    let inner = folder.path().join("locks");
    let run = |arguments: &[&str]| fencepost_in(&inner, arguments);
    let parts =
        ["../fencepost.toml: 'program' may be in", "--config ../fencepost.toml", "--no-config"];
    is_refused(&run(&["--seed", "1"]), &parts);
    let other = run(&["--client", "single-node", "--fault", "none"]);
    assert_eq!(other.status, 0, "{}", other.stderr);
    assert!(other.stderr.contains("note: using the options in ../fencepost.toml"));
    let with_variables = project("env = ['LD_PRELOAD=/tmp/x.so']");
    let theirs = with_variables.path().join("locks");
    let refused = fencepost_in(&theirs, &["--program", "true", "--deployment", "single"]);
    is_refused(&refused, &["../fencepost.toml: 'env' may be in"]);
    let asked = run(&["--config", "../fencepost.toml"]);
    assert!(asked.stderr.contains("worker"), "{}", asked.stderr);
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    let same = run(&["--seed", "1"]);
    assert!(same.stderr.contains("worker") && same.status == 2, "{}", same.stderr);
}

#[test]
fn the_search_ends_at_the_root_of_the_repository() {
    let folder = project(PROJECT);
    let inner = folder.path().join("locks");
    std::fs::create_dir(inner.join(".git")).unwrap();
    let answer = fencepost_in(&inner, &["sweep"]);
    is_refused(&answer, &["--seeds"]);
}
