//! Read-only tables shared by all scripts. Scripts see an empty proxy for each table.

use super::host::{Arguments, Result};
use luna_core::runtime::{Gc, Table, Value};
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Clone, Copy)]
struct Shared {
    proxy: Gc<Table>,
    real: Gc<Table>,
    metatable: Option<Gc<Table>>,
}

#[derive(Clone, Default)]
pub(super) struct SharedTables {
    tables: Rc<[Shared]>,
    strings: Option<Gc<Table>>,
}

thread_local! {
    static CURRENT: RefCell<SharedTables> = RefCell::default();
}

pub(super) fn take() -> SharedTables {
    CURRENT.take()
}

pub(super) fn select(tables: &SharedTables) {
    CURRENT.with_borrow_mut(|current| {
        if !Rc::ptr_eq(&current.tables, &tables.tables) {
            *current = tables.clone();
        }
    });
}

pub(super) fn are_writable() -> bool {
    #[cfg(feature = "planted-leak")]
    if crate::planted_bugs::are_shared_tables_allowed() {
        return true;
    }
    false
}

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

pub(super) fn share_strings(call: &Arguments<'_>) -> Result<()> {
    if let Value::Table(strings) = call.value(1) {
        CURRENT.with_borrow_mut(|current| current.strings = Some(strings));
    }
    Ok(())
}

fn find(value: Value) -> Option<Shared> {
    // A table without a metatable cannot be a proxy.
    let Value::Table(table) = value else { return None };
    table.metatable()?;
    CURRENT.with_borrow(|current| {
        current.tables.iter().find(|shared| shared.proxy.ptr_eq(table)).copied()
    })
}

pub(super) fn is_shared(value: Value) -> bool {
    find(value).is_some()
}

pub(super) fn real(table: Gc<Table>) -> Gc<Table> {
    find(Value::Table(table)).map_or(table, |shared| shared.real)
}

/// Returns the metatable that scripts see, or nil; `None` leaves the call to Lua's `getmetatable`.
pub(super) fn metatable(value: Value) -> Option<Value> {
    let seen = match value {
        Value::Str(_) => CURRENT.with_borrow(|current| current.strings),
        other => find(other)?.metatable,
    };
    Some(seen.map_or(Value::Nil, Value::Table))
}
