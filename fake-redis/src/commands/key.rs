//! Commands for keys of any type. Must never know what a value holds.

use crate::command::{Call, Command, Flags, Keys};
use crate::error::CommandResult;
use crate::notify::EventClass;

/// The rows of this family.
pub(crate) static COMMANDS: &[Command] = &[
    Command::new("del", -2, Flags::WRITE, Keys::ALL, delete),
    Command::new("unlink", -2, Flags::WRITE.and(Flags::FAST), Keys::ALL, delete),
    Command::new("exists", -2, Flags::READONLY.and(Flags::FAST), Keys::ALL, exists),
];

fn delete(call: &mut Call<'_>) -> CommandResult {
    let mut deleted = 0;
    for key in call.args.from(1).iter() {
        let Some(position) = call.server.find(call.db, key) else { continue };
        call.server.remove(call.db, position);
        call.server.notify(EventClass::Generic, "del", call.db, key);
        deleted += 1;
    }
    call.reply.integer(deleted);
    Ok(())
}

fn exists(call: &mut Call<'_>) -> CommandResult {
    let keys = call.args.from(1).iter();
    let count = keys.filter(|key| call.server.find(call.db, key).is_some()).count();
    call.reply.count(count);
    Ok(())
}
