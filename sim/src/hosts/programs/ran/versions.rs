//! Finds the versions of interpreters, of Python and Node packages, and of Go modules.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const INTERPRETERS: &[&str] =
    &["bun", "deno", "java", "lua", "node", "nodejs", "perl", "php", "pypy", "python", "ruby"];

const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn versions(
    executed: &BTreeSet<PathBuf>,
    opened: &BTreeSet<PathBuf>,
) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut add = |(name, version): (String, String)| {
        all.entry(name).or_default().insert(version);
    };
    executed.iter().flat_map(|path| executable_versions(path)).for_each(&mut add);
    python_packages(opened).into_iter().for_each(&mut add);
    node_packages(opened).into_iter().for_each(&mut add);
    let joined = |versions: BTreeSet<String>| versions.into_iter().collect::<Vec<_>>().join(", ");
    all.into_iter().map(|(name, versions)| (name, joined(versions))).collect()
}

fn executable_versions(path: &Path) -> Vec<(String, String)> {
    static KNOWN: Mutex<BTreeMap<PathBuf, Vec<(String, String)>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = || {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let family = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        match INTERPRETERS.contains(&family) {
            true => reported(path).map(|version| (name.to_owned(), version)).into_iter().collect(),
            false => std::fs::read(path).map(|bytes| go_modules(&bytes)).unwrap_or_default(),
        }
    };
    known.entry(path.to_owned()).or_insert_with(asked).clone()
}

fn reported(path: &Path) -> Option<String> {
    let mut child = Command::new(path)
        .arg("--version")
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdout = child.stdout.take()?;
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.read_to_end(&mut bytes);
        let _ = tell.send(bytes);
    });
    let bytes = told.recv_timeout(PATIENCE);
    let _ = child.kill();
    let _ = child.wait();
    let text = String::from_utf8_lossy(&bytes.ok()?).into_owned();
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

fn go_modules(bytes: &[u8]) -> Vec<(String, String)> {
    const MAGIC: &[u8] = b"\xff Go buildinf:";
    const HEADER: usize = 32;
    let texts = || {
        let at = (0..bytes.len()).step_by(16).find(|at| bytes[*at..].starts_with(MAGIC))?;
        // Before Go 1.18, the header held pointers instead of text.
        let is_inline = bytes.get(at + MAGIC.len() + 1)? & 2 != 0;
        let (version, rest) = text(bytes.get(at + HEADER..).filter(|_| is_inline)?)?;
        Some((version, text(rest).map_or(&b""[..], |(modules, _)| modules)))
    };
    let Some((version, modules)) = texts() else { return Vec::new() };
    let mut all = vec![("go".to_owned(), String::from_utf8_lossy(version).into_owned())];
    for line in String::from_utf8_lossy(modules).lines() {
        let mut words = line.split('\t');
        if let (Some("dep"), Some(name), Some(version)) = (words.next(), words.next(), words.next())
        {
            all.push((name.to_owned(), version.to_owned()));
        }
    }
    all
}

fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| byte & 0x80 == 0).filter(|end| *end < 5)?;
    let length =
        bytes[..=end].iter().rev().fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7f));
    bytes[end + 1..].split_at_checked(length)
}

fn python_packages(opened: &BTreeSet<PathBuf>) -> Vec<(String, String)> {
    let mut used: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for path in opened.iter().filter(|path| path.is_file()) {
        for folder in path.ancestors().skip(1) {
            let is_of_packages =
                folder.ends_with("site-packages") || folder.ends_with("dist-packages");
            let top = path.strip_prefix(folder).ok().and_then(|rest| rest.iter().next());
            if let (true, Some(top)) = (is_of_packages, top) {
                let top = module(&top.to_string_lossy());
                used.entry(folder.to_owned()).or_default().insert(top);
            }
        }
    }
    used.iter().flat_map(|(folder, tops)| site_packages(folder, tops)).collect()
}

fn module(name: &str) -> String {
    name.split('.').next().unwrap_or(name).to_owned()
}

fn site_packages(folder: &Path, modules: &BTreeSet<String>) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let told = entries.map(|entry| entry.path()).filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "dist-info" || extension == "egg-info")
    });
    told.filter(|path| owns(path, modules)).filter_map(|path| name_and_version(&path)).collect()
}

fn owns(told: &Path, modules: &BTreeSet<String>) -> bool {
    let lines = |name: &str| std::fs::read_to_string(told.join(name)).unwrap_or_default();
    let is_used =
        |path: &str| modules.contains(&module(path.split('/').next().unwrap_or_default()));
    lines("top_level.txt").lines().any(is_used)
        || lines("RECORD").lines().any(|line| is_used(line.split(',').next().unwrap_or_default()))
}

