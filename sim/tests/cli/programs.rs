use crate::answer::{Answer, fencepost_in, json, without_measured};
use crate::refusal::{is_refused, refusal};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn silent(folder: &Path) -> Answer {
    let asked = ["run", "--seed", "4", "--cycles", "1", "--program", "silent=sh worker.sh"];
    fencepost_in(folder, &[&asked[..], &["--format", "json"]].concat())
}

fn reported() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("worker.sh"), ". ./library.sh\necho hello\n").unwrap();
    fs::write(folder.path().join("library.sh"), "true\n").unwrap();
    fs::write(folder.path().join("orders.csv"), "1,2\n").unwrap();
    let run = silent(folder.path());
    assert_eq!(run.status, 3, "{}", run.stderr);
    fs::write(folder.path().join("report.json"), run.stdout).unwrap();
    folder
}

#[test]
fn a_report_says_which_files_ran() {
    let folder = reported();
    let text = fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report = json(&text);
    let program = &report["config"]["scenario"]["programs"][0];
    assert_eq!(program["command"], serde_json::json!(["sh", "worker.sh"]));
    let words: Vec<&String> = program["files"].as_object().unwrap().keys().collect();
    assert_eq!(words, ["sh", "worker.sh"]);
    let files = report["runs"][0]["ran"]["files"].as_object().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name).display().to_string();
    assert_eq!(files[&at("worker.sh")], program["files"]["worker.sh"]);
    assert!(files.contains_key(&at("library.sh")), "{files:?}");
    let shell = fs::canonicalize("/bin/sh").unwrap().display().to_string();
    assert_eq!(files[&shell], program["files"]["sh"]);
    assert_eq!(files.len(), 3, "no library of the system, and no data: {files:?}");
    assert_eq!(silent(folder.path()).stdout, text, "and the same again");
}

#[test]
fn a_worker_that_changed_is_refused_by_name_unless_it_is_allowed() {
    let folder = reported();
    let ask = |more: &[&str]| fencepost_in(folder.path(), &[more, &["report.json"]].concat());
    let same = ask(&["replay"]);
    assert_eq!((same.status, same.stderr.as_str()), (3, ""), "{}", same.stdout);
    for (file, content) in
        [("library.sh", "echo more >&2\n"), ("worker.sh", ". ./library.sh\necho other\n")]
    {
        fs::write(folder.path().join(file), content).unwrap();
        for command in ["replay", "shrink"] {
            let parts = ["error: program 'silent': ", file, "--allow-changed"];
            is_refused(&ask(&[command]), &parts);
        }
    }
    let allowed = ask(&["replay", "--allow-changed", "--format", "json"]);
    assert_eq!(allowed.status, 3, "{}", allowed.stderr);
    assert!(allowed.stderr.starts_with("note: program 'silent': "), "{}", allowed.stderr);
    let printed = &allowed.json()["runs"][0]["programs"][0]["output"];
    let texts: Vec<&str> =
        printed.as_array().unwrap().iter().map(|line| line["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["more", "other"]);
    fs::write(folder.path().join("report.json"), allowed.stdout).unwrap();
    assert_eq!(ask(&["replay"]).status, 3);
    fs::remove_file(folder.path().join("library.sh")).unwrap();
    assert_eq!(ask(&["replay"]).status, 2);
}

fn compiled() -> Option<TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/programs/plain.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-w", "-o"]).arg(folder.path().join("worker")).arg(source);
    let works = compiler.output().is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("skipped: there is no C compiler");
    }
    works.then_some(folder)
}

fn boundary_of_worker(folder: &TempDir, more: &[&str]) -> Answer {
    let search = ["boundary", "--program", "./worker", "--fault", "pause", "--vary", "pause"];
    let common = ["--between", "1s..13s", "--quiet", "--format", "json"];
    fencepost_in(folder.path(), &[&search[..], &common, more].concat())
}

