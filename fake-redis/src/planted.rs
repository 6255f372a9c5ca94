//! A bug that tests plant, so that it is seen that they would catch it.

use std::cell::Cell;

thread_local! {
    static SCRIPTS_SHARE_TABLES: Cell<bool> = const { Cell::new(false) };
}

/// From now on scripts on this thread can write to the tables that all of them share, such as the
/// libraries. It has to come before the first script of the thread.
pub fn let_scripts_share_tables() {
    SCRIPTS_SHARE_TABLES.set(true);
}

/// Whether they can.
pub(crate) fn scripts_share_tables() -> bool {
    SCRIPTS_SHARE_TABLES.get()
}
