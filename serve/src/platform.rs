use crate::ServeError;
use crate::stream::Stream;
use fencepost_machine::{Damage, Now, Output};
use std::future::Future;
use std::io;
use std::net::SocketAddr;

pub(crate) trait Platform: 'static {
    type Stream: Stream;
    type Sync: 'static;

    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, SocketAddr)>>;

    fn connect(&self, name: String, port: u16) -> impl Future<Output = io::Result<Self::Stream>>;

    fn clocks(&self) -> Now;

    fn write(&self, output: &Output) -> Result<Option<Self::Sync>, ServeError>;

    fn note_damage(&self, damage: Damage) -> Result<(), ServeError>;

    fn sync(&self, sync: Self::Sync) -> impl Future<Output = Result<(), ServeError>>;
}
