use crate::answer::{Answer, fencepost, fencepost_in, json, without_measured};
use crate::interrupted::interrupted;
use crate::refusal::is_refused;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SWEEP: &[&str] = &["sweep", "--client", "single-node", "--cycles", "4", "--quiet"];

fn sweep(folder: &Path, more: &[&str]) -> Answer {
    fencepost_in(folder, &[SWEEP, more].concat())
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
    let starved =
        sweep(folder.path(), &[&checkpointed[..], &["--resume", "--max-memory", "1mb"]].concat());
    assert_eq!(starved.status, 2, "the checkpoint outlives want of memory too");
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
        (with("0..4", &["--ttl", "9s"]), "with other settings (ttl: 10s, not 9s): use the options"),
        (
            with("0..4", &["--fault", "pause"]),
            "cells is single-node x none, not single-node x pause",
        ),
        (with("0..4", &["--shard", "1/2"]), "shard is 1/1, not 1/2"),
    ] {
        is_refused(&answer, &[says]);
    }
    std::fs::write(folder.path().join("at"), "{").unwrap();
    is_refused(&with("0..4", &[]), &["not a valid checkpoint"]);
    let nowhere = sweep(folder.path(), &["--seeds", "0..4", "--resume"]);
    is_refused(&nowhere, &["expected --checkpoint FILE, or --out DIR"]);
}

#[test]
fn kept_violations_are_reports_that_replay() {
    let folder = tempfile::tempdir().unwrap();
    let answer = sweep(
        folder.path(),
        &[
            "--seeds", "0..60", "--fault", "pause", "--format", "json", "--out", "out",
            "--max-violations", "3",
        ],
    );
    let sum = answer.json();
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
fn a_kept_report_of_a_run_names_only_its_own_family() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["--seed", "15", "--fault", "none,pause", "--client", "single-node"];
    let more = ["--no-shrink", "--out", "out"];
    assert_eq!(fencepost_in(folder.path(), &[&asked[..], &more].concat()).status, 1);
    let files = std::fs::read_dir(folder.path().join("out")).unwrap();
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let faults: Vec<_> = texts.map(|text| json(&text)["faults"].clone()).collect();
    assert!(!faults.is_empty() && faults.iter().all(|one| *one == serde_json::json!(["pause"])));
}

