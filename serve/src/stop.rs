use std::future::Future;
use std::io;
use std::sync::Arc;
use tokio::sync::Notify;

/// Event that ends serving. Serving also ends when all servers have stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopOn {
    /// A signal such as SIGINT or SIGTERM.
    Signal,
    /// A signal, or the end of standard input. A pipe on standard input ends when the process that
    /// holds its other end has ended for any reason.
    SignalOrEndOfInput,
}

/// Returns a future that waits for the event. Fails if the system refuses a thread or handler.
pub(crate) fn requested(stop_on: StopOn) -> io::Result<impl Future<Output = ()>> {
    let signal = signal()?;
    let ended = Arc::new(Notify::new());
    if stop_on == StopOn::SignalOrEndOfInput {
        let told = Arc::clone(&ended);
        // tokio's stdin would keep the runtime from ending after a signal.
        std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            told.notify_one();
        })?;
    }
    Ok(async move {
        tokio::select! {
            biased;
            () = signal => {}
            () = ended.notified() => {}
        }
    })
}

#[cfg(unix)]
fn signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            biased;
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(windows)]
fn signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::windows::{ctrl_c, ctrl_close};
    let (mut interrupt, mut close) = (ctrl_c()?, ctrl_close()?);
    Ok(async move {
        tokio::select! {
            biased;
            _ = interrupt.recv() => {}
            _ = close.recv() => {}
        }
    })
}
