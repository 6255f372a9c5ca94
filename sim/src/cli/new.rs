//! `fencepost new`: creates files from a template.

mod program;

pub(crate) use program::new_program;

use super::Failure;
use super::Outcome;
use super::arguments::NewArguments;
use super::options::unknown;
use super::output::print;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

const LOCKS: &[(&str, &str)] = &[
    ("redis", include_str!("new/redis.lua")),
    ("redis-masters", include_str!("new/masters.lua")),
    ("memcached", include_str!("new/memcached.lua")),
    ("postgresql", include_str!("new/postgresql.lua")),
    ("mysql", include_str!("new/mysql.lua")),
    ("zookeeper", include_str!("new/zookeeper.lua")),
    ("etcd", include_str!("new/etcd.lua")),
];

pub(crate) fn new_lock(arguments: &NewArguments) -> Result<Outcome, Failure> {
    let NewArguments { name, on } = arguments;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if name.is_empty() || name.starts_with('-') || !name.bytes().all(is_letter) {
        return Err(Failure::wrong(format!(
            "'{name}': expected a name of letters, digits, '-' and '_' that does not begin with \
             '-', like my-lock"
        )));
    }
    let known = LOCKS.iter().find(|(known, _)| known == on);
    let valid = || LOCKS.iter().map(|(known, _)| *known).collect();
    let (_, text) = known.ok_or_else(|| unknown("--on", on, "", valid()))?;
    let file = format!("{name}.lua");
    let text = text.replace("NAME", name);
    write_new(&[(&file, text.clone())], "the name of a new file")?;
    let command = text.lines().find_map(|line| line.strip_prefix("--   ")).unwrap_or_default();
    print(&format!("{file}\n{command}\n"))?;
    Ok(Outcome::AsExpected)
}

/// Creates all `files`, or none of them if one exists or cannot be written.
fn write_new(files: &[(&str, String)], expected: &str) -> Result<(), Failure> {
    if let Some((file, _)) = files.iter().find(|(file, _)| Path::new(file).exists()) {
        return Err(exists(file, expected));
    }
    for (count, (file, text)) in files.iter().enumerate() {
        let opened = OpenOptions::new().write(true).create_new(true).open(file);
        let is_ours = opened.is_ok();
        let written = opened.and_then(|mut opened| opened.write_all(text.as_bytes()));
        if let Err(error) = written {
            for (created, _) in &files[..count + usize::from(is_ours)] {
                let _ = std::fs::remove_file(created);
            }
            return Err(match error.kind() {
                ErrorKind::AlreadyExists => exists(file, expected),
                _ => Failure::File { path: file.into(), error },
            });
        }
    }
    Ok(())
}

fn exists(file: &str, expected: &str) -> Failure {
    Failure::wrong(format!("{file} already exists: expected {expected}"))
}
