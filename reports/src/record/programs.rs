use fencepost_faults::{Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One execution of a program, from the start of its host until the program ends, the host crashes,
/// or the run ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProgramReport {
    /// Simulated host that executes the program.
    pub process: Node,
    /// Virtual time in microseconds at which the program started.
    pub started_us: SimTime,
    /// Virtual time in microseconds at which the program ended, lost a thread to an error, or
    /// crashed with its host; absent if the program ran until the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_us: Option<SimTime>,
    /// Description of the program's end; absent if the program ran until the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// `true` if the program did not complete its work, for example because it exited with an
    /// error.
    pub failed: bool,
    /// Line on standard error that names the error; absent if the program did not fail or wrote no
    /// such line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Lines that the program printed, in the order in which the lines began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<Printed>,
    /// Number of printed bytes that `output` does not contain, because they exceed the limit.
    #[serde(default)]
    pub output_dropped: u64,
    /// Number of system calls at which fencepost stopped the program's threads.
    #[serde(default)]
    pub calls: u64,
    /// Number of times that fencepost interrupted a thread in a busy loop.
    #[serde(default)]
    pub preempted: u32,
}

/// Hashes and versions of the code that a run's programs executed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Ran {
    /// SHA-256 in hex of each executed file, and of each file that was read as code outside the
    /// system folders; the key is the path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Versions of the interpreters and packages that report one, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
}

impl Ran {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.versions.is_empty()
    }
}

/// A line that a program printed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Printed {
    /// Virtual time in microseconds at which the program began the line.
    pub time_us: SimTime,
    /// `true` for standard error, `false` for standard output.
    pub is_error: bool,
    /// Line without its line break. Invalid UTF-8 is replaced.
    pub text: String,
}

pub fn lock_flags(script: &serde_json::Value) -> Option<String> {
    let text = |key: &str| script.get(key).and_then(serde_json::Value::as_str);
    let (name, file) = (text("name")?, text("file")?);
    let is_its_name = file.rsplit('/').next() == Some(name);
    let asked = if is_its_name { file.to_owned() } else { format!("{name}={file}") };
    Some(format!("--lock {}", shell_word(&asked)))
}

pub fn flags(program: &serde_json::Value) -> Option<String> {
    let text = |key: &str| program.get(key).and_then(serde_json::Value::as_str);
    let words = program.get("command")?.as_array()?.iter().filter_map(serde_json::Value::as_str);
    let words: Vec<String> = words.map(word_of_command).collect();
    let command = format!("{}={}", text("name")?, words.join(" "));
    let mut flags = format!("--program {}", shell_word(&command));
    let stated = [
        ("coordinator", "coordinator"),
        ("deployment", "deployment"),
        ("lock-key", "lock-key"),
        ("cwd", "folder"),
    ];
    let servers: Vec<String> = program
        .get("servers")
        .and_then(serde_json::Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(server_flag)
        .collect();
    let is_own = |flag: &str| !servers.is_empty() && ["coordinator", "deployment"].contains(&flag);
    for (flag, key) in stated {
        if let Some(value) = text(key).filter(|_| !is_own(flag)) {
            flags.push_str(&format!(" --{flag} {}", shell_word(value)));
        }
    }
    let variables = program.get("environment").and_then(serde_json::Value::as_object);
    for (name, value) in variables.into_iter().flatten() {
        let variable = format!("{name}={}", value.as_str().unwrap_or_default());
        flags.push_str(&format!(" --env {}", shell_word(&variable)));
    }
    flags.extend(servers);
    Some(flags)
}

fn server_flag(server: &serde_json::Value) -> Option<String> {
    let words = server.get("command")?.as_array()?.iter().filter_map(serde_json::Value::as_str);
    let words: Vec<String> = words.map(word_of_command).collect();
    let (name, port) = (server.get("name")?.as_str()?, server.get("port")?.as_u64()?);
    Some(format!(" --server {}", shell_word(&format!("{name}:{port}={}", words.join(" ")))))
}

fn word_of_command(word: &str) -> String {
    let is_plain = |letter: char| !letter.is_whitespace() && letter != '\'' && letter != '"';
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let pieces: Vec<String> = word.split('"').map(|piece| format!("\"{piece}\"")).collect();
    pieces.join("'\"'")
}

/// Quotes the text for a shell, unless it clearly needs no quotes.
pub fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.,+=:/%".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_of_a_program_replace_its_coordinator() {
        let program = serde_json::json!({
            "name": "x", "command": ["worker"], "coordinator": "own", "deployment": "single",
            "servers": [{ "name": "queue", "port": 11_300, "command": ["/bin/queue", "-b", "."] }]
        });
        assert_eq!(
            flags(&program).as_deref(),
            Some("--program x=worker --server 'queue:11300=/bin/queue -b .'")
        );
    }

    #[test]
    fn a_command_cannot_become_another_of_the_shell() {
        let program = serde_json::json!({
            "name": "x", "command": ["sh", "-c", "echo 'a'; b \"c\""], "folder": "/tmp"
        });
        assert_eq!(
            flags(&program).as_deref(),
            Some(r#"--program 'x=sh -c "echo '\''a'\''; b "'\''"'\''"c"'\''"'\''""' --cwd /tmp"#)
        );
    }
}
