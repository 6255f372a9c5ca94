//! The tables that all scripts share, which none can change.
//!
//! Scripts see an empty table in the place of each, its proxy: what is read is read from the shared
//! table, what is written is refused (prelude.lua). Functions that pass by metatables ask here.

use super::host::{Arguments, Result};
use luna_core::runtime::{Gc, Table, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// A shared table.
#[derive(Clone, Copy)]
struct Shared {
    proxy: Gc<Table>,
    real: Gc<Table>,
    /// What scripts see as its metatable.
    metatable: Option<Gc<Table>>,
}

/// The shared tables of one Lua state, which keeps them alive.
#[derive(Clone, Default)]
pub(super) struct SharedTables {
    tables: Rc<[Shared]>,
    /// What scripts see as the metatable of strings.
    strings: Option<Gc<Table>>,
}

thread_local! {
    /// Those of the Lua state that is used.
    static CURRENT: RefCell<SharedTables> = RefCell::default();
}

/// Takes what prelude.lua has protected.
pub(super) fn take() -> SharedTables {
    CURRENT.take()
}

/// Uses the tables of a Lua state.
pub(super) fn select(tables: &SharedTables) {
    CURRENT.with_borrow_mut(|current| {
        if !Rc::ptr_eq(&current.tables, &tables.tables) {
            *current = tables.clone();
        }
    });
}

/// Whether tests planted the bug that scripts can write to shared tables.
pub(super) fn are_writable() -> bool {
    #[cfg(feature = "planted-leak")]
    if crate::planted::scripts_share_tables() {
        return true;
    }
    false
}

/// Learns of a proxy, its table, and the metatable that scripts see.
pub(super) fn protect(call: &Arguments<'_>) -> Result<()> {
    if let (Value::Table(proxy), Value::Table(real)) = (call.value(1), call.value(2)) {
        let metatable = match call.value(3) {
            Value::Table(metatable) => Some(metatable),
            _ => None,
        };
        let shared = Shared { proxy, real, metatable };
        CURRENT.with_borrow_mut(|current| {
            current.tables = current.tables.iter().copied().chain([shared]).collect();
        });
    }
    Ok(())
}

/// Learns what scripts see as the metatable of strings.
pub(super) fn share_strings(call: &Arguments<'_>) -> Result<()> {
    if let Value::Table(strings) = call.value(1) {
        CURRENT.with_borrow_mut(|current| current.strings = Some(strings));
    }
    Ok(())
}

fn find(value: Value) -> Option<Shared> {
    // Only a table with a metatable can be a proxy.
    let Value::Table(table) = value else { return None };
    table.metatable()?;
    CURRENT.with_borrow(|current| {
        current.tables.iter().find(|shared| shared.proxy.ptr_eq(table)).copied()
    })
}

/// Whether scripts must not write to it.
pub(super) fn is_shared(value: Value) -> bool {
    find(value).is_some()
}

/// The table that a proxy stands for; any other table itself.
pub(super) fn real(table: Gc<Table>) -> Gc<Table> {
    find(Value::Table(table)).map_or(table, |shared| shared.real)
}

/// The metatable that scripts see of a shared table or of a string; nil if there is none, and
/// `None` if Lua knows it.
pub(super) fn metatable(value: Value) -> Option<Value> {
    let seen = match value {
        Value::Str(_) => CURRENT.with_borrow(|current| current.strings),
        other => find(other)?.metatable,
    };
    Some(seen.map_or(Value::Nil, Value::Table))
}
