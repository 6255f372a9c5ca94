use crate::answer::{fencepost, fencepost_in};
use crate::refusal::is_refused;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn files(folder: &Path, root: &Path, all: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, root, all);
        } else {
            let content = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            all.insert(path.strip_prefix(root).unwrap().to_owned(), content);
        }
    }
}

fn plain(path: &Path) -> PathBuf {
    let mut names: Vec<&std::ffi::OsStr> = Vec::new();
    for name in path {
        if name == ".." {
            names.pop().expect("no link leads out of the site");
        } else {
            names.push(name);
        }
    }
    names.into_iter().collect()
}

#[test]
fn every_link_of_the_site_leads_to_a_file_and_a_heading_and_nothing_is_fetched() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let answer = fencepost(&["docs", "--from", repository().to_str().unwrap(), "--out", out]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let mut all = BTreeMap::new();
    files(folder.path(), folder.path(), &mut all);
    let mut links = 0;
    for (path, page) in
        all.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "html"))
    {
        assert!(
            !page.contains(" src=\"http") && !page.contains("<link rel=\"stylesheet"),
            "{path:?}"
        );
        for href in page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            if href.starts_with("http") || href == "data:," {
                continue;
            }
            let (file, heading) = href.split_once('#').unwrap_or((href, ""));
            let to = match file {
                "" => path.clone(),
                file => plain(&path.parent().unwrap().join(file)),
            };
            let target = all.get(&to).unwrap_or_else(|| panic!("{path:?} links to {href}"));
            let place = format!("id=\"{heading}\"");
            assert!(heading.is_empty() || target.contains(&place), "{path:?} links to {href}");
            links += 1;
        }
    }
    assert!(links > 1_000, "{links} links were looked at");
    for name in ["docs/gallery", "recipes", "schemas"] {
        assert!(all.contains_key(&Path::new(name).join("index.html")), "{name}");
    }
    let first = &all[Path::new("index.html")];
    let guides = all.keys().filter(|path| path.parent() == Some(Path::new("docs")));
    for guide in guides.filter(|path| path.extension().is_some_and(|end| end == "html")) {
        let link = format!("href=\"{}\"", guide.display());
        assert!(first.contains(&link), "{} is not in the navigation", guide.display());
    }
    for page in ["docs/data/matrix.json.html", "search.html"] {
        assert!(all.contains_key(Path::new(page)), "{page}");
    }
}

#[test]
fn a_folder_that_is_no_repository_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    is_refused(&fencepost_in(folder.path(), &["docs"]), &["'README.md' not found"]);
    assert!(!folder.path().join("site").exists());
}
