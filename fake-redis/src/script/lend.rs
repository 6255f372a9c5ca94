//! Lends the script run to Lua's native functions, which are `'static` and cannot borrow it. This
//! module has the crate's only unsafe code.

use std::cell::Cell;
use std::ptr;

use super::run::Run;

thread_local! {
    /// Null if no script runs on this thread, or while a native function is using the run.
    static LENT: Cell<*mut Run<'static>> = const { Cell::new(ptr::null_mut()) };
}

struct Restore(*mut Run<'static>);

impl Drop for Restore {
    fn drop(&mut self) {
        LENT.set(self.0);
    }
}

pub(crate) fn lend<R>(run: &mut Run<'_>, body: impl FnOnce() -> R) -> R {
    let pointer = ptr::from_mut(run).cast::<Run<'static>>();
    let _restore = Restore(LENT.replace(pointer));
    body()
}

pub(crate) fn borrow<R>(body: impl for<'r> FnOnce(&mut Run<'r>) -> R) -> Option<R> {
    let pointer = LENT.replace(ptr::null_mut());
    let _restore = Restore(pointer);
    // SAFETY: a non-null pointer was created from an exclusive borrow in `lend`, whose caller is
    // still suspended, because `Restore` removes the pointer when `lend` ends. Nothing else uses
    // that borrow meanwhile: the caller is suspended, and the pointer was just replaced with null.
    // `body` must work for any lifetime, so it cannot keep the reference.
    let run = unsafe { pointer.as_mut() };
    run.map(body)
}
