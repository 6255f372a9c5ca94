#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod layers;
mod uses;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const EDGES: &[(&str, &[&str])] = &[
    ("faults", &[]),
    ("machine", &[]),
    ("fake-redis/lua-patterns", &[]),
    ("coordinators/chubby", &["fencepost-machine"]),
    ("coordinators/gemfire", &["fencepost-machine"]),
    ("coordinators/etcd", &["fencepost-machine"]),
    ("coordinators/memcached", &["fencepost-machine"]),
    ("coordinators/mysql", &["fencepost-machine"]),
    ("coordinators/postgresql", &["fencepost-machine"]),
    ("serve", &["fencepost-machine"]),
    ("fake-redis", &["fencepost-lua-patterns", "fencepost-machine", "fencepost-serve"]),
    ("coordinators/zookeeper", &["fencepost-machine"]),
    ("clients", &["fencepost-lua-patterns"]),
    ("reports", &["fencepost-faults"]),
    ("programs", &[]),
    ("machine/testing", &["fencepost-machine"]),
    (
        "sim",
        &[
            "fake-redis", "fencepost-chubby", "fencepost-gemfire", "fencepost-clients",
            "fencepost-etcd", "fencepost-faults", "fencepost-machine", "fencepost-memcached",
            "fencepost-mysql", "fencepost-postgresql", "fencepost-programs", "fencepost-reports",
            "fencepost-serve", "fencepost-zookeeper",
        ],
    ),
];

const SIM_ONLY: &[&str] = &["turmoil", "clap", "indicatif", "ctrlc"];

const FUNCTION_LINES_MAX: usize = 70;

const COMMENT_COLUMNS_MAX: usize = 100;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn dependencies(folder: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
    let manifest: toml::Table = text.parse().unwrap();
    manifest["dependencies"].as_table().unwrap().keys().cloned().collect()
}

#[test]
fn crates_use_only_what_the_architecture_allows() {
    let ours: BTreeSet<&str> = EDGES.iter().flat_map(|(_, uses)| *uses).copied().collect();
    for (folder, allowed) in EDGES {
        let used = dependencies(folder);
        let own: BTreeSet<&str> =
            used.iter().map(String::as_str).filter(|name| ours.contains(name)).collect();
        assert_eq!(own, allowed.iter().copied().collect(), "{folder}");
    }
}

#[test]
fn only_the_simulator_knows_the_simulator() {
    for (folder, _) in EDGES.iter().filter(|(folder, _)| *folder != "sim") {
        let used = dependencies(folder);
        let foreign: Vec<&&str> = SIM_ONLY.iter().filter(|name| used.contains(**name)).collect();
        assert!(foreign.is_empty(), "{folder} uses {foreign:?}");
    }
    for folder in ["faults", "reports"] {
        assert!(!dependencies(folder).contains("tokio"), "{folder} is no async crate");
    }
}

fn sources() -> Vec<PathBuf> {
    let files = files(EDGES.iter().map(|(folder, _)| root().join(folder).join("src")).collect());
    assert!(files.len() > 50, "the sources were found");
    files
}

fn all_files_of(folder: &str) -> Vec<PathBuf> {
    let places = ["src", "tests", "benches", "examples"];
    let places = places.iter().map(|place| root().join(folder).join(place));
    files(places.filter(|place| place.is_dir()).collect())
}

fn files(mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn asked_for(manifest: &toml::Table) -> BTreeSet<String> {
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let tables = targets.into_iter().flat_map(|targets| targets.values());
    let tables = tables.filter_map(toml::Value::as_table).chain([manifest]);
    tables
        .flat_map(|table| {
            sections.iter().filter_map(move |section| table.get(*section)?.as_table())
        })
        .flat_map(|section| section.keys().cloned())
        .collect()
}

fn names(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c: char| !is_word(c)).any(|word| word == name)
}

