use super::files;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(crate) type ModulePath = Vec<String>;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    pub(crate) from: ModulePath,
    pub(crate) through: Vec<ModulePath>,
    pub(crate) name: String,
}

pub(crate) fn uses_of_crate(source: &Path) -> Vec<Use> {
    let texts = files(vec![source.to_owned()]).into_iter().filter_map(|path| {
        let within = path.strip_prefix(source).unwrap().with_extension("");
        let module: ModulePath =
            within.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let is_test = module.iter().any(|part| part.ends_with("tests"));
        let module = match &*module.join("/") {
            "lib" => Vec::new(),
            "main" => return None,
            _ => module,
        };
        (!is_test).then(|| (module, std::fs::read_to_string(&path).unwrap()))
    });
    uses_of(&texts.collect())
}

pub(crate) fn uses_of(texts: &BTreeMap<ModulePath, String>) -> Vec<Use> {
    let read = |(path, text): (&ModulePath, &String)| {
        let mut module = Module::default();
        module.read(&words(text));
        (path.clone(), module)
    };
    let krate = Crate(texts.iter().map(read).collect());
    let uses: BTreeSet<Use> = krate.0.keys().flat_map(|from| krate.uses(from)).collect();
    uses.into_iter().collect()
}

#[derive(Default)]
struct Module {
    imports: BTreeMap<String, Vec<String>>,
    exports: BTreeSet<String>,
    paths: BTreeSet<Vec<String>>,
}

impl Module {
    fn read(&mut self, words: &[&str]) {
        let mut at = 0;
        while at < words.len() {
            at = match words[at] {
                "#" if words[at + 1..].starts_with(&["[", "cfg", "(", "test", ")", "]"]) => {
                    end_of_item(words, at + 7)
                }
                "use" => {
                    let end = end_of_item(words, at);
                    let is_export = at > 0 && matches!(words[at - 1], "pub" | ")");
                    self.import(&words[at + 1..end - 1], &[], is_export);
                    end
                }
                word if is_name(word) => {
                    let (path, end) = path(words, at);
                    if at == 0 || words[at - 1] != "." || path.len() > 1 {
                        self.paths.insert(path);
                    }
                    end
                }
                _ => at + 1,
            };
        }
    }

    fn import(&mut self, tree: &[&str], before: &[String], is_export: bool) {
        let (own, end) = path(tree, 0);
        let path: Vec<String> = before.iter().cloned().chain(own).collect();
        match &tree[end..] {
            // `use Trait as _` still brings the trait's methods into scope.
            ["as", name] => self.bind(name, path, is_export && *name != "_"),
            [] => {
                let is_self = path.last().is_some_and(|last| last == "self");
                let path = path[..path.len() - usize::from(is_self)].to_vec();
                let name = path.last().expect("a use line names something").clone();
                self.bind(&name, path, is_export);
            }
            ["{", within @ .., "}"] => {
                for tree in trees(within) {
                    self.import(tree, &path, is_export);
                }
            }
            _ => self.bind(&format!("*{}", path.join("::")), path, false),
        }
    }

