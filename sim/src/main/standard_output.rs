//! Detects a closed standard output on Linux, which Rust replaces with /dev/null before `main`.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the loader calls the pointer once before `main`. `check_closed` ignores its arguments,
// makes one system call and stores a flag.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static CHECK: extern "C" fn() = check_closed;

#[cfg(target_os = "linux")]
extern "C" fn check_closed() {
    let is_closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
    WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

pub(crate) fn was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}