#[test]
fn every_dependency_is_named_by_a_source_file() {
    for (folder, _) in EDGES {
        let text = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let sources = all_files_of(folder);
        let sources: Vec<String> =
            sources.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        for dependency in asked_for(&text.parse().unwrap()) {
            let name = dependency.replace('-', "_");
            let is_named = sources.iter().any(|source| names(source, &name));
            assert!(is_named, "{folder}/Cargo.toml asks for {dependency}, which no file names");
        }
    }
}

#[test]
fn a_name_within_another_is_not_named() {
    assert!(names("use serde::Serialize;", "serde"));
    assert!(!names("use serde_json::Value; // deserde", "serde"));
}

#[test]
fn every_module_with_a_folder_says_what_it_owns() {
    let is_test = |path: &Path| {
        let mut folders = path.components().map(|part| part.as_os_str().to_string_lossy());
        folders.any(|name| matches!(&*name, "tests" | "tests.rs") || name.ends_with("_tests.rs"))
    };
    let is_root = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name == "lib.rs" || name == "main.rs" || path.with_extension("").is_dir()
    };
    for path in sources().into_iter().filter(|path| !is_test(path) && is_root(path)) {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//!"), "{} opens with a //! header", path.display());
    }
}

#[test]
fn modules_have_one_layout() {
    let odd: Vec<PathBuf> = sources().into_iter().filter(|path| path.ends_with("mod.rs")).collect();
    assert!(odd.is_empty(), "name.rs beside name/, not name/mod.rs: {odd:?}");
}

/// Files and folders (with a trailing slash) that may name members of a closed set.
const PLACES: &[(&str, &[&str])] = &[
    (
        "Workload",
        &[
            "reports/src/record/history/workload.rs",
            "reports/src/judge/checker/",
            "reports/src/record/history/header.rs",
            "sim/src/setup/scenario/keys.rs",
        ],
    ),
    ("Cause", &["reports/src/explain/cause/classify.rs", "reports/src/explain/cause/decision.rs"]),
    (
        "Kind",
        &[
            "reports/src/judge/",
            "reports/src/explain/",
            "reports/src/summary/facts.rs",
            "reports/src/show/format/text/amount.rs",
            "reports/src/show/format/text/brief.rs",
            "reports/src/show/format/text/story/",
            "reports/src/show/format/text/remedies.rs",
            "reports/src/show/format/text/rerun.rs",
            "reports/src/show/format/text.rs",
            "sim/src/diagnosis/remedy.rs",
            "sim/src/engine/turmoil.rs",
            "sim/src/world/",
        ],
    ),
];

fn without_tests(text: &str) -> &str {
    let tests = ["mod tests {", "pub(crate) mod tests {"];
    let begins = tests.iter().find_map(|tests| text.find(&format!("#[cfg(test)]\n{tests}")));
    begins.map_or(text, |begins| &text[..begins])
}

#[test]
fn members_of_closed_sets_are_named_only_where_a_new_one_belongs() {
    let exempt = ["/tests/", "tests.rs", "/gallery/", "/samples.rs", "/story", "/second_opinion"];
    let mut strays = Vec::new();
    for path in sources() {
        let place = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let is_told = ["reports/", "sim/"].iter().any(|told| place.starts_with(told));
        if !is_told || exempt.iter().any(|part| place.contains(part)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (set, places) in PLACES {
            let allowed = places.iter().any(|known| match known.ends_with('/') {
                true => place.starts_with(known),
                false => place == *known,
            });
            if !allowed && members_of(set, without_tests(&text)) {
                strays.push(format!("{place} names a {set}"));
            }
        }
    }
    assert!(strays.is_empty(), "{strays:#?}");
}

#[test]
fn a_cause_is_one_file_and_one_line() {
    let folder = root().join("reports/src/explain/cause");
    let list = std::fs::read_to_string(folder.with_extension("rs")).unwrap();
    let line = |line: &str| {
        let (member, file) = line.strip_prefix("    ")?.strip_suffix(',')?.split_once(" = ")?;
        Some((member.to_owned(), folder.join(file).with_extension("rs")))
    };
    let causes: Vec<(String, PathBuf)> = list.lines().filter_map(line).collect();
    assert!(causes.len() >= 40, "the causes were found");
    for (member, file) in &causes {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("static ENTRY: Entry"), "{} says all of {member}", file.display());
        assert!(!text.contains("Cause::"), "{} names another cause", file.display());
    }
    let files = files(vec![folder.clone()]);
    let own = files.iter().filter(|file| causes.iter().any(|(_, of)| of == *file));
    assert_eq!(own.count(), causes.len(), "no two causes share a file");
}