    fn bind(&mut self, name: &str, path: Vec<String>, is_export: bool) {
        if is_export {
            self.exports.insert(name.to_owned());
        }
        let unique = format!("_{}", self.imports.len());
        self.imports.insert(if name == "_" { unique } else { name.to_owned() }, path);
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn path(words: &[&str], begin: usize) -> (Vec<String>, usize) {
    let (mut path, mut at) = (Vec::new(), begin);
    while let Some(word) = words.get(at).filter(|word| is_name(word)) {
        path.push((*word).to_owned());
        at += 1;
        if words.get(at) != Some(&"::") {
            break;
        }
        at += 1;
    }
    (path, at)
}

fn trees<'t>(list: &'t [&'t str]) -> Vec<&'t [&'t str]> {
    let mut depth = 0;
    let is_end = |word: &&str| {
        depth += i32::from(*word == "{") - i32::from(*word == "}");
        depth == 0 && *word == ","
    };
    list.split(is_end).filter(|tree| !tree.is_empty()).collect()
}

fn end_of_item(words: &[&str], begin: usize) -> usize {
    let is_use = words[begin..].iter().take(5).any(|word| *word == "use");
    let mut depth = 0;
    let end = words[begin..].iter().position(|word| {
        depth += i32::from(*word == "{") - i32::from(*word == "}");
        depth == 0 && (*word == ";" || *word == "}" && !is_use)
    });
    end.map_or(words.len(), |end| begin + end + 1)
}

fn words(text: &str) -> Vec<&str> {
    let (mut words, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = match literal(rest) {
            Some(length) => length,
            None => {
                let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
                let name = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
                let length = match rest.starts_with("::") {
                    true => 2,
                    false => name.max(first.len_utf8()),
                };
                if !first.is_whitespace() {
                    words.push(&rest[..length]);
                }
                length
            }
        };
        rest = &rest[length..];
    }
    words
}

fn literal(text: &str) -> Option<usize> {
    let until = |skipped: usize, end: &str| {
        Some(text[skipped..].find(end).map_or(text.len(), |at| skipped + at + end.len()))
    };
    if text.starts_with("//") {
        return until(2, "\n");
    }
    let raw = text.strip_prefix('b').unwrap_or(text).strip_prefix('r').unwrap_or_default();
    let hashes = raw.len() - raw.trim_start_matches('#').len();
    if raw[hashes..].starts_with('"') {
        let skipped = text.len() - raw.len() + hashes + 1;
        return until(skipped, &format!("\"{}", "#".repeat(hashes)));
    }
    let plain = text.strip_prefix('b').unwrap_or(text);
    let quote = plain.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let is_lifetime = quote == '\'' && !plain[1..].starts_with('\\') && {
        plain.char_indices().nth(2).is_some_and(|(_, third)| third != '\'')
    };
    if is_lifetime {
        return Some(text.len() - plain.len() + 1);
    }
    let mut is_escaped = false;
    let end = plain[1..].find(|letter| {
        let is_end = letter == quote && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    });
    Some(text.len() - plain.len() + 1 + end.map_or(plain.len() - 1, |end| end + 1))
}

struct Crate(BTreeMap<ModulePath, Module>);

impl Crate {
    fn uses(&self, from: &ModulePath) -> Vec<Use> {
        let module = &self.0[from];
        let is_used = |name: &String| {
            !module.exports.contains(name)
                || module.paths.iter().any(|path| path.first() == Some(name))
        };
        let imports = module.imports.iter().filter(|(name, _)| is_used(name));
        let imports = imports.map(|(_, path)| path).chain(&module.paths);
        let found = imports.filter_map(|path| {
            let mut through = Vec::new();
            let to = self.definer(from, path, &mut through)?;
            let name = path.last().cloned().unwrap_or_default();
            (to != *from).then(|| Use { from: from.clone(), through, name })
        });
        found.collect()
    }

    fn definer(
        &self,
        from: &ModulePath,
        path: &[String],
        through: &mut Vec<ModulePath>,
    ) -> Option<ModulePath> {
        let (mut at, mut is_within) = (from.clone(), false);
        for (index, name) in path.iter().enumerate() {
            match &**name {
                "crate" => at.clear(),
                "super" => drop(at.pop()),
                "self" => {}
                name => {
                    let is_last = index + 1 == path.len();
                    let child: ModulePath = at.iter().cloned().chain([name.to_owned()]).collect();
                    let import = self.0.get(&at).and_then(|module| module.imports.get(name));
                    match import.filter(|import| import[..] != path[index..]) {
                        Some(import) if is_last || !self.0.contains_key(&child) => {
                            let import = [import, &path[index + 1..]].concat();
                            return self.definer(&at, &import, through);
                        }
                        _ if self.0.contains_key(&child) => at = child,
                        _ => return is_within.then_some(at),
                    }
                }
            }
            is_within = true;
            through.push(at.clone());
        }
        None
    }
}
