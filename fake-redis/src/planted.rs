//! A deliberate leak between scripts. Tests use it to show that they detect leaks.

use std::cell::Cell;

thread_local! {
    static SCRIPTS_SHARE_TABLES: Cell<bool> = const { Cell::new(false) };
}

/// Allows scripts on this thread to write to the tables shared by all scripts, such as the
/// libraries. Must be called before the thread's first script.
pub fn let_scripts_share_tables() {
    SCRIPTS_SHARE_TABLES.set(true);
}

pub(crate) fn scripts_share_tables() -> bool {
    SCRIPTS_SHARE_TABLES.get()
}
