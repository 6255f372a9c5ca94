//! Banned words in users' texts: help texts, reports, lists, README and docs.

use crate::answer::fencepost;
use std::path::{Path, PathBuf};

/// Coined or archaic words, with a replacement.
const WORDS: &[(&str, &str)] = &[
    ("convict", "evidence"),
    ("who was hurt", "damage"),
    ("hurt:", "damage:"),
    ("see it again", "replay"),
    ("enough for it", "smallest reproduction"),
    ("mended", "fixed"),
    ("lets the lock of", "expires the lock of"),
    ("held it to be", "considered it"),
    ("must never know", "does not depend on"),
    ("whose clocks", "which hosts' clocks"),
    ("who stands still", "which hosts are paused"),
    ("no verdict is expected of it", "the expectations file has no entry for it"),
    ("prevents it.", "counts with and without it"),
    ("does not prevent it", "still there"),
];

fn found(source: &str, text: &str) -> Vec<String> {
    let text = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    WORDS
        .iter()
        .filter(|(word, _)| text.contains(word))
        .map(|(word, instead)| format!("{source}: '{word}', better '{instead}'"))
        .collect()
}

fn check(texts: impl IntoIterator<Item = (String, String)>) {
    let said: Vec<String> =
        texts.into_iter().flat_map(|(source, text)| found(&source, &text)).collect();
    assert!(said.is_empty(), "{said:#?}");
}

/// Every file in a folder, recursively, whose name ends in `extension`.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut files: Vec<PathBuf> = paths
        .flat_map(|path| if path.is_dir() { files(&path, extension) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|end| end == extension))
        .collect();
    files.sort();
    files
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("it is text")
}

#[test]
fn pages_use_plain_words() {
    let all = files(&workspace().join("docs"), "md").into_iter();
    let all = all.chain([workspace().join("README.md")]);
    check(all.map(|path| (path.display().to_string(), read(&path))));
}

#[test]
fn front_pages_of_modules_use_plain_words() {
    let crates = ["machine", "fake-redis", "clients", "faults", "reports", "sim", "programs"];
    let sources = crates.iter().flat_map(|name| files(&workspace().join(name).join("src"), "rs"));
    check(sources.map(|path| {
        let source = read(&path);
        let header: String = source.lines().map_while(|line| line.strip_prefix("//!")).collect();
        (path.display().to_string(), header)
    }));
}

#[test]
fn help_texts_and_lists_use_plain_words() {
    let help = fencepost(&["--help"]).stdout;
    let names = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let commands: Vec<&str> = names
        .take_while(|line| !line.trim().is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.contains(&"sweep") && commands.len() > 8, "{commands:?}");
    let of = |arguments: &[&str]| {
        let answer = fencepost(arguments);
        assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{arguments:?}");
        (arguments.join(" "), answer.stdout)
    };
    check(commands.iter().map(|command| of(&[command, "--help"])));
    check(["clients", "faults", "formats"].map(|what| of(&["list", what])));
}

#[test]
fn reports_use_plain_words() {
    let run = ["--seed", "1", "--client", "single-node", "--fault", "pause"];
    let shapes =
        [vec![], vec!["--verbose"], vec!["--format", "html"], vec!["--format", "markdown"]];
    check(shapes.map(|shape| {
        let arguments = [&run[..], &shape].concat();
        (arguments.join(" "), fencepost(&arguments).stdout)
    }));
}

#[test]
fn a_planted_word_is_found() {
    assert_eq!(found("here", "the events that\nConvict").len(), 1);
    assert_eq!(found("here", "a conviction is no vice: Hurt:  nobody").len(), 2);
    assert!(found("here", "the evidence").is_empty());
}
