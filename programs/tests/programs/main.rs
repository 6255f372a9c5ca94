#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod alone;
mod machines;

mod clocks;
mod kernel;
mod leaks;
mod network;
mod processes;
mod refused;
mod servers;

use alone::{Alone, launch, run_alone};
use fencepost_programs::Ending;
use std::process::Command;

fn shell(script: &str) -> Alone {
    run_alone(&launch(&["/bin/sh", "-c", script]))
}

fn compiled(folder: &tempfile::TempDir, source: &str) -> Option<String> {
    let (text, program) = (folder.path().join("a.c"), folder.path().join("a"));
    std::fs::write(&text, source).unwrap();
    let output =
        Command::new("cc").args(["-O1", "-pthread", "-o"]).arg(&program).arg(&text).output();
    let Ok(output) = output else {
        eprintln!("skipped: no C compiler");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program.display().to_string())
}

fn run_c(source: &str) -> Option<Alone> {
    let folder = tempfile::tempdir().unwrap();
    compiled(&folder, source).map(|program| run_alone(&launch(&[&program])))
}

/// Runs a Python script, which can call `code` to turn machine code into a Python function.
fn python(name: &str, script: &str) -> Option<Alone> {
    let prelude = format!(
        "import ctypes, mmap, os, signal, sys, time\n\
         libc = ctypes.CDLL(None)\n\
         libc.prctl(15, b'{name}')\n\
         pages = []\n\
         def code(text):\n\
         \x20   page = mmap.mmap(-1, 4096, prot=7)\n\
         \x20   page.write(bytes.fromhex(text))\n\
         \x20   pages.append(page)\n\
         \x20   at = ctypes.addressof(ctypes.c_char.from_buffer(page))\n\
         \x20   return ctypes.CFUNCTYPE(ctypes.c_uint64)(at)\n"
    );
    let question = ["-c", "import sys; print(sys.executable)"];
    let Ok(output) = Command::new("python3").args(question).output() else {
        eprintln!("skipped: no python3");
        return None;
    };
    let program = String::from_utf8(output.stdout).unwrap();
    Some(run_alone(&launch(&[program.trim(), "-c", &format!("{prelude}{script}")])))
}

fn not_emulated(run: &Alone) -> &str {
    let Ending::NotEmulated(text) = &run.ending else { panic!("{:?} {}", run.ending, run.stderr) };
    text
}

fn stuck(run: &Alone) -> &str {
    let Ending::Stuck(text) = &run.ending else { panic!("{:?} {}", run.ending, run.stderr) };
    text
}
