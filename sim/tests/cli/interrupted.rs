use crate::answer::json;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Sends the signal after the program has written so many lines to stderr. Returns the status and
/// the document on stdout.
pub(crate) fn interrupted(
    arguments: &[&str],
    folder: &Path,
    lines: usize,
    signal: &str,
) -> (Option<i32>, Value) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    for _ in 0..lines {
        stderr.read_line(&mut String::new()).expect("it says what it does");
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
    let output = child.wait_with_output().expect("it ends");
    (output.status.code(), json(&String::from_utf8(output.stdout).expect("stdout is UTF-8")))
}
