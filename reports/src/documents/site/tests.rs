use super::*;

fn repository(files: &[(&str, &str)]) -> impl Fn(&str) -> Option<Entry> {
    let files: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    move |path| {
        if let Some(bytes) = files.get(path) {
            return Some(Entry::File(bytes.clone()));
        }
        let within = files.keys().filter_map(|file| file.strip_prefix(path)?.strip_prefix('/'));
        let names: BTreeSet<&str> = within.filter_map(|rest| rest.split('/').next()).collect();
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        (!names.is_empty()).then_some(Entry::Folder(names))
    }
}

fn built(files: &[(&str, &str)]) -> Result<BTreeMap<String, String>, SiteError> {
    let pages = ["SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let mut all: Vec<(&str, &str)> = pages.iter().map(|page| (*page, "# A page\n")).collect();
    all.extend(files);
    let files = site(repository(&all))?;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ok(files.into_iter().map(|(path, bytes)| (path, text(bytes))).collect())
}

const README: (&str, &str) = ("README.md", "# Home\n\n[load](docs/load.md#how-it-is-measured)\n");
const LOAD: (&str, &str) =
    ("docs/load.md", "# Load\n\n## How it is `measured`?\n\n[home](../README.md)\n");

#[test]
fn links_lead_to_pages_and_headings() {
    let site = built(&[README, LOAD]).unwrap();
    assert!(site["index.html"].contains("href=\"docs/load.html#how-it-is-measured\""));
    assert!(site["docs/load.html"].contains("<h2 id=\"how-it-is-measured\">"));
    assert!(site["docs/load.html"].contains("href=\"../index.html\""));
}

#[test]
fn a_link_to_no_file_or_to_no_heading_is_named_with_its_page() {
    let wrong =
        ("docs/wrong.md", "[a](none.md) [b](load.md#nothing) [c](../../x) ![d](no.png) [e](.)\n");
    let error = built(&[README, LOAD, wrong]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "broken links: docs/wrong.md links to 'none.md', docs/wrong.md links to \
         'load.md#nothing', docs/wrong.md links to '../../x', docs/wrong.md links to 'no.png', \
         docs/wrong.md links to '.'"
    );
}

#[test]
fn without_documentation_there_is_no_site() {
    assert_eq!(built(&[LOAD]), Err(SiteError::Missing("README.md".to_owned())));
}

#[test]
fn files_and_folders_that_are_linked_to_are_pages() {
    let readme = ("README.md", "[code](a/b.rs) [all](a) [site](https://example.org/x.md)\n");
    let site = built(&[readme, LOAD, ("a/b.rs", "fn a() -> Vec<u8> {}"), ("a/c.sh", "")]).unwrap();
    assert!(site["a/b.rs.html"].contains("Vec&lt;u8&gt;"));
    assert!(site["a/index.html"].contains("href=\"c.sh.html\""), "{}", site["a/index.html"]);
    assert!(site.contains_key("a/c.sh.html"));
    assert!(site["index.html"].contains("https://example.org/x.md"));
}

#[test]
fn html_is_text_and_a_name_ends_no_script() {
    let hostile = ("docs/x.md", "# </script><img src=x onerror=alert(1)>\n\n<b onclick=a>x</b>\n");
    let site = built(&[README, LOAD, hostile]).unwrap();
    for page in ["docs/x.html", "search.html"] {
        assert!(!site[page].contains("<img") && !site[page].contains("<b onclick"), "{page}");
        assert!(site[page].contains("default-src 'none'"));
    }
    assert_eq!(site["search.html"].matches("</script>").count(), 2);
}

#[test]
fn the_search_knows_every_section_and_leaves_code_out() {
    let page = ("docs/p.md", "# P\n\nabove\n\n## Q\n\nbelow `c`\n\n```\ntimeline\n```\n");
    let search = &built(&[README, LOAD, page]).unwrap()["search.html"];
    assert!(
        search.contains(r##""heading":"Q","href":"docs/p.html#q","text":"below c""##),
        "{search}"
    );
    assert!(search.contains("above") && !search.contains("timeline"));
}

#[test]
fn the_same_heading_twice_has_two_places() {
    let page = ("docs/p.md", "# P\n\n## A\n\n## A\n\n[second](#a-1)\n");
    assert!(built(&[README, LOAD, page]).unwrap()["docs/p.html"].contains("id=\"a-1\""));
}

#[test]
fn tables_and_code_can_be_scrolled_by_keyboard_and_no_head_is_empty() {
    let page = ("docs/p.md", "| | a |\n| --- | --- |\n| b | c |\n\n```sh\nls\n```\n");
    let site = built(&[README, LOAD, page]).unwrap();
    let page = &site["docs/p.html"];
    assert!(page.contains("<pre tabindex=\"0\"><code>ls"));
    assert!(page.contains("tabindex=\"0\" role=\"group\" aria-label=\"Table\""));
    assert!(!page.contains("<th></th>"));
}

#[test]
fn schemas_are_pages_and_files() {
    let site = built(&[README, LOAD]).unwrap();
    for name in schema::NAMES {
        assert!(site.contains_key(&format!("schemas/{name}.html")));
        let text = &site[&format!("schemas/{name}.json")];
        assert!(serde_json::from_str::<serde_json::Value>(text).is_ok());
    }
    assert!(frame::leads_to().any(|page| page == SCHEMAS));
}
