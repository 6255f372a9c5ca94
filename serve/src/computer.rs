//! The real platform: TCP, the computer's clocks, and files.

use crate::ServeError;
use crate::event::Event;
use crate::files::Files;
use crate::platform::Platform;
use fencepost_machine::{Damage, MonotonicTime, Now, Output, Response, WallTime};
use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::Instant;

pub(crate) struct Computer {
    pub(crate) listener: TcpListener,
    pub(crate) files: RefCell<Files>,
    pub(crate) leave: Arc<AtomicBool>,
    pub(crate) events: mpsc::UnboundedSender<Event>,
}

thread_local! {
    static ORIGIN: Instant = Instant::now();
}

pub(crate) fn running() -> Duration {
    ORIGIN.with(Instant::elapsed)
}

#[expect(clippy::disallowed_methods, reason = "a real server lives by the real clock")]
pub fn wall_clock() -> WallTime {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    WallTime(since_epoch.map_or(0, |span| i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
}

pub fn clocks() -> Now {
    let running = running().as_micros();
    Now { wall: wall_clock(), monotonic: MonotonicTime(u64::try_from(running).unwrap_or(u64::MAX)) }
}

pub(crate) fn without_delay(stream: TcpStream) -> TcpStream {
    let _ = stream.set_nodelay(true);
    stream
}

impl Platform for Computer {
    type Stream = TcpStream;
    type Sync = Option<File>;

    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = self.listener.accept().await?;
        Ok((without_delay(stream), peer))
    }

    async fn connect(&self, name: String, port: u16) -> io::Result<TcpStream> {
        TcpStream::connect((name.as_str(), port)).await.map(without_delay)
    }

    fn clocks(&self) -> Now {
        clocks()
    }

    fn write(&self, output: &Output) -> Result<Option<Option<File>>, ServeError> {
        let file = self.files.borrow_mut().apply(output)?;
        Ok((*output == Output::DiskSync).then_some(file))
    }

    fn note_damage(&self, damage: Damage) -> Result<(), ServeError> {
        let (path, what) = (self.files.borrow().path(damage.file), damage.what);
        match damage.response {
            Response::Refused => Err(ServeError::Damaged { path, what }),
            Response::Repaired => {
                let _ = self.events.send(Event::Warning(format!("{}: {what}", path.display())));
                Ok(())
            }
        }
    }

    async fn sync(&self, file: Option<File>) -> Result<(), ServeError> {
        let Some(file) = file else { return Ok(()) };
        match tokio::task::spawn_blocking(move || file.sync_data()).await {
            Ok(synced) => synced.map_err(|error| self.files.borrow().failure(error)),
            Err(_) => std::future::pending().await,
        }
    }
}
