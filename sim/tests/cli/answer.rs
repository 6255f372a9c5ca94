use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

pub(crate) struct Answer {
    pub(crate) asked: String,
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        let Answer { asked, stdout, stderr, .. } = self;
        serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{asked}: {error}: {stderr}"))
    }
}

pub(crate) fn fencepost_in(folder: &Path, arguments: &[&str]) -> Answer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    for name in ["JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID", "CI_NODE_INDEX", "COLUMNS"] {
        command.env_remove(name);
    }
    let Output { status, stdout, stderr } =
        command.args(arguments).current_dir(folder).output().expect("the binary runs");
    Answer {
        asked: arguments.join(" "),
        status: status.code().expect("the binary ends by itself"),
        stdout: String::from_utf8(stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(stderr).expect("stderr is UTF-8"),
    }
}

pub(crate) fn fencepost(arguments: &[&str]) -> Answer {
    fencepost_in(Path::new("."), arguments)
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn without_measured(text: &str) -> Value {
    fn strip(value: &mut Value) {
        if let Some(map) = value.as_object_mut() {
            map.remove("measured");
            map.values_mut().for_each(strip);
        } else if let Some(list) = value.as_array_mut() {
            list.iter_mut().for_each(strip);
        }
    }
    let mut value = json(text);
    strip(&mut value);
    value
}
