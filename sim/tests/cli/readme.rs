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
    let rows: Vec<String> = answer.stdout.lines().skip(3).map(folded).collect();
    assert!(!rows.is_empty(), "{}", answer.stdout);
    rows
}

fn folded(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_tables_of_the_load_page_are_real() {
    let text = page("docs/load.md");
    let rows: Vec<String> =
        text.lines().filter(|line| line.starts_with("    ")).map(folded).collect();
    let expect = |row: String| {
        assert!(rows.contains(&row), "put it into docs/load.md: {row}");
    };
    load(&[]).into_iter().for_each(expect);
    let herd = ["--processes", "40", "--requests", "400"];
    for (clients, options) in [
        (&["redisson", "redisson-fair", "single-node"][..], &[][..]),
        (&["zookeeper-herd", "zookeeper-naive", "curator-mutex", "kazoo-lock"], &herd),
    ] {
        for client in clients {
            let arguments = [&["--waiting", "own", "--client", client], options].concat();
            let own = load(&arguments).pop().unwrap_or_default();
            expect(own.replacen("own", client, 1));
        }
    }
}
