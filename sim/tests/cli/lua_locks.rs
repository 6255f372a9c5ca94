use crate::answer::{fencepost, fencepost_in};
use crate::refusal::refusal_in;

const FIFTEEN_LINES: &str = r#"
local DELETE = [[if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("del", KEYS[1]) else return 0 end]]

function acquire(key, ttl)
  local owner = random_hex(20)
  if redis.call("SET", key, owner, "NX", "PX", ttl) then return owner end
end

function release(key, owner)
  return redis.script(DELETE, key, owner) == 1
end
"#;

fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lock.lua"), text).unwrap();
    folder
}

#[test]
fn a_report_of_a_script_is_replayed_without_the_file_and_shrunk() {
    let folder = folder(FIFTEEN_LINES);
    let run = ["--lock", "lock.lua", "--seed", "15", "--fault", "pause", "--format", "json"];
    let answer = fencepost_in(folder.path(), &run);
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    let report = answer.json();
    assert_eq!(report["config"]["scenario"]["scripts"][0]["text"], FIFTEEN_LINES);
    let found = &report["runs"][0]["violations"][0];
    assert_eq!(found["replay"], "fencepost --seed 15 --fault pause --lock lock.lua");
    assert!(found["minimal_plan"].is_object() && !found["remedies"].as_array().unwrap().is_empty());
    std::fs::remove_file(folder.path().join("lock.lua")).unwrap();
    std::fs::write(folder.path().join("report.json"), &answer.stdout).unwrap();
    for again in [&["replay", "report.json"][..], &["replay", "--minimal", "report.json"]] {
        let replayed = fencepost_in(folder.path(), again);
        assert_eq!(replayed.status, 1, "{}", replayed.stderr);
    }
}

#[test]
fn a_script_is_swept_compared_explored_and_searched_like_a_lock_of_the_table() {
    let folder = folder(FIFTEEN_LINES);
    let sweep = ["sweep", "--lock", "lock.lua", "--client", "single-node", "--seeds", "0..12"];
    let swept = fencepost_in(
        folder.path(),
        &[&sweep[..], &["--fault", "pause", "--no-shrink", "--format", "json"]].concat(),
    );
    let sum = swept.json();
    let cells = sum["cells"].as_array().unwrap();
    let names: Vec<&str> = cells.iter().filter_map(|cell| cell["client"].as_str()).collect();
    assert_eq!(names, ["single-node", "lock.lua"]);
    assert!(cells.iter().all(|cell| cell["violated"].as_u64() > Some(0)), "{cells:?}");
    let compared = fencepost_in(
        folder.path(),
        &["compare", "single-node", "lock.lua", "--fault", "pause", "--seeds", "0..10"],
    );
    assert_eq!(compared.status, 0, "{}", compared.stderr);
    assert!(compared.stdout.contains("lock.lua"), "{}", compared.stdout);
    let explore = ["explore", "--lock", "lock.lua", "--fault", "none", "--format", "json"];
    let explored = fencepost_in(folder.path(), &explore);
    assert_eq!(explored.status, 0, "{}", explored.stderr);
    std::fs::write(folder.path().join("certificate.json"), &explored.stdout).unwrap();
    std::fs::remove_file(folder.path().join("lock.lua")).unwrap();
    let checked = fencepost_in(folder.path(), &["explore", "--check", "certificate.json"]);
    assert_eq!(checked.status, 0, "{}", checked.stderr);
}

#[test]
fn the_ttl_of_a_script_counts_unless_another_is_asked_for() {
    let folder = folder(&format!("lock = {{ ttl = 2000, retry = {{ 10, 20 }} }}\n{FIFTEEN_LINES}"));
    let scenario = |more: &[&str]| {
        let run = ["--lock", "lock.lua", "--format", "json", "--no-shrink", "--cycles", "2"];
        let answer = fencepost_in(folder.path(), &[&run[..], more].concat());
        let report = answer.json();
        report["config"]["scenario"].clone()
    };
    let own = scenario(&[]);
    assert_eq!((&own["ttl"], &own["retry"]), (&"2s".into(), &"10ms..20ms".into()));
    assert_eq!(scenario(&["--ttl", "3s"])["ttl"], "3s");
    assert_eq!(scenario(&["--ttl", "10s"])["ttl"], "10s");
}

