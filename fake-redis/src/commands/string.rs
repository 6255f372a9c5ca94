//! Commands for strings. Must never know other types.

use crate::command::{Call, Command, Flags, Keys};
use crate::error::{CommandError, CommandResult, WRONG_TYPE};
use crate::value::Value;

/// The rows of this family.
pub(crate) static COMMANDS: &[Command] = &[
    Command::new("get", 2, Flags::READONLY.and(Flags::FAST), Keys::ONE, get),
    Command::new("set", -3, Flags::WRITE.and(Flags::DENYOOM), Keys::ONE, super::set::set),
];

/// The string at a key, if there is one.
fn read_string<'c>(call: &'c mut Call<'_>, key: &[u8]) -> Result<Option<&'c [u8]>, CommandError> {
    match call.server.read(call.db, key).map(|entry| &entry.value) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(WRONG_TYPE),
    }
}

fn get(call: &mut Call<'_>) -> CommandResult {
    match call.server.read(call.db, call.args.get(1)).map(|entry| &entry.value) {
        None => call.reply.null(),
        Some(Value::String(text)) => call.reply.bulk(text),
        Some(_) => return Err(WRONG_TYPE),
    }
    Ok(())
}
