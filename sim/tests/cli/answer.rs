use std::path::Path;
use std::process::{Command, Output};

pub(crate) struct Answer {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn fencepost_in(folder: &Path, arguments: &[&str]) -> Answer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    for name in ["JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID", "CI_NODE_INDEX", "COLUMNS"] {
        command.env_remove(name);
    }
    let Output { status, stdout, stderr } =
        command.args(arguments).current_dir(folder).output().expect("the binary runs");
    Answer {
        status: status.code().expect("the binary ends by itself"),
        stdout: String::from_utf8(stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(stderr).expect("stderr is UTF-8"),
    }
}

pub(crate) fn fencepost(arguments: &[&str]) -> Answer {
    fencepost_in(Path::new("."), arguments)
}
