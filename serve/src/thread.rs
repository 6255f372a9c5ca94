//! A host on a thread of its own, so that a script which keeps one server busy leaves the others
//! alone.

use crate::ServeError;
use crate::computer::Computer;
use crate::event::Event;
use crate::files::Files;
use crate::host::{Boot, Door, Host};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::task::LocalSet;

/// What a host begins with.
pub(crate) struct Beginning {
    /// How its machine is made.
    pub(crate) boot: Boot,
    /// Its files.
    pub(crate) files: Files,
    /// Where it listens.
    pub(crate) listener: std::net::TcpListener,
}

/// How a host's thread is told to end.
#[derive(Clone)]
struct Leave {
    /// For a host inside its machine.
    flag: Arc<AtomicBool>,
    /// For a host that waits.
    told: Arc<Notify>,
}

/// A thread that serves until it is dropped.
pub(crate) struct HostThread {
    leave: Leave,
    thread: Option<JoinHandle<()>>,
}

impl HostThread {
    /// Starts a thread, which reports what happens to its server.
    pub(crate) fn start(
        beginning: Beginning,
        events: mpsc::UnboundedSender<Event>,
    ) -> std::io::Result<HostThread> {
        let leave = Leave { flag: Arc::default(), told: Arc::default() };
        let told = leave.clone();
        let thread = std::thread::Builder::new().name("server".to_owned()).spawn(move || {
            let result = serve(beginning, &told, &events);
            // Nobody listens any more if all is being dropped.
            let _ = events.send(Event::Ended(result));
        })?;
        Ok(HostThread { leave, thread: Some(thread) })
    }

    /// Tells it to end.
    pub(crate) fn leave(&self) {
        self.leave.flag.store(true, Ordering::Relaxed);
        self.leave.told.notify_one();
    }
}

impl Drop for HostThread {
    fn drop(&mut self) {
        self.leave();
        let ended = self.thread.take().map_or(Ok(()), JoinHandle::join);
        if let (Err(panic), false) = (ended, std::thread::panicking()) {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Serves until it is told to end, the machine ends by itself or something fails, then makes safe
/// what was written.
fn serve(
    beginning: Beginning,
    leave: &Leave,
    events: &mpsc::UnboundedSender<Event>,
) -> Result<(), ServeError> {
    let Beginning { boot, files, listener } = beginning;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::System)?;
    let local = LocalSet::new();
    let result = local.block_on(&runtime, async {
        let listener = TcpListener::from_std(listener).map_err(ServeError::System)?;
        let (leave_flag, reports) = (Arc::clone(&leave.flag), events.clone());
        let files = RefCell::new(files);
        let computer = Computer { listener, files, leave: leave_flag, events: reports };
        let host = Host::start(computer, |host| boot(Rc::new(Door(host.clone()))));
        tokio::select! {
            biased;
            failure = host.failed() => return Err(failure),
            () = leave.told.notified() => {}
            () = host.stopped() => {}
            () = report_ready(&host, events) => {}
        }
        host.platform.files.borrow().sync()
    });
    // Tasks end here, so that no file is written once this returns.
    drop(local);
    result
}

/// Reports once that the server answers requests, and never returns.
async fn report_ready(host: &Host<Computer>, events: &mpsc::UnboundedSender<Event>) {
    host.ready().await;
    let _ = events.send(Event::Ready);
    std::future::pending().await
}
