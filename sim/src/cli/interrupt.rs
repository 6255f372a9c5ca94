//! Ends `sweep` and `explore` early on SIGINT and SIGTERM (on Windows, Ctrl+C and Ctrl+Break).

use super::{Failure, Outcome};
use crate::diagnosis::cancel;
use crate::studies::sweep::Stop;
use std::sync::atomic::{AtomicU8, Ordering};
#[cfg(unix)]
use tokio::signal::unix::{Signal as Interrupts, Signal as Terminations, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlBreak as Terminations, CtrlC as Interrupts, ctrl_break, ctrl_c};

pub(crate) fn end_soon(stop: &Stop) {
    stop.request_urgent();
    cancel();
}

#[derive(Debug)]
pub(crate) struct Interrupt(AtomicU8);

const NONE: u8 = 0;
const INTERRUPTED: u8 = 1;
const TERMINATED: u8 = 2;

impl Interrupt {
    pub(crate) const fn new() -> Interrupt {
        Interrupt(AtomicU8::new(NONE))
    }

    pub(crate) fn listen(&'static self, stop: &'static Stop) -> Result<(), Failure> {
        let wrong =
            |error: std::io::Error| Failure::wrong(format!("cannot handle signals: {error}"));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(wrong)?;
        let (interrupt, terminate) = {
            let _entered = runtime.enter();
            signals().map_err(wrong)?
        };
        let listen = move || runtime.block_on(self.wait_for_signals(stop, interrupt, terminate));
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(listen)
            .map(drop)
            .map_err(wrong)
    }

    async fn wait_for_signals(
        &self,
        stop: &Stop,
        mut interrupt: Interrupts,
        mut terminate: Terminations,
    ) {
        loop {
            let heard = tokio::select! {
                biased;
                _ = interrupt.recv() => INTERRUPTED,
                _ = terminate.recv() => TERMINATED,
            };
            let _ = self.0.compare_exchange(NONE, heard, Ordering::Relaxed, Ordering::Relaxed);
            end_soon(stop);
        }
    }

    pub(crate) fn outcome(&self) -> Option<Outcome> {
        match self.0.load(Ordering::Relaxed) {
            INTERRUPTED => Some(Outcome::Interrupted),
            TERMINATED => Some(Outcome::Terminated),
            _ => None,
        }
    }
}

#[cfg(unix)]
fn signals() -> std::io::Result<(Interrupts, Terminations)> {
    Ok((signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?))
}

#[cfg(windows)]
fn signals() -> std::io::Result<(Interrupts, Terminations)> {
    Ok((ctrl_c()?, ctrl_break()?))
}
