use std::path::Path;
use std::process::{Command, Output};

fn shell(folder: &Path, script: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_fencepost");
    let mut shell = Command::new("sh");
    shell.args(["-c", script, program]).current_dir(folder).env("RUST_BACKTRACE", "1");
    shell.output().unwrap()
}

fn error(folder: &Path, script: &str) -> String {
    let output = shell(folder, script);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{script}: {stderr}");
    assert!(stderr.starts_with("error: "), "{script}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{script}: {stderr}");
    stderr
}

#[test]
fn a_closed_standard_output_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for words in ["list clients", "--help", "serve --port 0"] {
        let said = error(folder.path(), &format!("exec \"$0\" {words} >&-"));
        assert!(said.contains("standard output is closed"), "{said}");
    }
    let output = shell(folder.path(), "exec \"$0\" list clients >/dev/null <&-");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = "--seed 1 --fault pause --client single-node";
    let reports = shell(folder.path(), &format!("exec \"$0\" {run} --no-shrink --out reports"));
    assert_eq!(reports.status.code(), Some(1), "it finds something to write");
    let limited = format!("ulimit -f 1; exec \"$0\" {run} --no-shrink --out limited");
    let output = shell(folder.path(), &limited);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_dir(folder.path().join("limited")).unwrap().count(), 0);
    let said = error(
        folder.path(),
        "ulimit -f 0; exec \"$0\" serve --port 0 --persistence aof-always --dir served",
    );
    assert!(said.contains("served/master-1/lock: File too large"), "{said}");
}

#[test]
fn too_few_descriptors_are_one_line() {
    let folder = tempfile::tempdir().unwrap();
    // A caller such as `make -j` or `perf` leaves descriptors open.
    let closed = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-";
    for count in 5..12 {
        let script = format!("{closed}; ulimit -n {count}; exec \"$0\" serve --port 0");
        let said = error(folder.path(), &script);
        assert!(said.contains("Too many open files"), "{count}: {said}");
    }
}

#[test]
fn a_device_that_never_ends_is_read_up_to_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    for script in ["exec \"$0\" check /dev/zero", "exec \"$0\" replay - </dev/zero"] {
        let said = error(folder.path(), script);
        assert!(said.contains("longer than 268435456 bytes"), "{said}");
    }
}
