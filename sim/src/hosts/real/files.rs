//! A server's files, which survive a crash, and the templates for new servers' folders.

use super::folder;
use super::kind::{FIRST_PROCESS, Part, Template};
use crate::hosts::programs::record::in_words;
use crate::world::disks::prefix;
use fencepost_programs::{Clocks, Ending, Group, Launch, SyncedFiles};
use rand_chacha::ChaCha8Rng;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tempfile::TempDir;

const PATIENCE_US: u64 = 120_000_000;

pub(super) struct Files {
    folder: Result<TempDir, String>,
    synced: RefCell<SyncedFiles>,
    torn: RefCell<Option<ChaCha8Rng>>,
    has_begun: Cell<bool>,
}

impl Files {
    pub(super) fn new(part: &Part) -> Files {
        let mut synced = SyncedFiles::default();
        let folder = made(part, &mut synced);
        let torn = RefCell::new(part.torn.clone());
        Files { folder, synced: RefCell::new(synced), torn, has_begun: Cell::new(false) }
    }

    pub(super) fn folder(&self) -> Result<&Path, &String> {
        self.folder.as_ref().map(TempDir::path)
    }

    /// Marks every file as synced, because a real deployment would have done so long before.
    pub(super) fn run_begins(&self) {
        if self.has_begun.replace(true) {
            return;
        }
        let Ok(folder) = self.folder() else { return };
        if let Err(error) = self.synced.borrow_mut().sync_all(folder) {
            panic!("the files of {} cannot be read: {error}", folder.display());
        }
    }

    pub(super) fn keep_synced(&self, synced: SyncedFiles) {
        self.synced.borrow_mut().extend(synced);
    }

    pub(super) fn lose_power(&self) -> io::Result<()> {
        let Ok(folder) = &self.folder else { return Ok(()) };
        let mut torn = self.torn.borrow_mut();
        let mut kept = |unsynced| torn.as_mut().map_or(0, |random| prefix(random, unsynced));
        self.synced.borrow().restore(folder.path(), &mut kept)
    }
}

fn made(part: &Part, synced: &mut SyncedFiles) -> Result<TempDir, String> {
    let failed = |error: io::Error| error.to_string();
    let folder = folder::new().map_err(failed)?;
    if let Some(template) = template(part)? {
        synced.copy_all(&template, folder.path()).map_err(failed)?;
    }
    let files = part.recipe.files.iter().map(|(name, text)| (*name, text.as_str()));
    for path in written(folder.path(), files).map_err(failed)? {
        synced.sync_one(&path).map_err(failed)?;
    }
    if let Some(user) = part.recipe.user {
        change_owner(folder.path(), user).map_err(failed)?;
    }
    Ok(folder)
}

fn written<'f>(
    folder: &Path,
    files: impl Iterator<Item = (&'f str, &'f str)>,
) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&path, text)?;
        paths.push(path);
    }
    Ok(paths)
}

#[cfg(not(unix))]
fn change_owner(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn change_owner(path: &Path, user: u32) -> io::Result<()> {
    match std::os::unix::fs::lchown(path, Some(user), Some(user)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
        other => other?,
    }
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            change_owner(&entry?.path(), user)?;
        }
    }
    Ok(())
}

/// Returns the template for the folders of new servers, if they need one. Later runs reuse it.
fn template(part: &Part) -> Result<Option<PathBuf>, String> {
    static MADE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let Some(template) = part.kind.template.map(|template| template(part)) else {
        return Ok(None);
    };
    let name = template.name(part);
    let mut made = MADE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(found) = made.get(&name).filter(|path| path.is_dir()) {
        return Ok(Some(found.clone()));
    }
    let path = cache().join(&name);
    if !path.is_dir() {
        make(&template, &path)?;
    }
    made.insert(name, path.clone());
    Ok(Some(path))
}

fn cache() -> PathBuf {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let of_user = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    of_user.unwrap_or_else(std::env::temp_dir).join("fencepost")
}

impl Template {
    fn name(&self, part: &Part) -> String {
        let mut text = part.binary.sha256.clone() + env!("CARGO_PKG_VERSION");
        for word in &self.command {
            text += word;
        }
        for (name, content) in &self.files {
            text += name;
            text += content;
        }
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
        format!("{}-{hash:016x}", part.kind.coordinator.name())
    }
}

fn make(template: &Template, path: &Path) -> Result<(), String> {
    let failed =
        |error: io::Error| format!("the server's initial files could not be created: {error}");
    let folder = folder::new().map_err(failed)?;
    let files = template.files.iter().map(|(name, text)| (*name, text.as_str()));
    written(folder.path(), files).map_err(failed)?;
    if let Some(user) = template.user {
        change_owner(folder.path(), user).map_err(failed)?;
    }
    run_setup(template, folder.path())?;
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(failed)?;
    let copy = tempfile::Builder::new().prefix("new-").tempdir_in(parent).map_err(failed)?;
    SyncedFiles::default()
        .copy_all(&folder.path().join(template.folder), copy.path())
        .map_err(failed)?;
    match fs::rename(copy.path(), path) {
        Err(_) if path.is_dir() => Ok(()),
        other => other.map_err(failed),
    }
}

fn run_setup(template: &Template, folder: &Path) -> Result<(), String> {
    let environment = [("PATH", "/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TZ", "UTC")];
    let launch = Launch {
        command: template.command.clone(),
        environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        folder: folder.to_owned(),
        host_name: "localhost".to_owned(),
        hosts: BTreeMap::new(),
        aliases: BTreeMap::new(),
        seed: 0,
        machine_seed: 0,
        first_process: FIRST_PROCESS,
        user: template.user,
        sync_us: Some(0),
        temporary: Vec::new(),
    };
    let mut group = Group::start(&launch).map_err(|error| error.to_string())?;
    let (mut now_us, mut said) = (0, Vec::new());
    while now_us < PATIENCE_US {
        let wall_us = crate::world::node_clock::WALL_EPOCH_US + now_us as i64;
        let step = group.step(Clocks { wall_us, monotonic_us: 1_000_000 + now_us });
        said.extend(group.take_output().into_iter().flat_map(|one| one.bytes));
        match step.ending {
            Some(Ending::Exited(0)) => return Ok(()),
            Some(other) => {
                return Err(format!(
                    "the server {} while its initial files were created{}",
                    in_words(&other),
                    last_line(&said)
                ));
            }
            None => now_us += step.wake_after_us.unwrap_or(1_000).max(1),
        }
    }
    Err(format!("the server's initial files were not created in {} s", PATIENCE_US / 1_000_000))
}

pub(super) fn last_line(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.map_or_else(String::new, |line| {
        format!(": {}", line.chars().take(160).collect::<String>())
    })
}
