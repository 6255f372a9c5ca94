//! Identifies programs after a run by the files that they executed or read as code.

mod versions;

use super::record::Life;
use super::{InvalidProgram, Program};
use crate::setup::scenario::hashed::{Hashed, hashed};
use fencepost_reports::record::programs::Ran;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const SYSTEM: &[&str] = &[
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run",
    "/sbin", "/sys", "/usr",
];

const CODE: &[&str] =
    &["cjs", "js", "lua", "mjs", "php", "pl", "pm", "py", "pyc", "rb", "sh", "ts"];

const HEADS: &[&[u8]] = &[b"#!", b"\x7fELF", b"PK\x03\x04", b"\xca\xfe\xba\xbe", b"\0asm"];

pub(crate) fn ran<'l>(lives: impl Iterator<Item = &'l Life>) -> Ran {
    let (mut executed, mut opened) = (BTreeSet::new(), BTreeSet::new());
    for life in lives {
        executed.extend(life.used.executed.iter().map(|path| canonical(path)));
        opened.extend(life.used.opened.iter().map(|path| canonical(&source(path))));
    }
    let mut files = BTreeMap::new();
    for path in &executed {
        if let Some(hashed) = hashed(path) {
            files.insert(path.display().to_string(), hashed.sha256.clone());
        }
    }
    for path in opened.iter().filter(|path| !is_system_file(path)) {
        if let Some(hashed) = hashed(path).filter(|hashed| is_code(path, hashed)) {
            files.insert(path.display().to_string(), hashed.sha256.clone());
        }
    }
    Ran { files, versions: versions::versions(&executed, &opened) }
}

pub fn unchanged(program: &Program, ran: &Ran) -> Result<(), InvalidProgram> {
    let now = program.hashes();
    let of_words = program.files.iter().find(|(file, hash)| now.get(*file) != Some(hash));
    let is_another =
        |file: &str, hash: &String| hashed(Path::new(file)).is_none_or(|now| now.sha256 != *hash);
    let changed = of_words.or_else(|| ran.files.iter().find(|(file, hash)| is_another(file, hash)));
    match changed {
        None => Ok(()),
        Some((file, _)) => {
            Err(InvalidProgram::Changed { name: program.name.clone(), file: file.clone() })
        }
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Maps Python's `__pycache__/a.cpython-311.pyc` to its source `a.py`, if the source exists.
fn source(path: &Path) -> PathBuf {
    let compiled = || {
        let folder = path.parent().filter(|folder| folder.ends_with("__pycache__"))?.parent()?;
        let name = path.file_name()?.to_str()?.strip_suffix(".pyc")?;
        Some(folder.join(format!("{}.py", name.split('.').next()?))).filter(|it| it.is_file())
    };
    compiled().unwrap_or_else(|| path.to_owned())
}

fn is_system_file(path: &Path) -> bool {
    let is_own = path.starts_with("/usr/local");
    if !is_own && SYSTEM.iter().any(|folder| path.starts_with(folder)) {
        return true;
    }
    let mut parts = path.iter().map(|part| part.to_string_lossy());
    parts.any(|part| part == "lib")
        && parts.next().is_some_and(|part| is_python(&part))
        && parts.next().is_some_and(|part| part != "site-packages" && part != "dist-packages")
}

fn is_python(name: &str) -> bool {
    name.strip_prefix("python")
        .is_some_and(|version| version.starts_with(|it: char| it.is_ascii_digit()))
}

fn is_code(path: &Path, hashed: &Hashed) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| CODE.contains(&extension))
        || path.file_name().is_some_and(|name| name == "package.json")
        || HEADS.iter().any(|head| hashed.head.starts_with(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_brings_is_left_out_and_packages_are_not() {
        let of = |path: &str| is_system_file(Path::new(path));
        for path in [
            "/usr/lib/python3.11/json/decoder.py",
            "/lib/x86_64-linux-gnu/libc.so.6",
            "/etc/ssl/openssl.cnf",
            "/opt/python/lib/python3.12/os.py",
            "/usr/local/lib/python3.12/json/__init__.py",
        ] {
            assert!(of(path), "{path}");
        }
        for path in [
            "/home/me/worker.py",
            "/home/me/lib/python/worker.py",
            "/opt/venv/lib/python3.12/site-packages/redis/lock.py",
            "/usr/local/lib/python3.12/site-packages/redis/lock.py",
            "/home/me/node_modules/ioredis/built/index.js",
            "/usr/local/bin/worker",
            "/library/worker.js",
        ] {
            assert!(!of(path), "{path}");
        }
    }

    #[test]
    fn code_is_known_by_its_name_or_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            is_code(&path, &hashed(&path).unwrap())
        };
        assert!(of("worker.py", b"import os") && of("package.json", b"{}"));
        assert!(of("worker", b"#!/bin/sh\n") && of("lib.so.6", b"\x7fELF\x02"));
        assert!(!of("orders.csv", b"1,2") && !of("settings.json", b"{}") && !of("empty", b""));
    }

    #[test]
    fn what_python_compiled_counts_as_its_source() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("__pycache__");
        let compiled = cache.join("a.cpython-311.pyc");
        assert_eq!(source(&compiled), compiled, "there is no source");
        std::fs::write(folder.path().join("a.py"), "").unwrap();
        assert_eq!(source(&compiled), folder.path().join("a.py"));
        assert_eq!(source(&folder.path().join("a.py")), folder.path().join("a.py"));
    }
}
