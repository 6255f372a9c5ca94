use super::Failure;
use super::arguments::SweepArguments;
use super::output::read_file;
use super::progress::clock;
use super::read::unprotected;
use crate::files::write_file;
use crate::studies::sweep::{Checkpoint, SweepSpec};
use fencepost_reports::Sweep;
use fencepost_reports::record::checksum::Protection;
use fencepost_reports::summary::sweep::Shard;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(1);

pub(crate) struct CheckpointFile {
    path: PathBuf,
    every: Duration,
    state: Mutex<State>,
}

struct State {
    written: Instant,
    failure: Option<Failure>,
}

pub(crate) fn place(arguments: &SweepArguments, shard: Shard) -> Result<Option<PathBuf>, Failure> {
    let name = format!("sweep-{}-of-{}.checkpoint", shard.index, shard.count);
    let path =
        arguments.checkpoint.clone().or_else(|| Some(arguments.common.out.as_ref()?.join(name)));
    match path {
        None if arguments.resume => Err(Failure::wrong(
            "--resume: expected --checkpoint FILE, or --out DIR with the checkpoint in that folder",
        )),
        path => Ok(path),
    }
}

/// Returns the checkpoint of the sweep to resume; `None` if the sweep starts from the beginning.
pub(crate) fn to_resume(path: Option<&Path>) -> Result<Option<Checkpoint>, Failure> {
    let Some(path) = path.filter(|path| path.exists()) else { return Ok(None) };
    let text = read_file(path, "a checkpoint")?;
    let (checkpoint, protection) =
        Checkpoint::parse(&text).map_err(|error| Failure::content(path, error))?;
    if protection == Protection::Absent {
        unprotected(path, "has no checksum");
    }
    Ok(Some(checkpoint))
}

impl CheckpointFile {
    pub(crate) fn new(path: PathBuf, every: Option<Duration>) -> CheckpointFile {
        CheckpointFile {
            path,
            every: every.unwrap_or(EVERY),
            state: Mutex::new(State { written: clock(), failure: None }),
        }
    }

    pub(crate) fn offer(&self, json: &dyn Fn() -> serde_json::Result<Vec<u8>>) -> Result<(), ()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failure.is_none() && state.written.elapsed() >= self.every {
            state.failure = self.write(json).err();
            state.written = clock();
        }
        if state.failure.is_some() { Err(()) } else { Ok(()) }
    }

    pub(crate) fn write(
        &self,
        json: &dyn Fn() -> serde_json::Result<Vec<u8>>,
    ) -> Result<(), Failure> {
        let json = json().map_err(|error| Failure::Output(error.into()))?;
        Ok(write_file(&self.path, &json)?)
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failure.take()
    }
}

pub(crate) fn json(spec: &SweepSpec, sum: Sweep) -> serde_json::Result<Vec<u8>> {
    Checkpoint::new(spec, sum).and_then(|checkpoint| serde_json::to_vec(&checkpoint))
}
