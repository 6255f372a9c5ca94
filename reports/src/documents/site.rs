//! Builds a web site from the documentation ([`site()`]).

mod document;
mod frame;
mod markdown;
mod path;
mod search;

use super::schema;
use crate::record::visible::visible;
use document::document;
use frame::framed;
use markdown::{Link, Page, markdown};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub enum Entry {
    File(Vec<u8>),
    /// Sorted names of the files and folders in this folder.
    Folder(Vec<String>),
}

#[derive(PartialEq, Eq, Debug, thiserror::Error)]
pub enum SiteError {
    #[error("'{0}' not found: expected the root folder of fencepost's repository")]
    Missing(String),
    #[error("{}", describe(.0))]
    DeadLinks(Vec<DeadLink>),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DeadLink {
    pub page: String,
    pub target: String,
}

fn describe(links: &[DeadLink]) -> String {
    let one = |link: &DeadLink| format!("{} links to '{}'", link.page, visible(&link.target));
    let all: Vec<String> = links.iter().map(one).collect();
    format!("broken links: {}", all.join(", "))
}

const STARTS: [&str; 6] =
    ["README.md", "docs", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
const SEARCH: &str = "search.html";
const SCHEMAS: &str = "schemas/index.html";

/// Returns the files of the site by path, with `/` between names and no leading `/`. Fails with
/// [`SiteError::Missing`] if a required file or folder is missing, and with
/// [`SiteError::DeadLinks`] if the target of a link is missing.
pub fn site(
    repository: impl Fn(&str) -> Option<Entry>,
) -> Result<BTreeMap<String, Vec<u8>>, SiteError> {
    let mut builder = Builder::new(&repository);
    for start in STARTS {
        if repository(start).is_none() {
            return Err(SiteError::Missing(start.to_owned()));
        }
        builder.wanted.push_back(start.to_owned());
    }
    while let Some(path) = builder.wanted.pop_front() {
        builder.add(&path);
    }
    let dead = builder.dead_links();
    if dead.is_empty() { Ok(builder.files()) } else { Err(SiteError::DeadLinks(dead)) }
}

struct Builder<'r> {
    repository: &'r dyn Fn(&str) -> Option<Entry>,
    wanted: VecDeque<String>,
    seen: BTreeSet<String>,
    pages: BTreeMap<String, Page>,
    others: BTreeMap<String, Vec<u8>>,
}

impl Builder<'_> {
    fn new(repository: &dyn Fn(&str) -> Option<Entry>) -> Builder<'_> {
        let (pages, others) = (BTreeMap::new(), BTreeMap::new());
        let (wanted, seen) = (VecDeque::new(), BTreeSet::new());
        Builder { repository, wanted, seen, pages, others }
    }

    fn add(&mut self, path: &str) {
        if !self.seen.insert(path.to_owned()) {
            return;
        }
        match (self.repository)(path) {
            None => {}
            Some(Entry::Folder(names)) if is_in_docs(path) => self.add_documentation(path, &names),
            Some(Entry::Folder(names)) => {
                let page = self.folder(path, &names);
                self.add_page(path, page);
            }
            Some(Entry::File(bytes)) => match String::from_utf8(bytes) {
                Ok(text) => self.add_text(path, text),
                Err(bytes) => drop(self.others.insert(path.to_owned(), bytes.into_bytes())),
            },
        }
    }

    fn add_documentation(&mut self, folder: &str, names: &[String]) {
        let all = names.iter().map(|name| format!("{folder}/{name}"));
        let is_page = |path: &str| path.ends_with(".md") || path.ends_with(".json");
        let is_folder = |path: &str| matches!((self.repository)(path), Some(Entry::Folder(_)));
        let wanted: Vec<String> = all.filter(|path| is_page(path) || is_folder(path)).collect();
        self.wanted.extend(wanted);
    }

    fn add_text(&mut self, path: &str, text: String) {
        if path.ends_with(".md") {
            return self.add_page(path, markdown(path, &text, self.repository));
        }
        match document(path, &text) {
            Some(page) => {
                self.others.insert(path::file_in_site(path), page.into_bytes());
                self.others.insert(path.to_owned(), text.into_bytes());
            }
            None => {
                let page = Page::of(path, html! { pre tabindex="0" { code { (text) } } });
                self.add_page(path, page);
            }
        }
    }

    fn add_page(&mut self, path: &str, page: Page) {
        self.wanted.extend(page.links.iter().filter_map(|link| link.path.clone()));
        self.pages.insert(path.to_owned(), page);
    }

    fn folder(&self, path: &str, names: &[String]) -> Page {
        let out = path::folder_in_site(path);
        let links: Vec<Link> =
            names.iter().map(|name| Link::to(format!("{path}/{name}"))).collect();
        let listed = links.iter().zip(names).map(|(link, name)| {
            (path::between(&out, &link.in_site(self.repository)), name.as_str())
        });
        let body = html! { ul { @for (href, name) in listed { li { a href=(href) { (name) } } } } };
        Page { links, out, ..Page::of(path, body) }
    }

    fn dead_links(&self) -> Vec<DeadLink> {
        let mut dead = Vec::new();
        for (path, page) in &self.pages {
            let is_alive = |link: &&Link| match &link.path {
                None => false,
                Some(to) => self.is_there(to) && self.has_heading(to, &link.heading),
            };
            let broken = page.links.iter().filter(|link| !is_alive(link));
            dead.extend(
                broken.map(|link| DeadLink { page: path.clone(), target: link.written.clone() }),
            );
        }
        dead
    }

    fn is_there(&self, path: &str) -> bool {
        match (self.repository)(path) {
            Some(Entry::Folder(names)) if is_in_docs(path) => {
                names.iter().any(|name| name == "README.md")
            }
            entry => entry.is_some(),
        }
    }

    fn has_heading(&self, path: &str, heading: &str) -> bool {
        heading.is_empty()
            || self.pages.get(path).is_some_and(|page| page.headings.contains(heading))
    }

    fn files(mut self) -> BTreeMap<String, Vec<u8>> {
        let mut files = std::mem::take(&mut self.others);
        let pages: Vec<&Page> = self.pages.values().collect();
        for page in &pages {
            files.insert(page.out.clone(), framed(&page.out, &page.title, &page.body));
        }
        files.insert(SEARCH.to_owned(), search::page(SEARCH, &pages));
        files.insert(SCHEMAS.to_owned(), framed(SCHEMAS, "Schemas", &schemas()));
        for (name, text) in schema_texts() {
            files.insert(format!("schemas/{name}.json"), text.clone().into_bytes());
            let out = format!("schemas/{name}.html");
            let body = html! {
                h1 { "Schema of " (name) }
                p { "As a file: " a href={ (name) ".json" } { (name) ".json" } "." }
                pre tabindex="0" { code { (text) } }
            };
            files.insert(out.clone(), framed(&out, &format!("Schema of {name}"), &body));
        }
        files
    }
}

fn is_in_docs(path: &str) -> bool {
    path == "docs" || path.starts_with("docs/")
}

fn schema_texts() -> impl Iterator<Item = (&'static str, String)> {
    schema::NAMES.into_iter().filter_map(|name| {
        Some((name, serde_json::to_string_pretty(&schema::schema(name)?).ok()? + "\n"))
    })
}

fn schemas() -> Markup {
    html! {
        h1 { "Schemas" }
        p { "The JSON Schemas (2020-12) of the published formats, as " code { "fencepost schema" }
            " prints them." }
        ul {
            @for name in schema::NAMES { li { a href={ (name) ".html" } { (name) } } }
        }
    }
}

#[cfg(test)]
mod tests;
