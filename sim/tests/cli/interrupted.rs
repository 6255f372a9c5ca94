use crate::answer::json;
use fencepost_testing::Process;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// Sends the signal after `lines` lines on stderr. Returns the status and the document on stdout.
pub(crate) fn interrupted(
    arguments: &[&str],
    folder: &Path,
    lines: usize,
    signal: &str,
) -> (Option<i32>, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.args(arguments).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = Process(command.spawn().expect("the binary runs"));
    let mut stderr = BufReader::new(process.stderr.take().expect("it is piped"));
    for _ in 0..lines {
        stderr.read_line(&mut String::new()).expect("it says what it does");
    }
    fencepost_testing::signal(process.id(), signal);
    let (mut stdout, mut written) = (process.stdout.take().expect("it is piped"), String::new());
    stdout.read_to_string(&mut written).expect("stdout is UTF-8");
    (process.wait().expect("it ends").code(), json(&written))
}