#[test]
fn what_is_kept_does_not_depend_on_the_slices() {
    let folder = tempfile::tempdir().unwrap();
    let common = [
        "--seeds", "0..90", "--fault", "pause,failover", "--format", "json", "--max-violations",
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
    let command = lines.last().unwrap().trim().strip_prefix("reproduce: fencepost ").unwrap();
    let shown = fencepost_in(folder.path(), &command.split(' ').collect::<Vec<_>>());
    assert!(shown.status == 1 && shown.stdout.contains("overlap"), "{command}: {}", shown.stdout);
    let silent = with("[single-node]\nnone = 'safe'");
    assert!(
        silent.status == 1
            && silent.stderr.contains("expected an entry in the expectations file, got none"),
        "{}",
        silent.stderr
    );
    let unknown = with("[single-nod]\nnone = 'safe'");
    assert!(unknown.status == 2 && unknown.stderr.contains("single-nod"), "{}", unknown.stderr);
    let run = [
        "run", "--seed", "3", "--client", "single-node", "--cycles", "4", "--expect", "expect.toml",
    ];
    with("[single-node]\nnone = 'safe'");
    assert_eq!(fencepost_in(folder.path(), &run).status, 0);
    with("[single-node]\nnone = 'violates'");
    assert_eq!(fencepost_in(folder.path(), &run).status, 1);
}

const EXPECTATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ci/expectations.toml");

#[test]
fn the_checked_in_matrix_is_accepted() {
    let answer = fencepost(&[SWEEP, &["--seeds", "0..4", "--expect", EXPECTATIONS]].concat());
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
}

#[test]
fn the_checked_in_matrix_knows_that_a_holder_that_leaves_writes_nothing_when_it_wakes() {
    let sweep = ["sweep", "--client", "curator-suspended", "--fault", "suspend", "--no-shrink"];
    let held = ["--seeds", "0..30", "--quiet", "--expect", EXPECTATIONS];
    let answer = fencepost(&[&sweep[..], &held].concat());
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{}", answer.stdout);
}

#[test]
fn a_quiet_sweep_says_nothing_on_stderr() {
    assert_eq!(fencepost(&[SWEEP, &["--seeds", "0..4"]].concat()).stderr, "");
}

#[test]
fn a_signal_leaves_what_was_done_by_then_and_shows_in_the_exit_status() {
    let quiet = ["--client", "single-node"];
    let violated = ["--client", "single-node", "--fault", "pause", "--no-shrink"];
    for (signal, status, options) in
        [("INT", 130, &quiet[..]), ("TERM", 143, &quiet[..]), ("TERM", 143, &violated[..])]
    {
        let sweep = ["sweep", "--seeds", "0..1000000", "--cycles", "2", "--format", "json"];
        let arguments = [&sweep, options].concat();
        let (code, sum) = interrupted(&arguments, Path::new("."), 1, signal);
        assert_eq!(code, Some(status), "{signal} {options:?}");
        assert_eq!(sum["complete"], false);
        let runs = sum["cells"][0]["runs"].as_u64().unwrap();
        assert!((1..1_000_000).contains(&runs), "{runs}");
    }
}

#[test]
fn merge_refuses_a_missing_slice_and_one_that_is_there_twice() {
    let folder = tempfile::tempdir().unwrap();
    for index in ["1", "2", "3"] {
        let shard = format!("{index}/3");
        let slice = ["--seeds", "0..9", "--format", "json", "--shard", &shard];
        let slice = sweep(folder.path(), &slice);
        std::fs::write(folder.path().join(index), slice.stdout).unwrap();
    }
    let merge = |files: &[&str]| fencepost_in(folder.path(), &[&["merge"], files].concat());
    assert_eq!(merge(&["3", "1", "2"]).status, 0);
    is_refused(&merge(&["1", "1"]), &["overlap"]);
    for (files, missing) in [(["2", "3"], "0..3"), (["1", "2"], "6..9"), (["3", "1"], "3..6")] {
        is_refused(&merge(&files), &[&format!("seeds {missing} are missing")]);
        assert_eq!(merge(&[&files[..], &["--partial"]].concat()).status, 0);
    }
}

#[test]
fn a_slice_that_was_damaged_or_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let slice = sweep(folder.path(), &["--seeds", "0..30", "--fault", "pause", "--format", "json"]);
    let merged = |text: &str| {
        std::fs::write(folder.path().join("slice"), text).unwrap();
        fencepost_in(folder.path(), &["merge", "slice"])
    };
    assert_eq!(merged(&slice.stdout).stderr, "");
    let damaged = merged(&slice.stdout.replacen("\"violated\": ", "\"violated\": 1", 1));
    is_refused(&damaged, &["the checksum of this sweep does not match"]);
    let mut value = slice.json();
    value.as_object_mut().unwrap().remove("checksum");
    let bare = merged(&value.to_string());
    assert_eq!(bare.status, 1);
    assert!(bare.stderr.starts_with("warning: slice: has no checksum"), "{}", bare.stderr);
    value["cells"][0]["violated"] = 1_000.into();
    let impossible = merged(&value.to_string());
    is_refused(&impossible, &["do not add up to 30 runs"]);
}

#[test]
fn a_damaged_checkpoint_is_refused_and_one_without_a_checksum_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let begin = [
        &["--seeds", "0..30", "--fault", "pause", "--format", "json"][..],
        &["--checkpoint", "at", "--resume"],
    ]
    .concat();
    let whole = sweep(folder.path(), &begin);
    let path = folder.path().join("at");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut caught = 0;
    for at in (0..text.len()).step_by(text.len() / 20) {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let answer = sweep(folder.path(), &begin);
        match answer.status {
            2 => caught += 1,
            // A flipped bit in the key `checksum` hides the checksum, which only causes a warning.
            _ => assert!(answer.stderr.contains("warning: "), "byte {at}: {}", answer.stderr),
        }
    }
    assert!(caught > 10, "{caught}");
    let mut value = json(&text);
    value.as_object_mut().unwrap().remove("checksum");
    std::fs::write(&path, value.to_string()).unwrap();
    let warned = sweep(folder.path(), &begin);
    assert_eq!(warned.status, whole.status);
    assert_eq!(without_measured(&warned.stdout), without_measured(&whole.stdout));
    assert!(warned.stderr.starts_with("warning: at: has no checksum"), "{}", warned.stderr);
}