#[test]
fn a_wrong_script_is_refused_in_one_line_before_anything_runs() {
    let at = |text: &str| {
        let folder = folder(text);
        refusal_in(folder.path(), &["--lock", "lock.lua"])
    };
    assert!(at("function acquire(").starts_with("error: lock.lua:1:18: "));
    assert!(at("function acquire() redis.cal() end").starts_with("error: lock.lua:1:26: unknown"));
    let release = "function release() return true end\n";
    assert_eq!(
        at(&format!("{release}function acquire() return 5 > 4 end")),
        "error: lock.lua:2:1: acquire returned a boolean: expected the owner as a string, a \
         table with owner, or nil"
    );
    let endless = at(&format!("{release}function acquire()\n while true do end end"));
    assert!(endless.starts_with("error: lock.lua:3:2: 200,000 instructions"), "{endless}");
    let nil = at(&format!("{release}function acquire()\n local x\n return x.y end"));
    assert_eq!(nil, "error: lock.lua:4:9: attempt to index a nil value (local 'x')");
    let zero = at("function acquire() return 'me' end function release() return 0 end");
    assert!(zero.contains("release returned a number: expected true, false or nil"), "{zero}");
}

#[test]
fn a_command_that_redis_rejects_in_every_run_is_refused_with_its_place() {
    let at = |acquire: &str| {
        let release = "function release(key) return redis.call('DEL', key) == 1 end\n";
        let folder = folder(&format!("{release}function acquire(key)\n  {acquire}\nend"));
        refusal_in(folder.path(), &["--lock", "lock.lua"])
    };
    let place = "error: lock.lua:3:";
    for (acquire, reply) in [
        ("redis.call('STE', key)", "unknown command 'STE'"),
        ("redis.call('SET', key)", "wrong number of arguments for 'set' command"),
        ("redis.call('SET', key, 'me', 'NY')", "syntax error"),
        ("redis.script('return redis.cal()', key)", "user_script:1: attempt to call field 'cal'"),
        ("redis.script('return return', key)", "Error compiling script"),
        ("redis.script('while true do end', key)", "Script stopped by fake-redis"),
    ] {
        let told = at(acquire);
        let is_told = told.starts_with(place) && told.contains(&format!("answered ERR {reply}"));
        assert!(is_told, "{acquire}: {told}");
    }
}

