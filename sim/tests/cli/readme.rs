use crate::answer::fencepost;
use std::fs;
use std::path::Path;

#[test]
fn the_first_screen_of_the_readme_is_real() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let (_, after) = readme.split_once("\n    $ fencepost ").expect("README.md shows a command");
    let (command, screen) = after.split_once('\n').unwrap();
    let shown = screen.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    let shown: Vec<&str> = shown.map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    let answer = fencepost(&command.split_whitespace().collect::<Vec<_>>());
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    assert_eq!(answer.stdout.trim_end(), shown.join("\n").trim_end(), "put it into README.md");
}
