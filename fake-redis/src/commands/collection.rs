//! Reads and edits collections. Creates missing collections, and removes empty ones.

use crate::config::events::EventClass;
use crate::data::value::{List, Set, SortedSet, Stream, Value};
use crate::protocol::error::{CommandError, WRONG_TYPE};
use crate::protocol::reply::Reply;
use crate::state::server::Call;

pub(crate) trait Collection: Default {
    const EVENTS: EventClass;
    fn of(value: &Value) -> Option<&Self>;
    fn of_mut(value: &mut Value) -> Option<&mut Self>;
    fn into_value(self) -> Value;
    fn size(&self) -> usize;
}

macro_rules! collections {
    ($($variant:ident),*) => {
        $(impl Collection for $variant {
            const EVENTS: EventClass = EventClass::$variant;
            fn of(value: &Value) -> Option<&Self> {
                if let Value::$variant(collection) = value { Some(collection) } else { None }
            }
            fn of_mut(value: &mut Value) -> Option<&mut Self> {
                if let Value::$variant(collection) = value { Some(collection) } else { None }
            }
            fn into_value(self) -> Value {
                Value::$variant(Box::new(self))
            }
            fn size(&self) -> usize {
                self.len()
            }
        })*
    };
}

collections!(List, Set, SortedSet, Stream);

pub(crate) fn read<'c, C: Collection + 'c>(
    call: &'c mut Call<'_>,
    key: &[u8],
) -> Result<(Option<&'c C>, &'c mut Reply), CommandError> {
    match call.server.read(call.db, key).map(|entry| &entry.value) {
        None => Ok((None, call.reply)),
        Some(value) => {
            C::of(value).map(|collection| (Some(collection), &mut *call.reply)).ok_or(WRONG_TYPE)
        }
    }
}

pub(crate) fn peek<'c, C: Collection + 'c>(
    call: &'c mut Call<'_>,
    key: &[u8],
) -> Result<Option<&'c C>, CommandError> {
    let Some(position) = call.server.find(call.db, key) else { return Ok(None) };
    let Some((_, entry)) = call.server.database(call.db).at(position) else { return Ok(None) };
    C::of(&entry.value).map(Some).ok_or(WRONG_TYPE)
}

/// Applies `change`. Publishes `event` if the collection changed, and deletes an emptied key.
pub(crate) fn edit<C: Collection, T>(
    call: &mut Call<'_>,
    key: &[u8],
    event: &str,
    change: impl FnOnce(&mut C) -> (T, bool),
) -> Result<T, CommandError> {
    if let Some(position) = call.server.find(call.db, key) {
        return edit_at(call, position, key, event, change);
    }
    let mut collection = C::default();
    let (result, is_changed) = change(&mut collection);
    if is_changed && collection.size() > 0 {
        call.server.store(call.db, key, collection.into_value(), None);
        call.server.notify(C::EVENTS, event, call.db, key);
    }
    Ok(result)
}

pub(crate) fn edit_existing<C: Collection, T>(
    call: &mut Call<'_>,
    key: &[u8],
    event: &str,
    change: impl FnOnce(&mut C) -> (T, bool),
) -> Result<Option<T>, CommandError> {
    let Some(position) = call.server.find(call.db, key) else { return Ok(None) };
    edit_at(call, position, key, event, change).map(Some)
}

fn edit_at<C: Collection, T>(
    call: &mut Call<'_>,
    position: usize,
    key: &[u8],
    event: &str,
    change: impl FnOnce(&mut C) -> (T, bool),
) -> Result<T, CommandError> {
    let db = call.db;
    let collection = call.server.value_mut(db, position).and_then(C::of_mut).ok_or(WRONG_TYPE)?;
    let (result, is_changed) = change(collection);
    let is_empty = collection.size() == 0;
    if is_empty {
        call.server.remove(db, position);
    } else if is_changed {
        call.server.changed(db, position, key);
    }
    if is_changed {
        call.server.notify(C::EVENTS, event, db, key);
    }
    if is_empty {
        call.server.notify(EventClass::Generic, "del", db, key);
    }
    Ok(result)
}

pub(crate) fn positions(start: i64, stop: i64, length: usize) -> std::ops::Range<usize> {
    let length = length as i64;
    let absolute = |index: i64| if index < 0 { length.saturating_add(index) } else { index };
    let (start, stop) = (absolute(start).max(0), absolute(stop).min(length - 1));
    if start > stop { 0..0 } else { start as usize..stop as usize + 1 }
}