#[test]
fn a_command_that_redis_does_not_know_is_an_error_of_the_script_and_no_violation() {
    let at = |text: &str| {
        let folder = folder(text);
        refusal_in(folder.path(), &["--lock", "lock.lua"])
    };
    let release = "function release() return true end\n";
    assert_eq!(
        at(&format!("{release}function acquire(key)\n  return redis.call('SETT', key)\nend")),
        "error: lock.lua:2:1: the server answered ERR unknown command 'SETT'"
    );
    assert_eq!(
        at(&format!("{release}function acquire(key)\n  return redis.call('SET', key)\nend")),
        "error: lock.lua:2:1: the server answered ERR wrong number of arguments for 'set' command"
    );
    let nested = at(&format!(
        "{release}function acquire(key)\n  return 1, redis.script('return redis.call(\"SETT\")', key)\n\
         end"
    ));
    assert!(nested.starts_with("error: lock.lua:3:3: the server answered ERR "), "{nested}");
    let caught = folder(&format!(
        "{}\nfunction is_held() pcall(redis.call, 'SETT') return true end",
        FIFTEEN_LINES
    ));
    let answer = fencepost_in(caught.path(), &["--lock", "lock.lua", "--no-shrink"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
}

#[test]
fn a_call_that_a_coordinator_rejects_is_refused_with_its_place() {
    for (deployment, acquire, told) in [
        ("postgresql-session", "sql.query('SELCT pg_try_advisory_lock(1)')", "answered 42601"),
        ("postgresql-session", "sql.query('SELECT pg_tri_advisory_lock(1)')", "answered 0A000"),
        (
            "postgresql-row",
            "sql.query('INSERT INTO locks (owner) VALUES ($1)', key)",
            "answered 42703",
        ),
        ("mysql", "sql.query('SELCT GET_LOCK(?, 0)', key)", "answered 1064"),
        ("mysql", "sql.query('SELECT owner FROM locks')", "answered 1046"),
        ("zookeeper", "zookeeper.create(key, 'persistent')", "expected a path that begins with /"),
    ] {
        let folder = folder(&format!(
            "lock = {{ deployment = '{deployment}' }}\nfunction release() return true end\n\
             function acquire(key)\n  {acquire}\nend"
        ));
        let line = refusal_in(folder.path(), &["--lock", "lock.lua"]);
        let place = "error: lock.lua:4:";
        assert!(line.starts_with(place) && line.contains(told), "{line}");
    }
}

#[test]
fn a_statement_of_mysql_takes_fractions_booleans_and_nil() {
    let folder = folder(
        "lock = { deployment = 'mysql' }\nfunction acquire(key)\n\
         local rows = sql.within(1000, 'SELECT GET_LOCK(?, ?), ?, ?', key, 0.5, true, nil)\n\
         assert(rows[1][2] == '1' and rows[1][3] == false)\n\
         if rows[1][1] == '1' then return tostring(sql.session()) end\nend\n\
         function release(key) return sql.bound('SELECT RELEASE_LOCK(?)', key)[1][1] == '1' end",
    );
    let answer = fencepost_in(folder.path(), &["--lock", "lock.lua", "--cycles", "4"]);
    assert_eq!(answer.status, 0, "{}{}", answer.stdout, answer.stderr);
}

#[test]
fn a_mistake_in_renew_or_extend_is_refused_before_anything_runs() {
    let at = |function: &str| {
        let folder = folder(&format!("{FIFTEEN_LINES}\n{function}"));
        refusal_in(folder.path(), &["--lock", "lock.lua"])
    };
    for name in ["renew", "extend"] {
        let number = at(&format!("function {name}(key) return redis.call('GET', key) and 1 end"));
        assert!(number.contains(&format!(":14:1: {name} returned a number")), "{number}");
        let nil = at(&format!("function {name}()\n local x\n return x.y end"));
        assert!(nil.starts_with("error: lock.lua:16:9: attempt to index a nil value"), "{nil}");
    }
}

#[test]
fn a_script_that_fails_only_under_a_fault_is_not_valid() {
    let folder = folder(&FIFTEEN_LINES.replace(
        "  if redis.call(\"SET\", key, owner, \"NX\", \"PX\", ttl) then return owner end",
        "  local called, set = pcall(redis.call, 'SET', key, owner, 'NX', 'PX', ttl)\n\
         if not called then error(set.text .. '!') end\n  if set then return owner end",
    ));
    let run = ["--lock", "lock.lua", "--fault", "lost-reply", "--no-shrink"];
    let answer = fencepost_in(folder.path(), &run);
    assert_eq!(answer.status, 3, "{}", answer.stdout);
    assert!(answer.stdout.contains("script error: lock.lua:8:"), "{}", answer.stdout);
}

#[test]
fn a_validity_without_the_current_time_is_refused() {
    let folder = folder(
        &FIFTEEN_LINES
            .replace("return owner end", "return { owner = owner, valid_until = ttl } end"),
    );
    let line = refusal_in(folder.path(), &["--lock", "lock.lua"]);
    let told = "error: lock.lua:5:10: acquire returned a valid_until that had already passed";
    assert!(line.starts_with(told), "{line}");
}

#[test]
fn a_loop_of_waits_that_take_no_time_is_refused() {
    for wait in ["sleep(0)", "pcall(timeout, 0, function() sleep(1) end)"] {
        let folder = folder(&format!(
            "function release() return true end\nfunction acquire()\n  while true do {wait} end\nend"
        ));
        let line = refusal_in(folder.path(), &["--lock", "lock.lua"]);
        let told = "100,000 waits of less than 1 ms in a row";
        assert!(line.starts_with("error: lock.lua:3:") && line.contains(told), "{line}");
    }
}

#[test]
fn another_lock_is_no_remedy_for_the_mistakes_of_a_script() {
    let folder =
        folder(&FIFTEEN_LINES.replace("return redis.script", "local is_free = redis.script"));
    let run = ["--lock", "lock.lua", "--format", "json", "--cycles", "3"];
    let answer = fencepost_in(folder.path(), &run);
    let report = answer.json();
    let found = &report["runs"][0]["violations"][0];
    assert_eq!(found["kind"], "wrong-answer", "{found}");
    let remedies = found["remedies"].as_array().unwrap();
    assert!(!remedies.is_empty(), "{found}");
    assert!(remedies.iter().all(|remedy| remedy["setting"] != "client=fencing"), "{remedies:?}");
}

#[test]
fn a_new_lock_loses_no_release_to_a_partition() {
    let folder = tempfile::tempdir().unwrap();
    for on in ["redis-masters", "zookeeper"] {
        assert_eq!(fencepost_in(folder.path(), &["new", "lock", on, "--on", on]).status, 0);
        let file = format!("{on}.lua");
        let sweep = ["sweep", "--lock", &file, "--seeds", "0..8", "--fault", "partition"];
        let answer = fencepost_in(folder.path(), &[&sweep[..], &["--no-shrink", "-q"]].concat());
        assert_eq!(answer.status, 0, "{on}: {}", answer.stdout);
    }
}

#[test]
fn files_that_are_no_scripts_are_refused() {
    let folder = folder("\u{0}");
    let line = |arguments: &[&str]| refusal_in(folder.path(), arguments);
    assert!(line(&["--lock", "nowhere.lua"]).starts_with("error: nowhere.lua: "));
    std::fs::write(folder.path().join("bytes.lua"), b"-- \xff").unwrap();
    assert!(line(&["--lock", "bytes.lua"]).contains("valid UTF-8"));
    std::fs::write(folder.path().join("big.lua"), "-".repeat(300 << 10)).unwrap();
    assert!(line(&["--lock", "big.lua"]).contains("expected a script of at most 256 KB"));
    std::fs::write(folder.path().join("ok.lua"), FIFTEEN_LINES).unwrap();
    let twice = line(&["--lock", "ok.lua", "--lock", "ok.lua"]);
    assert!(twice.contains("has the same name as another lock, ok.lua"), "{twice}");
    let taken = line(&["--lock", "redlock=ok.lua"]);
    assert!(taken.contains("expected NAME=FILE with a different name"), "{taken}");
    let elsewhere = line(&["--lock", "ok.lua", "--coordinator", "etcd"]);
    assert!(elsewhere.contains("client 'ok.lua' uses redis, not etcd"), "{elsewhere}");
}

#[test]
fn a_new_lock_runs_as_it_is_and_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    for on in ["redis", "redis-masters", "memcached", "postgresql", "mysql", "zookeeper", "etcd"] {
        let name = format!("my-{on}");
        let made = fencepost_in(folder.path(), &["new", "lock", &name, "--on", on]);
        assert_eq!(made.status, 0, "{}", made.stderr);
        let file = format!("{name}.lua");
        let run = ["--lock", &file, "--no-shrink", "--cycles", "4", "--engine", "fast"];
        let answer = fencepost_in(folder.path(), &run);
        assert_eq!(answer.status, 0, "{on}: {} {}", answer.stdout, answer.stderr);
        let suggested = made.stdout.lines().nth(1).unwrap();
        let words: Vec<&str> = suggested.split(' ').skip(1).chain(["--no-shrink"]).collect();
        let shown = fencepost_in(folder.path(), &words);
        assert_eq!(shown.status, 1, "{suggested} shows a violation: {}", shown.stdout);
    }
    let line = |arguments: &[&str]| refusal_in(folder.path(), arguments);
    assert!(line(&["new", "lock", "my-redis"]).contains("my-redis.lua already exists"));
    assert!(line(&["new", "lock", "a b"]).contains("'a b': expected a name of letters"));
    assert!(line(&["new", "lock", "--", "-x"]).contains("'-x': expected a name of letters"));
    assert!(line(&["new", "lock", "x", "--on", "chubby"]).contains("unknown --on 'chubby'"));
    assert_eq!(fencepost(&["new"]).status, 2);
}

/// DELEX exists from Redis 8.4 on.
#[test]
fn the_servers_imitate_the_version_that_the_scenario_sets() {
    let folder = folder(
        r#"
function acquire(key, ttl)
  local owner = random_hex(20)
  if redis.call("SET", key, owner, "NX", "PX", ttl) then return owner end
end

function release(key, owner)
  return redis.call("DELEX", key, "IFEQ", owner) == 1
end
"#,
    );
    let run = ["--lock", "lock.lua", "--seed", "1", "--fault", "none", "--format", "json"];
    let answer = fencepost_in(folder.path(), &[&run[..], &["--set", "redis-version=8.4"]].concat());
    let report = answer.json();
    assert_eq!((answer.status, &report["runs"][0]["verdict"]), (0, &"valid".into()));
    assert_eq!(report["config"]["scenario"]["redis-version"], "8.4");
    assert!(refusal_in(folder.path(), &run).contains("unknown command 'DELEX'"));
}
