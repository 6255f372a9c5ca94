//! What a host stands on: where connections come from, what its clocks show and where its files
//! are.

use crate::ServeError;
use crate::stream::Stream;
use fencepost_machine::{Damage, Now, Output};
use std::future::Future;
use std::io;
use std::net::SocketAddr;

/// The surroundings of one host.
pub(crate) trait Platform: 'static {
    /// What a connection is.
    type Stream: Stream;
    /// A sync of the files that has not begun.
    type Sync: 'static;

    /// Waits for a connection that somebody opens.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, SocketAddr)>>;

    /// Opens a connection.
    fn connect(&self, name: String, port: u16) -> impl Future<Output = io::Result<Self::Stream>>;

    /// What both clocks show.
    fn clocks(&self) -> Now;

    /// Carries out an output for the disk. A sync is the caller's to do.
    fn write(&self, output: &Output) -> Result<Option<Self::Sync>, ServeError>;

    /// Warns of a damaged file, or gives the error with which its server ends.
    fn note_damage(&self, damage: Damage) -> Result<(), ServeError>;

    /// Makes safe what was written before.
    fn sync(&self, sync: Self::Sync) -> impl Future<Output = Result<(), ServeError>>;
}