fn members_of(set: &str, text: &str) -> bool {
    let path = format!("{set}::");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| {
        line.match_indices(&path).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let mut after = line[at + path.len()..].chars();
            let is_member = after.next().is_some_and(char::is_uppercase)
                && after.next().is_some_and(char::is_lowercase);
            is_member && before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        })
    })
}

#[test]
fn a_member_is_told_from_a_constant_and_from_another_set() {
    assert!(members_of("Kind", "    (Kind::Stuck, _) => 1,"));
    assert!(!members_of("Kind", "    Kind::ALL.iter()"));
    assert!(!members_of("Kind", "    FaultKind::Crash => 1,"));
    assert!(!members_of("Kind", "    // Kind::Stuck"));
}

#[test]
fn no_function_is_longer_than_seventy_lines() {
    for path in sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        for (line, length) in functions(&text) {
            assert!(
                length <= FUNCTION_LINES_MAX,
                "{}:{line}: a function of {length} lines",
                path.display()
            );
        }
    }
}

/// Assumes rustfmt's layout, in which the closing line has the indentation of the first line.
fn functions(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indentation = line.len() - code.len();
        let is_function = code.split_whitespace().any(|word| word == "fn");
        if !is_function || code.starts_with("//") || code.ends_with(';') {
            continue;
        }
        let end = lines[index..].iter().position(|line| {
            line.starts_with('}') && indentation == 0
                || line.len() == indentation + 1
                    && line.trim() == "}"
                    && line.starts_with(&" ".repeat(indentation))
        });
        found.extend(end.map(|length| (index + 1, length + 1)));
    }
    found
}

#[test]
fn the_length_of_a_function_is_measured_right() {
    let text = "fn a() {\n    1\n}\n\nimpl B {\n    pub(crate) fn c(\n        x: u8,\n    ) \
     {\n        x\n    }\n}\n";
    assert_eq!(functions(text), vec![(1, 3), (6, 5)]);
}

#[test]
fn no_comment_is_wider_than_a_hundred_columns() {
    let folders = EDGES.iter().map(|(folder, _)| *folder).chain(["fuzz"]);
    for path in folders.flat_map(all_files_of) {
        let text = std::fs::read_to_string(&path).unwrap();
        let wide = wide_comments(&text);
        assert!(wide.is_empty(), "{}: comments too wide in lines {wide:?}", path.display());
    }
}

/// Returns the line numbers of comments that are too wide. Rows of tables may be wider.
fn wide_comments(text: &str) -> Vec<usize> {
    let is_row = |comment: &str| comment.trim_start_matches(['/', '!', ' ']).starts_with('|');
    let lines = text.lines().enumerate().filter(|(_, line)| {
        let code = line.trim_start();
        let is_wide = line.chars().count() > COMMENT_COLUMNS_MAX;
        is_wide && code.starts_with("//") && !is_row(code)
    });
    lines.map(|(index, _)| index + 1).collect()
}

#[test]
fn a_wide_comment_is_told_from_a_table_and_from_code() {
    let wide = "x".repeat(COMMENT_COLUMNS_MAX - 2);
    assert_eq!(wide_comments(&format!("    //{wide}\n//{wide}\n")), [1]);
    assert!(wide_comments(&format!("//! | {wide} |\n    let a = \"{wide}\";\n")).is_empty());
    assert!(wide_comments(&format!("//{}\n", wide.replace('x', "é"))).is_empty());
}