#[test]
fn the_boundary_of_a_program_is_found_within_its_runs() {
    let Some(folder) = compiled() else { return };
    let few = ["--seeds", "0..4", "--parts", "2", "--step", "3s", "--cycles", "4"];
    let found = boundary_of_worker(&folder, &few);
    assert_eq!(found.status, 1, "{}", found.stderr);
    let report = found.json();
    assert_eq!((&report["client"], &report["monotone"]), (&"worker".into(), &true.into()));
    let turns = &report["found"];
    let at = |key: &str| turns[key].as_u64().unwrap();
    assert!(at("violated") > 1_990_000 && at("quiet") < at("violated"), "{turns}");
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn the_default_limit_of_400_runs_reduces_the_number_of_seeds() {
    let Some(folder) = compiled() else { return };
    let many = ["--parts", "100", "--step", "120ms", "--cycles", "1"];
    let wide = boundary_of_worker(&folder, &many);
    let report = wide.json();
    let probes = report["probes"].as_array().unwrap().len() as u64;
    let seeds: u64 = report["seeds"]["to"].as_str().unwrap().parse().unwrap();
    assert!(seeds >= 3 && probes * seeds <= 400, "{probes} probes of {seeds} seeds");
}

#[test]
fn only_one_program_has_a_boundary_and_a_lock_beside_it_has_none() {
    let both = ["boundary", "--fault", "pause", "--vary", "pause", "--program", "a=/bin/true"];
    for (more, said) in [
        (["--program", "b=/bin/true"], "error: --program a, b: expected only one program"),
        (["--client", "fencing"], "error: "),
    ] {
        let line = refusal(&[&both[..], &more].concat());
        assert!(line.starts_with(said), "{line}");
    }
}

#[test]
fn a_matrix_has_rows_of_programs() {
    let Some(folder) = compiled() else { return };
    let ask = |more: &[&str]| {
        let asked = ["matrix", "--program", "./worker", "--fault", "none,pause", "--quiet"];
        fencepost_in(folder.path(), &[&asked, more].concat())
    };
    let made = ask(&["--seeds", "0..6", "--cycles", "6", "--out", "."]);
    assert_eq!(made.status, 0, "{}", made.stderr);
    let matrix = json(&fs::read_to_string(folder.path().join("matrix.json")).unwrap());
    let cells: Vec<(&str, &str)> = matrix["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| (cell["client"].as_str().unwrap(), cell["fault"].as_str().unwrap()))
        .collect();
    assert_eq!(cells, [("worker", "none"), ("worker", "pause")]);
    let held = ask(&["--seeds", "6..9", "--cycles", "6", "--check", "matrix.json"]);
    assert_eq!(held.status, 0, "{}{}", held.stdout, held.stderr);
}

#[test]
fn shards_of_a_program_add_up_and_go_on_and_a_changed_worker_does_neither() {
    let Some(folder) = compiled() else { return };
    let ask = |words: &[&str]| {
        let common = ["--program", "./worker", "--fault", "none,pause", "--seeds", "0..6"];
        let more = ["--cycles", "6", "--no-shrink", "--quiet", "--format", "json"];
        fencepost_in(folder.path(), &[&["sweep"], words, &common, &more].concat())
    };
    let keep = |name: &str, answer: Answer| {
        assert!(answer.status < 2, "{name}: {}", answer.stderr);
        fs::write(folder.path().join(name), answer.stdout).unwrap();
    };
    keep("whole.json", ask(&[]));
    keep("1.json", ask(&["--shard", "1/2"]));
    keep("2.json", ask(&["--shard", "2/2", "--checkpoint", "at"]));
    keep("again.json", ask(&["--shard", "2/2", "--checkpoint", "at", "--resume"]));
    let merge = || fencepost_in(folder.path(), &["merge", "1.json", "2.json", "--format", "json"]);
    let cells = |text: &str| without_measured(text)["cells"].clone();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let sum = merge();
    assert_eq!(sum.status, 1, "{}", sum.stderr);
    assert_eq!(cells(&sum.stdout), cells(&read("whole.json")));
    assert_eq!(cells(&read("again.json")), cells(&read("2.json")));
    let worker = folder.path().join("worker");
    let longer = [fs::read(&worker).unwrap(), b"another".to_vec()].concat();
    fs::write(&worker, longer).unwrap();
    let resumed = ask(&["--shard", "2/2", "--checkpoint", "at", "--resume"]);
    assert_eq!(resumed.status, 2, "{}", resumed.stderr);
    fs::write(folder.path().join("2.json"), ask(&["--shard", "2/2"]).stdout).unwrap();
    let refused = merge();
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("different settings (programs."), "{}", refused.stderr);
}

#[test]
fn ci_is_told_of_a_program_that_is_broken_and_of_one_that_fails() {
    let Some(folder) = compiled() else { return };
    fs::write(folder.path().join("fails.sh"), "echo 'no such lock' >&2; exit 3\n").unwrap();
    let ask = |format: &str| {
        let common = ["sweep", "--seeds", "0..3", "--fault", "pause", "--no-shrink", "--quiet"];
        let both = ["--program", "./worker", "--program", "fails=sh fails.sh", "--format", format];
        fencepost_in(folder.path(), &[&common[..], &both].concat())
    };
    for (format, broken) in
        [("junit", "<failure"), ("github", "::error title=worker x pause::"), ("text", "overlap")]
    {
        let told = ask(format);
        assert_eq!(told.status, 1, "{format}: {}", told.stderr);
        assert!(told.stdout.contains(broken), "{format}: {}", told.stdout);
        let failed = "the program failed in 3 of 3 runs: in seed 0, client-1 exited with status 3";
        let is_told = told.stdout.contains(failed) && told.stdout.contains("no such lock");
        assert!(is_told, "{format}: {}", told.stdout);
    }
    let known = "[worker]\npause = \"violates\"\n";
    fs::write(folder.path().join("known.toml"), known).unwrap();
    let held = fencepost_in(
        folder.path(),
        &[
            "sweep", "--seeds", "0..3", "--fault", "pause", "--no-shrink", "--quiet", "--program",
            "./worker", "--expect", "known.toml",
        ],
    );
    assert_eq!(held.status, 0, "{}", held.stderr);
}

#[test]
fn a_sweep_says_that_a_program_is_not_reproducible() {
    let Some(folder) = compiled() else { return };
    let remembers =
        "echo x >>starts; for start in $(cat starts); do sleep 0.01; done; exec ./worker";
    fs::write(folder.path().join("worker.sh"), remembers).unwrap();
    let common = ["sweep", "--seeds", "0..3", "--fault", "pause", "--no-shrink", "--quiet"];
    let refused =
        fencepost_in(folder.path(), &[&common[..], &["--program", "sh worker.sh"]].concat());
    assert_eq!(refused.status, 2, "{}", refused.stdout);
    let said = "the program is not reproducible (event 0 differs between two runs)";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
}

#[test]
fn a_new_worker_is_written_with_the_commands_to_install_and_to_run_it() {
    let folder = tempfile::tempdir().unwrap();
    let new = |words: &[&str]| fencepost_in(folder.path(), &[&["new", "program"], words].concat());
    let made = new(&["python", "--on", "zookeeper"]);
    assert_eq!(made.status, 0, "{}", made.stderr);
    assert!(made.stdout.contains("pip install redis kazoo\n"), "{}", made.stdout);
    assert!(made.stdout.contains("--coordinator zookeeper --program"), "{}", made.stdout);
    let text = std::fs::read_to_string(folder.path().join("worker.py")).unwrap();
    assert!(text.contains("KazooClient") && text.contains("FENCEPOST_ZOOKEEPER"));
    let made = new(&["go", "--on", "etcd"]);
    assert!(made.stdout.contains("--servers real --program './worker'"), "{}", made.stdout);
    std::fs::remove_file(folder.path().join("worker.go")).unwrap();
    for language in ["node", "java", "go", "rust", "ruby", "php"] {
        let made = new(&[language]);
        assert_eq!(made.status, 0, "{}", made.stderr);
        let (file, _) = made.stdout.split_once('\n').unwrap();
        assert!(folder.path().join(file).exists(), "{}", made.stdout);
    }
    for file in ["Redisson.java", "Harness.java", "pom.xml"] {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(!text.contains("docs/"), "{text}");
        std::fs::remove_file(folder.path().join(file)).unwrap();
    }
    let made = new(&["java", "--on", "zookeeper"]);
    assert!(made.stdout.starts_with("Curator.java\npom.xml\nmvn "), "{}", made.stdout);
    assert!(made.stdout.lines().count() == 4, "every line is a file or a command: {}", made.stdout);
    let project = std::fs::read_to_string(folder.path().join("pom.xml")).unwrap();
    assert!(project.contains("<artifactId>curator-recipes</artifactId>"), "{project}");
    let refused = |words: &[&str], reason: &str| is_refused(&new(words), &[reason]);
    refused(&["python"], "worker.py already exists: expected a folder without this file");
    std::fs::remove_file(folder.path().join("Curator.java")).unwrap();
    refused(&["java", "--on", "zookeeper"], "pom.xml already exists: expected a folder without");
    assert!(!folder.path().join("Curator.java").exists(), "all files of a program, or none");
    refused(&["perl"], "unknown language 'perl'");
    refused(&["go", "--on", "zookeeper"], "unknown --on 'zookeeper': expected one of redis");
}

#[test]
fn a_program_against_another_coordinator_says_so_in_its_report_and_bad_input_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("worker.sh"), "env | grep FENCEPOST_ | sort").unwrap();
    let program = ["--program", "silent=sh worker.sh", "--cycles", "1", "--format", "json"];
    for (coordinator, variable) in [
        ("memcached", "FENCEPOST_MEMCACHED=server-1:11211"),
        ("zookeeper", "FENCEPOST_ZOOKEEPER=server-1:2181,server-2:2181,server-3:2181"),
        ("postgresql", "FENCEPOST_POSTGRESQL=postgresql://postgres@server-1:5432/postgres"),
        ("mysql", "FENCEPOST_JDBC=jdbc:mysql://server-1:3306/test?user=root"),
        ("etcd", "FENCEPOST_ETCD_3=http://server-3:2379"),
        ("chubby", "FENCEPOST_CHUBBY_5=server-5:2006"),
        ("gemfire", "FENCEPOST_GEMFIRE_3=server-3:40404"),
    ] {
        let asked = [&program[..], &["--coordinator", coordinator]].concat();
        let answer = fencepost_in(folder.path(), &asked);
        let report = answer.json();
        let stated = &report["config"]["scenario"]["programs"][0];
        assert_eq!(stated["coordinator"], coordinator);
        let printed = report["runs"][0]["programs"][0]["output"].as_array().unwrap();
        let has = printed.iter().any(|line| line["text"] == variable);
        assert!(has, "{coordinator}: {printed:?}");
    }
    let refused = |more: &[&str], reason: &str| {
        is_refused(&fencepost_in(folder.path(), &[&program[..], more].concat()), &[reason]);
    };
    let sentinel = ["--coordinator", "etcd", "--deployment", "sentinel"];
    refused(&sentinel, "--deployment 'sentinel': expected cluster or single for programs on etcd");
    refused(&["--coordinator", "consul"], "unknown coordinator 'consul'");
    refused(&["--deployment", "cell"], "expected single, sentinel or independent");
}
