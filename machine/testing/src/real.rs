//! Helpers for tests with real servers, such as free ports and readiness checks.

use std::fs::read_to_string;
use std::net::TcpStream;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Ports for servers. On Linux and macOS, outgoing connections use higher ports by default.
const PORTS: std::ops::Range<u32> = 15_000..32_000;
const PORTS_PER_PROCESS: u32 = 61;
/// Longest wait for the answer of a real server, which other work on the machine may delay.
pub const PATIENCE: Duration = Duration::from_secs(60);
const POLLS_MAX: u32 = 2_400;
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A real server's process. Dropping this value kills the process.
#[derive(Debug)]
pub struct Process(pub Child);

crate::deref!(Process, 0: Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "a real server lives by the real clock")]
pub fn rest(span: Duration) {
    std::thread::sleep(span);
}

#[must_use]
#[expect(clippy::disallowed_methods, reason = "a real server lives by the real clock")]
pub fn instant() -> Instant {
    Instant::now()
}

/// Returns the next loopback port without a listener. Panics if there is none.
#[must_use]
pub fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(PORTS_PER_PROCESS);
    for _ in PORTS {
        let step = start.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(PORTS.start + step % (PORTS.end - PORTS.start)).unwrap();
        // Connect instead of binding, because a forked child could keep a bound socket open.
        if TcpStream::connect(("127.0.0.1", port)).is_err() {
            return port;
        }
    }
    panic!("every port of {PORTS:?} is taken");
}

/// Polls until `look` returns `Some`. Panics after `POLLS_MAX` polls.
#[track_caller]
pub fn wait_for<R>(what: &str, mut look: impl FnMut() -> Option<R>) -> R {
    for _ in 0..POLLS_MAX {
        if let Some(found) = look() {
            return found;
        }
        std::thread::park_timeout(POLL_INTERVAL);
    }
    panic!("waited in vain: {what}");
}

/// Waits like [`wait_for`] until a child process is ready. Panics if the process exits.
#[track_caller]
pub fn wait_until_ready<R>(
    server: &str,
    process: &mut Child,
    mut look: impl FnMut() -> Option<R>,
) -> R {
    wait_for(server, || {
        let ended = process.try_wait().unwrap();
        assert!(ended.is_none(), "{server} ended before it was ready: {ended:?}");
        look()
    })
}

/// Sends a signal by name. After `STOP`, waits until all threads have stopped.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
    assert!(sent.unwrap().success(), "kill -{name} {pid}");
    if name == "STOP" {
        wait_for("every thread stands still", || is_stopped(pid).then_some(()));
    }
}

fn is_stopped(pid: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let states = threads.filter_map(|thread| read_to_string(thread.ok()?.path().join("stat")).ok());
    let mut states = states.filter_map(|stat| Some(stat.rsplit_once(") ")?.1.starts_with('T')));
    states.all(|is_stopped| is_stopped)
}

/// Prints that a test was skipped. Panics instead if the environment variable `variable` is set.
pub fn skip(variable: &str, server: &str) {
    assert!(std::env::var_os(variable).is_none(), "{variable} demands {server}, and it is missing");
    eprintln!("skipped: no {server}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::net::TcpListener;

    #[test]
    fn ports_are_given_out_once_and_below_those_of_connections() {
        let taken = TcpListener::bind(("127.0.0.1", free_port())).unwrap();
        let ports: BTreeSet<u16> = (0..100).map(|_| free_port()).collect();
        assert_eq!(ports.len(), 100);
        assert!(!ports.contains(&taken.local_addr().unwrap().port()));
        assert!(ports.iter().all(|port| PORTS.contains(&u32::from(*port))));
    }

    #[test]
    fn a_process_that_was_stopped_stands_still() {
        let mut process = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        assert!(!is_stopped(process.id()));
        signal(process.id(), "STOP");
        assert!(is_stopped(process.id()));
        signal(process.id(), "CONT");
        wait_for("it goes on", || (!is_stopped(process.id())).then_some(()));
        process.kill().unwrap();
        process.wait().unwrap();
    }

    #[test]
    fn a_server_that_ends_is_not_waited_for() {
        let mut process = Command::new("false").spawn().unwrap();
        let waited = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_until_ready("false", &mut process, || None::<()>)
        }));
        let said = waited.unwrap_err();
        let said = said.downcast_ref::<String>().unwrap();
        assert!(said.starts_with("false ended before it was ready"), "{said}");
    }
}