fn name_and_version(told: &Path) -> Option<(String, String)> {
    let read = |name: &str| std::fs::read_to_string(told.join(name)).ok();
    let text = read("METADATA").or_else(|| read("PKG-INFO"))?;
    let field = |name: &str| {
        let lines = text.lines().take_while(|line| !line.is_empty());
        lines.filter_map(|line| line.split_once(": ")).find(|(key, _)| *key == name)
    };
    Some((field("Name")?.1.to_owned(), field("Version")?.1.to_owned()))
}

fn node_packages(opened: &BTreeSet<PathBuf>) -> BTreeSet<(String, String)> {
    let is_package = |folder: &Path| {
        let parent = folder.parent().map(|parent| {
            let is_scope =
                parent.file_name().is_some_and(|it| it.to_string_lossy().starts_with('@'));
            if is_scope { parent.parent().unwrap_or(parent) } else { parent }
        });
        parent.is_some_and(|it| it.ends_with("node_modules") || it.ends_with("nodejs"))
    };
    let folders: BTreeSet<&Path> = opened
        .iter()
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|folder| is_package(folder))
        .collect();
    let told = folders.iter().filter_map(|folder| {
        let text = std::fs::read_to_string(folder.join("package.json")).ok()?;
        let package: Value = serde_json::from_str(&text).ok()?;
        let field = |name: &str| Some(package.get(name)?.as_str()?.to_owned());
        Some((field("name")?, field("version")?))
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn write(folder: &Path, name: &str, content: &str) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    #[test]
    fn a_package_says_its_version_if_a_file_of_it_was_opened() {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("lib/python3.12/site-packages");
        let used = write(&python, "redlock/__init__.py", "");
        write(&python, "other/__init__.py", "");
        for (name, module) in [("redlock_py", "redlock"), ("other", "other")] {
            let told = python.join(format!("{name}-1.0.8.dist-info"));
            write(&told, "RECORD", &format!("{module}/__init__.py,,\n"));
            write(
                &told,
                "METADATA",
                &format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.8\n\nVersion: 9\n"),
            );
        }
        let node = folder.path().join("node_modules");
        let scoped = write(&node, "@me/lock/built/index.js", "");
        write(&node, "@me/lock/package.json", r#"{"name": "@me/lock", "version": "5.1.0"}"#);
        write(&node, "unused/package.json", r#"{"name": "unused", "version": "1.0.0"}"#);
        let told = versions(&BTreeSet::new(), &[used, scoped].into());
        let told: Vec<String> = told.iter().map(|(name, it)| format!("{name} {it}")).collect();
        assert_eq!(told, ["@me/lock 5.1.0", "redlock_py 1.0.8"]);
    }

    #[test]
    fn a_binary_of_go_tells_what_it_was_built_of() {
        let modules =
            "path\tlock\nmod\tlock\t(devel)\t\ndep\tgithub.com/x/redsync\tv4.1.0\th1:a=\n";
        let mut bytes = vec![0; 48];
        bytes.extend_from_slice(b"\xff Go buildinf:\x08\x02");
        bytes.resize(48 + 32, 0);
        bytes.push(8);
        bytes.extend_from_slice(b"go1.19.8");
        bytes.push(modules.len() as u8);
        bytes.extend_from_slice(modules.as_bytes());
        let expected = [("go", "go1.19.8"), ("github.com/x/redsync", "v4.1.0")];
        let expected = expected.map(|(name, version)| (name.to_owned(), version.to_owned()));
        assert_eq!(go_modules(&bytes), expected);
        assert_eq!(go_modules(&bytes[..60]), [], "cut off");
        assert_eq!(go_modules(b"\x7fELF, but not of Go"), []);
    }

    #[test]
    fn an_interpreter_is_asked_and_nothing_else_is_started() {
        let folder = tempfile::tempdir().unwrap();
        let script = "#!/bin/sh\necho; echo \"Python 9.9 $1\"\n";
        let started = |name: &str| {
            let path = write(folder.path(), name, script);
            #[cfg(unix)]
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .unwrap();
            versions(&[path].into(), &BTreeSet::new())
        };
        let told = BTreeMap::from([("python9.9".to_owned(), "Python 9.9 --version".to_owned())]);
        assert_eq!(started("python9.9"), told);
        assert_eq!(started("worker"), BTreeMap::new());
    }
}
