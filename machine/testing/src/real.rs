//! What every test needs that compares a model with the real server: a port, a process that ends
//! with the test, and waiting in real time.

use std::fs::read_to_string;
use std::net::TcpStream;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Linux and the BSDs give a connection that goes out a port from 32768 or 49152 on. A server's
/// port must be below these: otherwise a connection of another test, or one to a server that does
/// not listen yet, may have the very port that was free a moment ago.
const PORTS: std::ops::Range<u32> = 15_000..32_000;
/// Processes with neighbouring numbers begin so far from each other.
const PORTS_PER_PROCESS: u32 = 61;
/// How often a condition is looked at before it is given up, and how long is waited in between: two
/// minutes, since machines may be busy.
const LOOKS_MAX: u32 = 2_400;
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// A port of the loopback that nobody has, and that this process gives out once.
///
/// # Panics
///
/// If every port is taken.
#[must_use]
pub fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(PORTS_PER_PROCESS);
    for _ in PORTS {
        let step = start.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(PORTS.start + step % (PORTS.end - PORTS.start)).unwrap();
        // Bound here, it would stay so for as long as a process that another thread starts just now
        // has what this one has open.
        if TcpStream::connect(("127.0.0.1", port)).is_err() {
            return port;
        }
    }
    panic!("every port of {PORTS:?} is taken");
}

/// Waits until `look` finds something.
///
/// # Panics
///
/// If it finds nothing in two minutes.
#[track_caller]
pub fn wait_for<R>(what: &str, mut look: impl FnMut() -> Option<R>) -> R {
    for _ in 0..LOOKS_MAX {
        if let Some(found) = look() {
            return found;
        }
        std::thread::park_timeout(LOOK_PAUSE);
    }
    panic!("waited in vain: {what}");
}

/// Waits until a server of one's own is ready, which ends at once if the server does.
///
/// # Panics
///
/// If it ends, or is not ready in two minutes.
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

/// Sends a process a signal by its name. After `STOP` none of its threads runs any more: on a busy
/// machine they go on for a while after kill(2) has returned.
///
/// # Panics
///
/// If there is no such process.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
    assert!(sent.unwrap().success(), "kill -{name} {pid}");
    if name == "STOP" {
        wait_for("every thread stands still", || is_stopped(pid).then_some(()));
    }
}

/// Whether every thread of a process is in state T, see `proc_pid_stat(5)`.
fn is_stopped(pid: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    // One that has ended since stands still, too.
    let states = threads.filter_map(|thread| read_to_string(thread.ok()?.path().join("stat")).ok());
    // The state follows the name of the program, which may have brackets of its own.
    let mut states = states.filter_map(|stat| Some(stat.rsplit_once(") ")?.1.starts_with('T')));
    states.all(|is_stopped| is_stopped)
}

/// Whether a variable like `FENCEPOST_REAL_REDIS` demands a server. Says which test was skipped if
/// not.
///
/// # Panics
///
/// If it demands the server: this is asked by a test that did not find it.
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
