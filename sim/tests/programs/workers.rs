use fencepost::hosts::programs::{Program, ProgramDeployment};
use std::path::Path;
use std::process::Command;

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples/programs");
    folder.join(name).display().to_string()
}

fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

pub(crate) fn program(text: &str) -> Program {
    Program::parse(text).unwrap()
}

pub(crate) fn plain_c(folder: &Path) -> Option<Program> {
    let binary = folder.join("plain-c");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-w", "-static", "-o"]).arg(&binary).arg(example("plain.c"));
    works(&mut compiler).then(|| program(&format!("plain-c={}", binary.display())))
}

pub(crate) fn plain_rust(folder: &Path) -> Option<Program> {
    let binary = folder.join("plain-rust");
    let mut compiler = Command::new("rustc");
    compiler.args(["--edition", "2021", "-O", "-o"]).arg(&binary).arg(example("plain.rs"));
    works(&mut compiler).then(|| program(&format!("plain-rust={}", binary.display())))
}

pub(crate) fn redigo(folder: &Path) -> Option<Program> {
    let binary = folder.join("redigo");
    let mut compiler = Command::new("go");
    compiler.env("GO111MODULE", "off").env("GOPATH", "/usr/share/gocode").env("CGO_ENABLED", "0");
    compiler.env("GOCACHE", folder.join("cache"));
    compiler.args(["build", "-o"]).arg(&binary).arg(example("redigo.go"));
    works(&mut compiler).then(|| program(&format!("redigo={}", binary.display())))
}

pub(crate) fn plain_java(folder: &Path) -> Option<Program> {
    let mut compiler = Command::new("javac");
    compiler.arg("-d").arg(folder).arg(example("Plain.java"));
    let command = format!("plain-java=java -cp {} Plain", folder.display());
    works(&mut compiler).then(|| program(&command))
}

fn python((name, file): (&str, &str), modules: &str) -> Option<Program> {
    works(Command::new("python3").args(["-c", &format!("import {modules}")]))
        .then(|| program(&format!("{name}=python3 {}", example(file))))
}

fn over_masters(mut program: Program) -> Program {
    program.deployment = ProgramDeployment::Independent;
    program
}

pub(crate) fn redis_py(_: &Path) -> Option<Program> {
    python(("redis-py", "redis_py.py"), "redis")
}

pub(crate) fn asyncio(_: &Path) -> Option<Program> {
    python(("asyncio", "redis_py_asyncio.py"), "redis.asyncio")
}

pub(crate) fn python_redis_lock(_: &Path) -> Option<Program> {
    python(("renewing", "python_redis_lock.py"), "redis_lock")
}

pub(crate) fn redlock_py(_: &Path) -> Option<Program> {
    python(("of-masters", "redlock_py.py"), "redis, redlock").map(over_masters)
}

pub(crate) fn dramatiq(_: &Path) -> Option<Program> {
    python(("dramatiq", "dramatiq_mutex.py"), "redis, dramatiq")
}

pub(crate) fn redis_rb(_: &Path) -> Option<Program> {
    works(Command::new("ruby").args(["-e", "require 'redis'"]))
        .then(|| program(&format!("redis-rb=ruby {}", example("redis_rb.rb"))))
}

pub(crate) fn pottery(_: &Path) -> Option<Program> {
    let mut program = python(("pottery", "pottery_redlock.py"), "pottery").map(over_masters)?;
    program.lock_key = "redlock:orders".to_owned();
    Some(program)
}

fn node((name, file): (&str, &str), package: &str) -> Option<Program> {
    let mut found = program(&format!("{name}=node {}", example(file)));
    if let Ok(path) = std::env::var("NODE_PATH") {
        found.environment.insert("NODE_PATH".to_owned(), path);
    }
    let script = format!("require('ioredis'); require('{package}')");
    works(Command::new("node").args(["-e", &script])).then_some(found)
}

pub(crate) fn ioredis(_: &Path) -> Option<Program> {
    node(("ioredis", "ioredis.js"), "ioredis")
}

pub(crate) fn redlock_4(_: &Path) -> Option<Program> {
    node(("redlock-4", "redlock4.js"), "redlock4").map(over_masters)
}

pub(crate) fn redlock_5(_: &Path) -> Option<Program> {
    node(("redlock-5", "redlock5.js"), "redlock5").map(over_masters)
}

pub(crate) fn redis_semaphore(_: &Path) -> Option<Program> {
    let mut program = node(("semaphore", "redis_semaphore.js"), "redis-semaphore")?;
    program.lock_key = "mutex:orders".to_owned();
    Some(program)
}

pub(crate) fn redis_cli(_: &Path) -> Option<Program> {
    works(Command::new("redis-cli").arg("--version"))
        .then(|| program(&format!("redis-cli={}", example("redis_cli.sh"))))
}