#[test]
fn what_a_killed_run_left_half_written_is_removed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join(".tmp-fencepost-Ab12Cd"), "{\"format\": \"fence").unwrap();
    let swept = sweep(folder.path(), &["--seeds", "0..30", "--fault", "pause", "--out", "out"]);
    assert_eq!(swept.status, 1);
    let names = std::fs::read_dir(&out).unwrap().map(|file| file.unwrap().file_name());
    let hidden: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn a_run_that_is_killed_while_it_writes_leaves_whole_files() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args([SWEEP, &["--seeds", "0..30", "--fault", "pause", "--no-shrink"]].concat())
        .args(["--out", "out"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let files = || std::fs::read_dir(&out).into_iter().flatten().map(|file| file.unwrap().path());
    let is_whole = |path: &PathBuf| !path.to_string_lossy().contains("/.tmp-fencepost-");
    while files().filter(is_whole).count() == 0 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(files().filter(is_whole).count() > 0);
    for path in files().filter(is_whole) {
        json(&std::fs::read_to_string(&path).unwrap());
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for format in ["text", "json", "html"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
            .args([SWEEP, &["--seeds", "0..30", "--format", format]].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{format}");
    }
}

/// Limits the size of files, because filling a disk would need root.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_neither_the_sum_nor_a_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let arguments =
        [SWEEP, &["--seeds", "0..30", "--fault", "pause", "--no-shrink", "--out", "out"]].concat();
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"";
    let full = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_fencepost")])
        .args(&arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let (said, summed) = (
        String::from_utf8_lossy(&full.stderr).into_owned(),
        String::from_utf8_lossy(&full.stdout).into_owned(),
    );
    assert_eq!(full.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: out/") && said.lines().count() == 1, "{said}");
    assert!(summed.contains("see one: fencepost --seed"), "the sum is there: {summed}");
    let files = || std::fs::read_dir(&out).unwrap().map(|file| file.unwrap().path());
    for path in files() {
        json(&std::fs::read_to_string(&path).unwrap());
    }
    assert_eq!(files().filter(|path| path.to_string_lossy().contains(".tmp")).count(), 0);
    let after = sweep(folder.path(), &arguments[SWEEP.len()..]);
    assert_eq!((after.status, after.stderr.as_str()), (1, ""));
}

/// CI runs as root, which ignores permissions, so a folder at the file's path makes the write fail.
#[test]
fn a_file_that_cannot_be_written_is_named_once_before_the_runs() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = folder.path().join("out/sweep-1-of-1.checkpoint");
    std::fs::create_dir_all(checkpoint.join("a folder in the place of the file")).unwrap();
    let answer = sweep(
        folder.path(),
        &["--seeds", "0..30", "--fault", "pause", "--no-shrink", "--out", "out"],
    );
    assert_eq!((answer.status, answer.stdout.as_str()), (2, ""));
    let said = "error: --out 'out/sweep-1-of-1.checkpoint': is a directory: expected a writable \
                file\n";
    assert_eq!(answer.stderr, said);
}

#[cfg(target_os = "linux")]
#[test]
fn a_sweep_that_holds_too_much_memory_stops_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let common = ["--seeds", "0..1000000", "--checkpoint", "at", "--max-memory"];
    let stopped = sweep(folder.path(), &[&common[..], &["1mb"]].concat());
    assert_eq!(stopped.status, 2);
    assert!(stopped.stderr.contains("--max-memory: "), "{}", stopped.stderr);
    assert_eq!(stopped.stderr.lines().count(), 1, "{}", stopped.stderr);
    let odd = sweep(folder.path(), &[&common[..], &["much"]].concat());
    is_refused(&odd, &["like 512mb or 4gb"]);
    let plenty = sweep(folder.path(), &["--seeds", "0..4", "--max-memory", "64gb"]);
    assert_eq!((plenty.status, plenty.stderr.as_str()), (0, ""));
}

#[test]
fn names_in_a_slice_reach_the_terminal_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let slice = sweep(folder.path(), &["--seeds", "0..30", "--fault", "pause", "--format", "json"]);
    let mut value = slice.json();
    value.as_object_mut().unwrap().remove("checksum");
    value["cells"][0]["client"] = "\u{1b}[2J\n::error::x <img src=x onerror=alert(1)>".into();
    std::fs::write(folder.path().join("slice"), value.to_string()).unwrap();
    let merged =
        |format: &str| fencepost_in(folder.path(), &["merge", "slice", "--format", format]).stdout;
    assert!(merged("text").contains("\\u{1b}[2J\\n::error::x <img"), "{}", merged("text"));
    assert_eq!(merged("github").lines().count(), 1, "{}", merged("github"));
    assert!(!merged("html").contains("<img"), "markup is escaped");
    let matrix = fencepost_in(folder.path(), &["matrix", "--from", "slice", "--format", "html"]);
    assert!(matrix.stdout.contains("onerror") && !matrix.stdout.contains("<img"));
}

#[test]
fn the_published_pages_of_matrices_are_those_of_their_data() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for name in ["matrix", "availability"] {
        let data = docs.join("data").join(name).with_extension("json");
        let data = data.to_str().expect("it is text");
        let page = fencepost(&["matrix", "--from", data, "--format", "markdown"]);
        let published =
            std::fs::read_to_string(docs.join(name).with_extension("md")).expect("it is there");
        assert_eq!(page.stderr, "");
        assert!(page.stdout == published, "matrix --from {data} --format markdown");
    }
}
