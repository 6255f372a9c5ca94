//! A deliberate leak between scripts, which tests must detect.

use std::cell::Cell;

thread_local! {
    static SHARED_TABLES_ALLOWED: Cell<bool> = const { Cell::new(false) };
}

/// Lets this thread's scripts change shared tables. Call this before the first script.
pub fn allow_shared_tables() {
    SHARED_TABLES_ALLOWED.set(true);
}

pub(crate) fn are_shared_tables_allowed() -> bool {
    SHARED_TABLES_ALLOWED.get()
}
