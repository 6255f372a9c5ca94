//! Output of the program in README.md and docs/load.md.

use crate::answer::fencepost;
use std::fs;
use std::path::Path;

fn page(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join(name)).unwrap()
}

#[test]
fn the_first_screen_of_the_readme_is_real() {
    let readme = page("README.md");
    let (_, after) = readme.split_once("\n    $ fencepost ").expect("README.md shows a command");
    let (command, screen) = after.split_once('\n').unwrap();
    let shown = screen.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    let shown: Vec<&str> = shown.map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    let answer = fencepost(&command.split_whitespace().collect::<Vec<_>>());
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    assert_eq!(answer.stdout.trim_end(), shown.join("\n").trim_end(), "put it into README.md");
}

/// Returns the rows that `fencepost load` prints below the header.
fn load(arguments: &[&str]) -> Vec<String> {
    let answer = fencepost(&[&["load"], arguments].concat());
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    answer.stdout.lines().skip(3).map(folded).collect()
}

fn folded(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_tables_of_the_load_page_are_real() {
    let text = page("docs/load.md");
    let rows = text.lines().filter(|line| line.starts_with("    ") && line.ends_with(" x"));
    let rows: Vec<String> = rows.map(folded).collect();
    let own = |client: &str, options: &[&str]| {
        let rows = load(&[&["--waiting", "own", "--client", client], options].concat());
        let row = rows.last().expect("a row for the lock's own delay");
        row.replacen("own", client, 1)
    };
    let mut printed = load(&[]);
    printed.extend(load(&["--work", "20ms", "--waiting", "none,fixed:20ms,fixed:100ms"]));
    printed.extend(["redisson", "redisson-fair", "single-node"].map(|client| own(client, &[])));
    let herd = ["--processes", "40", "--requests", "400"];
    printed.extend(
        ["zookeeper-herd", "zookeeper-naive", "curator-mutex", "kazoo-lock"]
            .map(|client| own(client, &herd)),
    );
    assert_eq!(rows, printed, "put the rows on the right into docs/load.md");
}
