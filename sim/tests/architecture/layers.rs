use super::uses::{Use, uses_of, uses_of_crate};
use super::{files, root};
use std::collections::{BTreeMap, BTreeSet};

const LAYERED: &[&str] = &[
    "clients", "coordinators/chubby", "coordinators/gemfire", "coordinators/etcd",
    "coordinators/memcached", "coordinators/mysql", "coordinators/postgresql",
    "coordinators/zookeeper", "fake-redis", "faults", "fuzz", "machine", "programs", "reports",
    "serve", "sim",
];

#[test]
fn modules_form_no_circle_at_any_level() {
    for folder in LAYERED {
        let uses = uses_of_crate(&root().join(folder).join("src"));
        assert!(uses.len() > 3, "{folder}: the files were found");
        let circles = circles(&edges(&uses));
        assert_eq!(circles, Vec::<Vec<String>>::new(), "{folder}");
    }
}

#[test]
fn a_planted_circle_is_found_however_it_is_written() {
    let source = |path: &str, text: &str| {
        (path.split('/').map(str::to_owned).collect::<Vec<_>>(), text.to_owned())
    };
    let found = |text: &str| {
        let texts = [
            source("layer", "mod deep;\npub use deep::front::Front;\n"),
            source("layer/deep", "pub mod front;\npub mod back;\n"),
            source("layer/deep/front", "use super::back::Back;\npub struct Front(Back);\n"),
            source("layer/deep/back", &format!("pub struct Back;\n{text}")),
        ];
        circles(&edges(&uses_of(&texts.into_iter().collect())))
    };
    let circle = |name: &str| {
        let back = format!("layer/deep/back -> layer/deep/front: {name}");
        vec![vec![back, "layer/deep/front -> layer/deep/back: Back".to_owned()]]
    };
    assert_eq!(found("use super::front::Front;\n"), circle("Front"));
    assert_eq!(found("use super::{front::{Front as Other}};\n"), circle("Front"));
    assert_eq!(found("fn f() { crate::layer::deep::front::make(1); }\n"), circle("make"));
    assert_eq!(found("use super::front;\nfn f() { front::make(1); }\n"), circle("make"));
    assert_eq!(found("use crate::layer::Front;\n"), circle("Front"));
    let none: Vec<Vec<String>> = Vec::new();
    assert_eq!(found("// crate::layer::deep::front::Front\n"), none);
    assert_eq!(found("const X: &str = \"crate::layer::deep::front::Front\";\n"), none);
    assert_eq!(found("#[cfg(test)]\nmod tests {\n    use crate::layer::Front;\n}\n"), none);
    assert_eq!(found("#[cfg(test)]\nuse crate::layer::Front;\n"), none);
}

#[test]
fn a_circle_between_folders_is_found_whose_files_form_none() {
    let uses = |from: &str, to: &str| {
        let [from, to] = [from, to].map(|path| path.split('/').map(str::to_owned).collect());
        Use { from, through: vec![to], name: "x".to_owned() }
    };
    let there = [uses("a/one", "b/one"), uses("b/two", "a/two")];
    assert_eq!(circles(&edges(&there)), [["a -> b: x", "b -> a: x"]]);
    assert!(circles(&edges(&there[..1])).is_empty());
    let within = [uses("a", "a/one"), uses("a/one", "a")];
    assert!(circles(&edges(&within)).is_empty(), "a file is part of the module that declares it");
}

#[test]
fn no_layer_of_fake_redis_calls_a_method_of_a_later_one() {
    let source = root().join("fake-redis/src");
    let library = std::fs::read_to_string(source.join("lib.rs")).unwrap();
    let layers = library
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'));
    let texts: Vec<(&str, String)> = layers
        .flat_map(|layer| {
            let alone = source.join(layer).with_extension("rs");
            let folder = source.join(layer);
            let within = if folder.is_dir() { files(vec![folder]) } else { Vec::new() };
            let all = within.into_iter().chain(alone.is_file().then_some(alone));
            let code = all.filter(|path| !path.to_string_lossy().contains("tests"));
            code.map(move |path| (layer, std::fs::read_to_string(path).unwrap()))
                .collect::<Vec<_>>()
        })
        .collect();
    let texts: Vec<(&str, &str)> = texts.iter().map(|(layer, text)| (*layer, &**text)).collect();
    assert!(texts.len() > 100, "the layers were found");
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

fn calls_of_later_methods(texts: &[(&str, &str)]) -> Vec<String> {
    let code = |text: &str| text.split("#[cfg(test)]\nmod tests {").next().map(str::to_owned);
    let mut servers: BTreeMap<String, &str> = BTreeMap::new();
    let mut others: BTreeSet<String> = BTreeSet::new();
    for (layer, text) in texts {
        let mut is_servers = false;
        for line in code(text).unwrap_or_default().lines() {
            if line.starts_with("impl") {
                is_servers = line.starts_with("impl Server {") || line.starts_with("impl Call<");
            }
            let is_method = line.starts_with("    ") && !line.starts_with("     ");
            let name = line.split("fn ").nth(1).filter(|_| is_method);
            let name = name.and_then(|name| name.split(['(', '<']).next()).map(str::to_owned);
            match name {
                Some(name) if is_servers => drop(servers.entry(name).or_insert(layer)),
                Some(name) => drop(others.insert(name)),
                None => {}
            }
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for (layer, text) in texts {
        if !seen.contains(layer) {
            seen.push(layer);
        }
        let code = code(text).unwrap_or_default();
        let called = servers.iter().filter(|(name, _)| code.contains(&format!(".{name}(")));
        let later = called.filter(|(name, of)| !seen.contains(of) && !others.contains(*name));
        found.extend(later.map(|(name, of)| format!("{layer} calls {name} of {of}")));
    }
    found
}

type Edges = BTreeMap<String, BTreeMap<String, String>>;

fn edges(uses: &[Use]) -> Edges {
    let mut edges = Edges::new();
    for Use { from, through, name } in uses {
        for to in through {
            let shared = from.iter().zip(to).take_while(|(from, to)| from == to).count();
            if shared < from.len() && shared < to.len() {
                let [from, to] = [from, to].map(|module| module[..=shared].join("/"));
                edges.entry(from).or_default().insert(to, name.clone());
            }
        }
    }
    edges
}

fn circles(edges: &Edges) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        edges.keys().map(|from| (from, reached(edges, from))).collect();
    let leads = |from: &String, to: &String| reached.get(from).is_some_and(|all| all.contains(to));
    let (mut circles, mut done) = (Vec::new(), BTreeSet::new());
    for first in edges.keys().filter(|module| leads(module, module)) {
        if done.contains(first) {
            continue;
        }
        let all: BTreeSet<&String> =
            edges.keys().filter(|other| leads(first, other) && leads(other, first)).collect();
        let ties = all.iter().flat_map(|from| edges[*from].iter().map(move |tie| (from, tie)));
        let ties = ties.filter(|(_, (to, _))| all.contains(to));
        circles.push(ties.map(|(from, (to, name))| format!("{from} -> {to}: {name}")).collect());
        done.extend(all);
    }
    circles
}

fn reached<'a>(edges: &'a Edges, from: &String) -> BTreeSet<&'a String> {
    let (mut reached, mut ahead) = (BTreeSet::new(), vec![from]);
    while let Some(at) = ahead.pop() {
        for to in edges.get(at).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(to) {
                ahead.push(to);
            }
        }
    }
    reached
}
