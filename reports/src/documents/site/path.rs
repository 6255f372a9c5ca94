pub(super) fn folder_in_site(path: &str) -> String {
    format!("{path}/index.html")
}

pub(super) fn file_in_site(path: &str) -> String {
    match path.strip_suffix(".md") {
        Some(rest) => match rest.strip_suffix("README") {
            Some(folder) => format!("{folder}index.html"),
            None => format!("{rest}.html"),
        },
        None => format!("{path}.html"),
    }
}

pub(super) fn resolved(from: &str, link: &str) -> Option<String> {
    let mut names: Vec<&str> = from.split('/').collect();
    names.pop();
    for name in link.trim_end_matches('/').split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

pub(super) fn between(from: &str, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
    let folders = from.len().min(to.len()) - 1;
    let shared = (0..folders).take_while(|at| from[*at] == to[*at]).count();
    let up = std::iter::repeat_n("..", from.len() - 1 - shared);
    up.chain(to[shared..].iter().copied()).collect::<Vec<&str>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readme_is_the_page_of_its_folder() {
        let places = [
            ("README.md", "index.html"),
            ("docs/gallery/README.md", "docs/gallery/index.html"),
            ("docs/load.md", "docs/load.html"),
            ("a/b.rs", "a/b.rs.html"),
        ];
        for (path, place) in places {
            assert_eq!(file_in_site(path), place);
        }
        assert_eq!(folder_in_site("recipes"), "recipes/index.html");
    }

    #[test]
    fn links_are_resolved_from_the_folder_of_their_page() {
        assert_eq!(resolved("docs/a.md", "../b.rs").as_deref(), Some("b.rs"));
        assert_eq!(resolved("docs/a.md", "./c/d.md").as_deref(), Some("docs/c/d.md"));
        assert_eq!(resolved("docs/a.md", "../recipes/").as_deref(), Some("recipes"));
        assert_eq!(resolved("a.md", "../secret"), None);
    }

    #[test]
    fn ways_go_up_no_further_than_they_must() {
        assert_eq!(between("index.html", "docs/a.html"), "docs/a.html");
        assert_eq!(between("docs/a.html", "index.html"), "../index.html");
        assert_eq!(between("docs/a.html", "docs/b.html"), "b.html");
        assert_eq!(between("docs/a/x.html", "docs/b/y.html"), "../b/y.html");
    }
}
