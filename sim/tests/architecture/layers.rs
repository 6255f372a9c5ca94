//! Modules use each other in one direction: between the rooms of a crate, and within each.

use super::{files, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The crates whose rooms (the modules beside lib.rs) use each other in one direction, and whose
/// modules do so within each room.
const LAYERED: &[&str] = &[
    "clients",
    "coordinators/etcd",
    "coordinators/memcached",
    "coordinators/mysql",
    "coordinators/postgresql",
    "coordinators/zookeeper",
    "fake-redis",
    "faults",
    "machine",
    "programs",
    "reports",
    "serve",
    "sim",
];

#[test]
fn modules_form_no_cycle() {
    for folder in LAYERED {
        let source = root().join(folder).join("src");
        let cycle = cycle(&uses(&source, "crate::"));
        assert!(cycle.is_empty(), "{folder}: {}", cycle.join(" -> "));
    }
}

#[test]
fn modules_of_a_room_form_no_cycle() {
    let (mut rooms, mut cycles) = (0, Vec::new());
    for folder in LAYERED {
        for room in std::fs::read_dir(root().join(folder).join("src")).unwrap() {
            let room = room.unwrap().path();
            let name = room.file_name().unwrap().to_string_lossy().into_owned();
            if room.is_dir() && name != "tests" {
                let cycle = cycle(&uses(&room, &format!("crate::{name}::")));
                if !cycle.is_empty() {
                    cycles.push(format!("{folder}/{name}: {}", cycle.join(" -> ")));
                }
                rooms += 1;
            }
        }
    }
    assert!(rooms > 15, "the rooms were found");
    assert!(cycles.is_empty(), "{cycles:#?}");
}

/// A server's methods are written in many rooms, and no `use` line shows who calls which.
#[test]
fn no_room_of_fake_redis_calls_a_method_of_a_later_one() {
    let source = root().join("fake-redis/src");
    let library = std::fs::read_to_string(source.join("lib.rs")).unwrap();
    let rooms = library
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'));
    let texts: Vec<(&str, String)> = rooms
        .flat_map(|room| {
            let alone = source.join(room).with_extension("rs");
            let folder = source.join(room);
            let within = if folder.is_dir() { files(vec![folder]) } else { Vec::new() };
            let all = within.into_iter().chain(alone.is_file().then_some(alone));
            let code = all.filter(|path| !path.to_string_lossy().contains("tests"));
            code.map(move |path| (room, std::fs::read_to_string(path).unwrap())).collect::<Vec<_>>()
        })
        .collect();
    let texts: Vec<(&str, &str)> = texts.iter().map(|(room, text)| (*room, &**text)).collect();
    assert!(texts.len() > 100, "the rooms were found");
    assert_eq!(calls_of_later_methods(&texts), Vec::<String>::new());
}

#[test]
fn a_call_of_a_later_method_is_found() {
    let below = "impl Server {\n    fn low(&self) {\n        self.high();\n    }\n}\n";
    let above = "impl Server {\n    fn high(&self) {\n        self.low();\n    }\n}\n";
    let found = calls_of_later_methods(&[("keys", below), ("front", above)]);
    assert_eq!(found, ["keys calls high of front"]);
    assert_eq!(calls_of_later_methods(&[("keys", above), ("keys", below)]), Vec::<String>::new());
}

/// Which room calls a method of `Server` or `Call` that only later rooms have. Methods whose name
/// another type has, too, are not looked at.
fn calls_of_later_methods(texts: &[(&str, &str)]) -> Vec<String> {
    let code = |text: &str| text.split("#[cfg(test)]\nmod tests {").next().map(str::to_owned);
    let mut servers: BTreeMap<String, &str> = BTreeMap::new();
    let mut others: BTreeSet<String> = BTreeSet::new();
    for (room, text) in texts {
        let mut is_servers = false;
        for line in code(text).unwrap_or_default().lines() {
            if line.starts_with("impl") {
                is_servers = line.starts_with("impl Server {") || line.starts_with("impl Call<");
            }
            let is_method = line.starts_with("    ") && !line.starts_with("     ");
            let name = line.split("fn ").nth(1).filter(|_| is_method);
            let name = name.and_then(|name| name.split(['(', '<']).next()).map(str::to_owned);
            match name {
                Some(name) if is_servers => drop(servers.entry(name).or_insert(room)),
                Some(name) => drop(others.insert(name)),
                None => {}
            }
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for (room, text) in texts {
        if !seen.contains(room) {
            seen.push(room);
        }
        let code = code(text).unwrap_or_default();
        let called = servers.iter().filter(|(name, _)| code.contains(&format!(".{name}(")));
        let later = called.filter(|(name, of)| !seen.contains(of) && !others.contains(*name));
        found.extend(later.map(|(name, of)| format!("{room} calls {name} of {of}")));
    }
    found
}

#[test]
fn a_cycle_of_modules_is_found() {
    let uses = |edges: &[(&str, &str)]| {
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in edges {
            uses.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        uses
    };
    assert!(cycle(&uses(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    assert_eq!(cycle(&uses(&[("a", "b"), ("b", "c"), ("c", "b")])), ["b", "c", "b"]);
    let named = "// crate::no\nuse crate::world::State;\nlet x = crate::span::Span(1);\n\
                 #[cfg(test)]\nmod tests { use crate::samples; }";
    let within = |place| named_modules(named, place).into_iter().collect::<Vec<_>>();
    assert_eq!(within("crate::"), ["span", "world"]);
    assert_eq!(within("crate::span::"), ["Span"]);
    let listed = "use super::{\n    Kind,\n    log::{Log, end},\n    rows::Key,\n};\n";
    let named: Vec<_> = named_modules(listed, "use super::").into_iter().collect();
    assert_eq!(named, ["Kind", "log", "rows"]);
}

/// Which module of a folder names which other, by the path that leads into the folder, or as a
/// sibling by `super::`; the code of tests is not looked at.
fn uses(source: &Path, place: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let is_test = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.ends_with("tests.rs") || path.components().any(|part| part.as_os_str() == "tests")
    };
    for path in files(vec![source.to_owned()]) {
        let within = path.strip_prefix(source).unwrap();
        let first = within.components().next().unwrap().as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs").to_owned();
        if ["lib", "main"].contains(&module.as_str()) || is_test(within) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut named = named_modules(&text, place);
        if within.components().count() == 1 && place != "crate::" {
            named.extend(named_modules(&text, "use super::"));
        }
        named.remove(&module);
        named.retain(|name| {
            source.join(name).is_dir() || source.join(name).with_extension("rs").is_file()
        });
        uses.entry(module).or_default().extend(named);
    }
    uses
}

/// What follows a path in code that is neither a comment nor a module of tests: a name, or a list
/// of them in braces.
fn named_modules(text: &str, path: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.flat_map(|line| [line, "\n"]).collect();
    code.split(path).skip(1).flat_map(first_names).collect()
}

/// The name at the beginning of a text, or the first of each path in a list in braces.
fn first_names(text: &str) -> Vec<String> {
    let is_word = |letter: &char| letter.is_alphanumeric() || *letter == '_';
    let name = |path: &str| -> String { path.trim_start().chars().take_while(is_word).collect() };
    let Some(list) = text.strip_prefix('{') else { return vec![name(text)] };
    let (mut names, mut path, mut depth) = (Vec::new(), String::new(), 1);
    for letter in list.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(name(&std::mem::take(&mut path))),
            letter => path.push(letter),
        }
        if depth == 0 {
            break;
        }
    }
    names.push(name(&path));
    // A comma may end the list.
    names.retain(|name| !name.is_empty());
    names
}

/// A way from a module back to itself; empty if there is none.
fn cycle(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    fn walk(
        at: &String,
        uses: &BTreeMap<String, BTreeSet<String>>,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> bool {
        if let Some(first) = way.iter().position(|name| name == at) {
            way.drain(..first);
            way.push(at.clone());
            return true;
        }
        if done.contains(at) {
            return false;
        }
        way.push(at.clone());
        if uses.get(at).into_iter().flatten().any(|next| walk(next, uses, way, done)) {
            return true;
        }
        done.insert(at.clone());
        way.pop();
        false
    }
    let (mut way, mut done) = (Vec::new(), BTreeSet::new());
    for module in uses.keys() {
        if walk(module, uses, &mut way, &mut done) {
            return way;
        }
    }
    Vec::new()
}
