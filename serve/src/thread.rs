//! Runs a host on its own thread, so that one server's long input does not block the others.

use crate::ServeError;
use crate::computer::Computer;
use crate::event::Event;
use crate::files::Files;
use crate::host::{Host, HostDriver, MachineBuilder};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::task::LocalSet;

pub(crate) struct HostParts {
    pub(crate) boot: MachineBuilder,
    pub(crate) files: Files,
    pub(crate) listener: std::net::TcpListener,
}

#[derive(Clone)]
struct StopSignal {
    flag: Arc<AtomicBool>,
    told: Arc<Notify>,
}

pub(crate) struct HostThread {
    leave: StopSignal,
    thread: Option<JoinHandle<()>>,
}

impl HostThread {
    pub(crate) fn start(
        beginning: HostParts,
        events: mpsc::UnboundedSender<Event>,
    ) -> std::io::Result<HostThread> {
        let leave = StopSignal { flag: Arc::default(), told: Arc::default() };
        let told = leave.clone();
        let thread = std::thread::Builder::new().name("server".to_owned()).spawn(move || {
            let result = serve(beginning, &told, &events);
            let _ = events.send(Event::Ended(result));
        })?;
        Ok(HostThread { leave, thread: Some(thread) })
    }

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

fn serve(
    beginning: HostParts,
    leave: &StopSignal,
    events: &mpsc::UnboundedSender<Event>,
) -> Result<(), ServeError> {
    let HostParts { boot, files, listener } = beginning;
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
        let host = Host::start(computer, |host| boot(Rc::new(HostDriver(host.clone()))));
        tokio::select! {
            biased;
            failure = host.failed() => return Err(failure),
            () = leave.told.notified() => host.shut_down()?,
            () = host.stopped() => {}
            () = report_ready(&host, events) => {}
        }
        host.platform.files.borrow().sync()
    });
    drop(local);
    result
}

async fn report_ready(host: &Host<Computer>, events: &mpsc::UnboundedSender<Event>) {
    host.ready().await;
    let _ = events.send(Event::Ready);
    std::future::pending().await
}
