//! Runs the cases of `kernel.c`, natively and traced.

use crate::alone::{launch, run_alone, server};
use fencepost_programs::Ending;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn compiled(folder: &Path) -> Option<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/kernel.c");
    let program = folder.join("kernel");
    let compiler = ["cc", "gcc", "clang"].into_iter().find(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    })?;
    let output = Command::new(compiler)
        .args(["-O1", "-pthread", "-o"])
        .arg(&program)
        .arg(source)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program.display().to_string())
}

fn cases(program: &str) -> Vec<String> {
    let output = Command::new(program).arg("list").output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn real_server() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || drop(serve(stream)));
        }
    });
    port
}

#[expect(clippy::disallowed_methods, reason = "the real server stays in real time")]
fn serve(stream: TcpStream) -> std::io::Result<()> {
    let (mut lines, mut out) = (BufReader::new(stream.try_clone()?), stream);
    let (mut line, mut stays) = (String::new(), false);
    while lines.read_line(&mut line)? > 0 {
        let Some(text) = server::answer(&line, &mut stays) else { return Ok(()) };
        out.write_all(text.as_bytes())?;
        line.clear();
    }
    std::thread::sleep(if stays { server::STAY } else { Duration::ZERO });
    out.write_all(b"end\n")
}

#[test]
fn programs_print_the_same_natively_and_traced() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path()) else {
        eprintln!("skipped: no C compiler");
        return;
    };
    let cases = cases(&program);
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let mut differing = Vec::new();
    let port = real_server().to_string();
    for case in &cases {
        let mut native = Command::new(&program);
        let place = [("SERVER_IP", "127.0.0.1"), ("SERVER_PORT", &port)];
        let native = native.arg(case).envs(place).output().unwrap();
        let native_text = String::from_utf8_lossy(&native.stdout).into_owned();
        let status = native.status.code().map_or(Ending::Killed(0), Ending::Exited);
        let traced = run_alone(&launch(&[&program, case]));
        let ending = match traced.ending.clone() {
            Ending::Killed(_) => Ending::Killed(0),
            other => other,
        };
        if traced.stdout != native_text || ending != status {
            differing.push(format!(
                "{case}:\n natively {status:?}\n{native_text}\n traced {:?}\n{}{}",
                traced.ending, traced.stdout, traced.stderr
            ));
        }
    }
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

#[test]
fn two_runs_make_the_same_calls() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path()) else {
        eprintln!("skipped: no C compiler");
        return;
    };
    for case in cases(&program) {
        let (one, other) =
            (run_alone(&launch(&[&program, &case])), run_alone(&launch(&[&program, &case])));
        assert_eq!(one.calls, other.calls, "{case}");
        assert_eq!(one.elapsed_us, other.elapsed_us, "{case}");
    }
}
