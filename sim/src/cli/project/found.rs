//! Finds `fencepost.toml`. A file in a parent folder may start programs only if it is in the same
//! repository and, on Unix, has the same owner, because another user may have planted it.

use std::fs::metadata;
use std::path::{Path, PathBuf};

pub(super) const NAME: &str = "fencepost.toml";
const REPOSITORIES: [&str; 3] = [".git", ".hg", ".jj"];

pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) is_above: bool,
    pub(super) may_start_programs: bool,
}

impl Found {
    pub(super) fn named(path: &Path) -> Found {
        Found { path: path.to_owned(), is_above: false, may_start_programs: true }
    }

    pub(super) fn search() -> Option<Found> {
        let here = std::env::current_dir().ok()?;
        let root = here.ancestors().position(is_repository);
        let levels = root.map_or(here.ancestors().count(), |root| root + 1);
        let at = |level: usize| (0..level).map(|_| "..").collect::<PathBuf>().join(NAME);
        let level = (0..levels).find(|level| at(*level).is_file())?;
        let path = at(level);
        let is_of_project = root.is_some() && has_one_owner(&path, &here);
        Some(Found { path, is_above: level > 0, may_start_programs: level == 0 || is_of_project })
    }
}

fn is_repository(folder: &Path) -> bool {
    REPOSITORIES.iter().any(|name| folder.join(name).exists())
}

#[cfg(unix)]
fn has_one_owner(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| metadata(path).ok().map(|metadata| metadata.uid());
    owner(one).is_some() && owner(one) == owner(other)
}

#[cfg(not(unix))]
fn has_one_owner(one: &Path, other: &Path) -> bool {
    metadata(one).is_ok() && metadata(other).is_ok()
}
