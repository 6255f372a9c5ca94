use super::arguments::DocsArguments;
use super::output::print;
use super::{Failure, Outcome};
use crate::files::write_file;
use fencepost_reports::documents::site::{Entry, site};
use std::path::Path;

pub(crate) fn docs(arguments: &DocsArguments) -> Result<Outcome, Failure> {
    let from = &arguments.from;
    let files = site(|path| entry(from, path))
        .map_err(|error| Failure::wrong(format!("{}: {error}", from.display())))?;
    for (path, content) in &files {
        write_file(&arguments.out.join(path), content)?;
    }
    let pages = files.keys().filter(|path| path.ends_with(".html")).count();
    let first = arguments.out.join("index.html");
    print(&format!("wrote {pages} pages: open {}\n", first.display()))?;
    Ok(Outcome::AsExpected)
}

fn entry(repository: &Path, path: &str) -> Option<Entry> {
    let place = repository.join(path);
    if !place.is_dir() {
        return std::fs::read(place).ok().map(Entry::File);
    }
    let names = std::fs::read_dir(place).ok()?;
    let mut names: Vec<String> =
        names.filter_map(|name| name.ok()?.file_name().into_string().ok()).collect();
    names.retain(|name| !name.starts_with('.') && !["target", "node_modules"].contains(&&**name));
    names.sort();
    Some(Entry::Folder(names))
}
