//! How functions that Lua calls reach the server that runs the script.
//!
//! The functions of a Lua state live as long as the state, which is kept for many servers; the
//! server is a borrow of one call. So the borrow is lent for the time of that call. Unsafe code is
//! here, and nowhere else in this crate.

use std::cell::Cell;
use std::ptr;

use super::run::Run;

thread_local! {
    /// The run that is lent to the functions of this thread; null if none is, or while one of them
    /// uses it.
    static LENT: Cell<*mut Run<'static>> = const { Cell::new(ptr::null_mut()) };
}

/// Puts back what was lent before, however the scope is left.
struct Restore(*mut Run<'static>);

impl Drop for Restore {
    fn drop(&mut self) {
        LENT.set(self.0);
    }
}

/// Calls `body`, during which [`borrow`] on this thread reaches `run`.
pub(crate) fn lend<R>(run: &mut Run<'_>, body: impl FnOnce() -> R) -> R {
    let pointer = ptr::from_mut(run).cast::<Run<'static>>();
    let _restore = Restore(LENT.replace(pointer));
    body()
}

/// Calls `body` with the run that is lent; `None` if none is, or if it is in use further up the
/// stack.
pub(crate) fn borrow<R>(body: impl for<'r> FnOnce(&mut Run<'r>) -> R) -> Option<R> {
    let pointer = LENT.replace(ptr::null_mut());
    let _restore = Restore(pointer);
    // SAFETY: a pointer that is not null was made from an exclusive borrow in `lend`, whose caller
    // is still suspended in it, since `Restore` takes the pointer away when `lend` ends. Nobody
    // else uses that borrow meanwhile: the caller does not, and the pointer was replaced by null
    // just now. The lifetime is hidden from `body`, which has to work for any.
    let run = unsafe { pointer.as_mut() };
    run.map(body)
}
