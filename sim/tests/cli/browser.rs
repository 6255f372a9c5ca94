use std::path::Path;
use std::process::Command;

#[test]
fn pages_work_in_a_real_browser() {
    if std::env::var("FENCEPOST_BROWSER").as_deref() != Ok("1") {
        eprintln!("skipped: browser tests run only with FENCEPOST_BROWSER=1");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/run.sh");
    let status = Command::new(script)
        .env("FENCEPOST", env!("CARGO_BIN_EXE_fencepost"))
        .status()
        .expect("the script starts");
    assert!(status.success(), "the browser tests end with {status}");
}
