//! Runs a machine as one future ([`serve_guest`]), on its caller's listener, connector, disk and
//! clock, for example in turmoil. Dropping the future crashes the process: connections end, and the
//! [`SharedDisk`] loses data as its [`Crash`] specifies.

mod disk;
mod polled;

pub use disk::{Crash, SharedDisk};

use crate::ServeError;
use crate::host::Host;
use crate::platform::Platform;
use disk::Life;
use fencepost_machine::{
    Damage, DiskFile, DiskImage, Machine, MonotonicTime, Now, Output, Response, WallTime,
};
use polled::Polled;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::LocalSet;
use tokio::time::Instant;

/// An unbuffered byte stream, such as `TcpStream` of tokio or turmoil.
pub trait ByteStream: AsyncRead + AsyncWrite + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + 'static> ByteStream for S {}

pub struct GuestHardware<K> {
    pub disk: SharedDisk,
    /// Returns the guest's wall clock as the duration since the Unix epoch.
    pub clock: K,
}

#[derive(Debug)]
pub struct StartState {
    pub image: DiskImage,
    /// Number of earlier starts of a machine on this disk.
    pub starts: u64,
    pub now: WallTime,
}

struct Guest<A, C, K> {
    accept: A,
    connect: C,
    clock: K,
    started: Instant,
    life: Life,
}

/// Serves a machine until it stops. Fails if the disk is in use, or if the machine refuses a
/// damaged file.
pub async fn serve_guest<S: ByteStream>(
    boot: impl FnOnce(StartState) -> Box<dyn Machine>,
    hardware: GuestHardware<impl Fn() -> Duration + 'static>,
    accept: impl AsyncFn() -> io::Result<(S, SocketAddr)> + 'static,
    connect: impl AsyncFn(String, u16) -> io::Result<S> + 'static,
) -> Result<(), ServeError> {
    let GuestHardware { disk, clock } = hardware;
    let life = disk.begin()?;
    let beginning =
        StartState { image: life.image(), starts: life.starts(), now: wall_time(clock()) };
    let guest = Guest { accept, connect, clock, started: Instant::now(), life };
    let tasks = LocalSet::new();
    tasks
        .run_until(async {
            let host = Host::start(guest, |_| boot(beginning));
            tokio::select! {
                biased;
                failure = host.failed() => Err(failure),
                () = host.stopped() => {
                    host.platform.life.ends_orderly();
                    Ok(())
                }
            }
        })
        .await
}

fn wall_time(since_epoch: Duration) -> WallTime {
    WallTime(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
}

impl<S, A, C, K> Platform for Guest<A, C, K>
where
    S: ByteStream,
    A: AsyncFn() -> io::Result<(S, SocketAddr)> + 'static,
    C: AsyncFn(String, u16) -> io::Result<S> + 'static,
    K: Fn() -> Duration + 'static,
{
    type Stream = Polled<S>;
    type Sync = ();

    async fn accept(&self) -> io::Result<(Polled<S>, SocketAddr)> {
        let (stream, peer) = (self.accept)().await?;
        Ok((Polled::new(stream), peer))
    }

    async fn connect(&self, name: String, port: u16) -> io::Result<Polled<S>> {
        (self.connect)(name, port).await.map(Polled::new)
    }

    fn clocks(&self) -> Now {
        let running = self.started.elapsed().as_micros();
        let monotonic = MonotonicTime(u64::try_from(running).unwrap_or(u64::MAX));
        Now { wall: wall_time((self.clock)()), monotonic }
    }

    fn write(&self, output: &Output) -> Result<Option<()>, ServeError> {
        Ok(self.life.write(output))
    }

    fn note_damage(&self, damage: Damage) -> Result<(), ServeError> {
        let file = match damage.file {
            DiskFile::Snapshot => "snapshot",
            DiskFile::AppendOnly => "append-only file",
            DiskFile::Config => "configuration file",
        };
        match damage.response {
            Response::Repaired => Ok(()),
            Response::Refused => Err(ServeError::Damaged { path: file.into(), what: damage.what }),
        }
    }

    async fn sync(&self, (): ()) -> Result<(), ServeError> {
        self.life.sync().await;
        Ok(())
    }
}
