//! Real servers: an unmodified binary as the machine of a host.
//!
//! `fencepost-programs` traces the server's processes, as it does with users' programs. [`machine`]
//! makes a [`fencepost_machine::Machine`] of them: what arrives is handed to them, they are stepped
//! until they wait, and what they ask of the network goes back to the world. So pauses, crashes,
//! clock faults, cuts and lost replies reach them like any other machine.
//!
//! A real server tells the judge nothing. The machine has a connection of its own to it, the
//! [`console`], which no network carries and no fault reaches: after every command that may have
//! changed a key it reads the keys there, and [`judged`] says what changed. An operator's actions
//! are typed there, too.

mod config;
mod console;
mod folder;
mod judged;
mod machine;
pub(crate) mod trial;

use crate::hosts::programs::record::Lives;
use crate::setup::scenario::{Factory, Scenario, ServerBinary};
use bytes::Bytes;
use config::Part;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Node, Seed, Stream};
use fencepost_programs::SyncedFiles;
use machine::{Files, RealServer};
use rand_core::Rng;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::rc::Rc;

/// What every real server of a run shares.
#[derive(Clone)]
pub(crate) struct RealWorld {
    /// The addresses of all hosts.
    pub(crate) addresses: Rc<BTreeMap<String, Ipv4Addr>>,
    /// What their processes leave behind.
    pub(crate) lives: Rc<Lives>,
}

/// What a real server follows from.
pub(crate) struct RealSetup<'r> {
    pub(crate) world: &'r RealWorld,
    pub(crate) binary: &'r ServerBinary,
    pub(crate) scenario: &'r Scenario,
    pub(crate) topology: Topology,
    pub(crate) seed: Seed,
    /// Which keys are told to the judge.
    pub(crate) tap_prefix: Option<Bytes>,
}

/// Makes the machine of a real Redis or Sentinel at each of its starts, in the same folder.
pub(crate) fn redis(setup: &RealSetup<'_>, node: Node) -> Factory {
    let mut seeds = setup.seed.stream(Stream::Server(node));
    let part = Part::of(setup, node);
    let mut files: Option<Rc<Files>> = None;
    Box::new(move |_, now| {
        let files = files.get_or_insert_with(|| Rc::new(Files::new(&part)));
        Box::new(RealServer::new(&part, files.clone(), seeds.next_u64(), now))
    })
}

impl Files {
    /// A new folder with the configuration of a server, safe from power loss.
    fn new(part: &Part) -> Files {
        let folder = folder::new();
        let mut synced = SyncedFiles::default();
        let written = folder.and_then(|folder| {
            std::fs::write(folder.path().join(part.file_name()), &part.configuration)?;
            synced.sync_all(folder.path())?;
            Ok(folder)
        });
        Files { folder: written.map_err(|error| error.to_string()), synced: RefCell::new(synced) }
    }
}
