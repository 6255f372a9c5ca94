//! The list of fuzz [`TARGETS`], each with its own file.

mod aof;
mod chubby;
mod commands;
mod etcd;
mod gemfire;
mod hello;
mod history;
mod memcached;
mod mysql;
mod plan;
mod postgresql;
mod protocol;
mod psync;
mod rdb;
mod report;
mod scenario;
mod scripts;
mod zookeeper;

use arbitrary::{Arbitrary, Unstructured};

/// Code under test with a check, which panics if an input reveals a bug.
pub struct Target {
    pub name: &'static str,
    check: Check,
}

enum Check {
    Any(fn(&[u8])),
    Some(fn(&[u8]) -> Corpus),
}

impl Target {
    pub fn run(&self, input: &[u8]) -> Corpus {
        match self.check {
            Check::Any(run) => {
                run(input);
                Corpus::Keep
            }
            Check::Some(run) => run(input),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Corpus {
    Keep,
    Reject,
}

pub const TARGETS: &[Target] = &[
    Target { name: "protocol", check: Check::Any(protocol::run) },
    Target { name: "commands", check: Check::Any(commands::run) },
    Target { name: "scripts", check: Check::Some(scripts::run) },
    Target { name: "rdb", check: Check::Any(rdb::run) },
    Target { name: "aof", check: Check::Any(aof::run) },
    Target { name: "psync", check: Check::Any(psync::run) },
    Target { name: "hello", check: Check::Any(hello::run) },
    Target { name: "memcached", check: Check::Any(memcached::run) },
    Target { name: "zookeeper", check: Check::Any(zookeeper::run) },
    Target { name: "mysql", check: Check::Any(mysql::run) },
    Target { name: "postgresql", check: Check::Any(postgresql::run) },
    Target { name: "etcd", check: Check::Any(etcd::run) },
    Target { name: "chubby", check: Check::Any(chubby::run) },
    Target { name: "gemfire", check: Check::Any(gemfire::run) },
    Target { name: "scenario", check: Check::Any(scenario::run) },
    Target { name: "plan", check: Check::Any(plan::run) },
    Target { name: "history", check: Check::Any(history::run) },
    Target { name: "report", check: Check::Any(report::run) },
];

fn typed<'i, T: Arbitrary<'i>>(input: &'i [u8], check: fn(T)) {
    if let Ok(value) = T::arbitrary_take_rest(Unstructured::new(input)) {
        check(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn every_input_of_the_corpora_passes() {
        for target in TARGETS {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
            let mut inputs = 0;
            for entry in fs::read_dir(folder).expect("every target has a corpus") {
                let path = entry.expect("it can be read").path();
                eprintln!("{}", path.display());
                target.run(&fs::read(path).expect("it can be read"));
                inputs += 1;
            }
            assert!(inputs > 0, "{} has no input", target.name);
        }
    }
}
