use fencepost::studies::gallery::pages;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn the_published_pages_are_those_of_the_pinned_seeds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/gallery");
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let pages = pages(jobs).unwrap();
    for (name, page) in &pages {
        let published = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert_eq!(
            published, *page,
            "{name} is stale: fencepost gallery --out docs/gallery writes it anew"
        );
    }
    let published = std::fs::read_dir(&folder).unwrap();
    let published: BTreeSet<String> =
        published.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let made: BTreeSet<String> = pages.into_iter().map(|(name, _)| name).collect();
    assert_eq!(published, made, "pages that nothing makes");
}
