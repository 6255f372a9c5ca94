//! A deliberate leak between scripts, with which tests show that they detect leaks.

use std::cell::Cell;

thread_local! {
    static SCRIPTS_SHARE_TABLES: Cell<bool> = const { Cell::new(false) };
}

/// Lets scripts of this thread change the tables of all scripts. Call it before the first script.
pub fn let_scripts_share_tables() {
    SCRIPTS_SHARE_TABLES.set(true);
}

pub(crate) fn scripts_share_tables() -> bool {
    SCRIPTS_SHARE_TABLES.get()
}
