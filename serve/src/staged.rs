//! Serves [`ServedMachines`], which keep their own time, behind real TCP.

use crate::serving::{Announcement, ready_line};
use crate::{ServeError, StopOn, stop};
use bytes::{Bytes, BytesMut};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc};
use tokio::task::LocalSet;
use tokio::time::Instant;

const READ_BYTES: usize = 16 * 1024;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sent {
    Bytes(Bytes),
    /// Ends the stream after all earlier bytes.
    Close,
}

pub trait ServedMachines: 'static {
    /// Reports a new connection. `listener` is an index into [`PreparedServers::listeners`].
    fn opened(&mut self, listener: usize, socket: u64, peer: &str);
    fn received(&mut self, socket: u64, bytes: &[u8]);
    /// Reports the end of a connection, also after a [`Sent::Close`] for this socket.
    fn closed(&mut self, socket: u64);
    fn take_sent(&mut self) -> Vec<(u64, Sent)>;
    /// Advances the machines to `now`, the time since serving began. Called before each input, and
    /// at the time that [`ServedMachines::next`] returns.
    fn pass(&mut self, _now: Duration) {}
    /// Returns the time since serving began at which the machines next act without input.
    fn next(&self) -> Option<Duration> {
        None
    }
    fn is_over(&self) -> bool {
        false
    }
}

pub struct PreparedServers<S> {
    /// Each listener, with the name of its server in the ready line.
    pub listeners: Vec<(&'static str, TcpListener)>,
    pub staged: S,
}

struct Shared<S> {
    began: Instant,
    staged: RefCell<S>,
    has_changed: Notify,
    sockets: RefCell<BTreeMap<u64, mpsc::UnboundedSender<Bytes>>>,
    opened: Cell<u64>,
}

/// Serves until the event that `stop_on` names, or until the servers end. Passes the ready line to
/// `announce`, and ends if that returns `Break`. Fails if the servers cannot start.
pub fn serve_staged<S: ServedMachines>(
    stop_on: StopOn,
    start: impl FnOnce() -> Result<PreparedServers<S>, ServeError>,
    announce: impl FnOnce(Announcement<'_>) -> ControlFlow<()>,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::System)?;
    LocalSet::new().block_on(&runtime, async {
        let stop = stop::requested(stop_on).map_err(ServeError::System)?;
        stage(start()?, stop, announce).await
    })
}

/// Serves like [`serve_staged`], but until `stop`. The caller must run inside a [`LocalSet`].
pub async fn stage<S: ServedMachines>(
    staging: PreparedServers<S>,
    stop: impl Future<Output = ()>,
    announce: impl FnOnce(Announcement<'_>) -> ControlFlow<()>,
) -> Result<(), ServeError> {
    let PreparedServers { listeners, staged } = staging;
    let addresses = listeners.iter().map(|(role, listener)| Ok((*role, listener.local_addr()?)));
    let addresses = addresses.collect::<std::io::Result<Vec<_>>>().map_err(ServeError::System)?;
    let shared = Rc::new(Shared {
        began: Instant::now(),
        staged: RefCell::new(staged),
        has_changed: Notify::new(),
        sockets: RefCell::default(),
        opened: Cell::new(0),
    });
    for (number, (_, listener)) in listeners.into_iter().enumerate() {
        crate::host::spawn(shared.clone().accept(number, listener));
    }
    if announce(Announcement::Ready(&ready_line(&addresses))).is_continue() {
        tokio::select! {
            biased;
            () = stop => {}
            () = shared.live() => {}
        }
    }
    Ok(())
}

impl<S: ServedMachines> Shared<S> {
    async fn live(&self) {
        loop {
            self.pass();
            self.send();
            if self.staged.borrow().is_over() {
                return;
            }
            let next = self.staged.borrow().next();
            let wait = next.map(|at| at.saturating_sub(self.began.elapsed()));
            tokio::select! {
                biased;
                () = crate::host::pause(wait.unwrap_or(Duration::MAX)) => {}
                () = self.has_changed.notified() => {}
            }
        }
    }

    fn pass(&self) {
        self.staged.borrow_mut().pass(self.began.elapsed());
    }

    async fn accept(self: Rc<Self>, number: usize, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => self.open(number, stream, &peer.to_string()),
                Err(_) => crate::host::pause(crate::host::ACCEPT_PAUSE).await,
            }
        }
    }

    fn open(self: &Rc<Self>, number: usize, stream: TcpStream, peer: &str) {
        let socket = self.opened.get();
        self.opened.set(socket + 1);
        let (read, mut write) = crate::computer::without_delay(stream).into_split();
        let (sender, mut outgoing) = mpsc::unbounded_channel::<Bytes>();
        self.sockets.borrow_mut().insert(socket, sender);
        crate::host::spawn(async move {
            while let Some(bytes) = outgoing.recv().await {
                if write.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            let _ = write.shutdown().await;
        });
        self.pass();
        self.staged.borrow_mut().opened(number, socket, peer);
        self.send_changed();
        crate::host::spawn(self.clone().read(socket, read));
    }

    async fn read(self: Rc<Self>, socket: u64, mut stream: OwnedReadHalf) {
        let mut buffer = BytesMut::with_capacity(READ_BYTES);
        while let Ok(1..) = stream.read_buf(&mut buffer).await {
            self.pass();
            self.staged.borrow_mut().received(socket, &buffer.split());
            buffer.reserve(READ_BYTES);
            self.send_changed();
        }
        self.sockets.borrow_mut().remove(&socket);
        self.pass();
        self.staged.borrow_mut().closed(socket);
        self.send_changed();
    }

    fn send_changed(&self) {
        self.send();
        self.has_changed.notify_one();
    }

    fn send(&self) {
        let all = self.staged.borrow_mut().take_sent();
        let mut sockets = self.sockets.borrow_mut();
        for (socket, sent) in all {
            match sent {
                Sent::Bytes(bytes) => {
                    if let Some(open) = sockets.get(&socket) {
                        let _ = open.send(bytes);
                    }
                }
                Sent::Close => {
                    sockets.remove(&socket);
                }
            }
        }
    }
}
