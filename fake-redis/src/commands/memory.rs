use crate::data::number::parse_integer;
use crate::protocol::error::{CommandResult, NOT_AN_INTEGER, SYNTAX};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

pub(crate) static COMMANDS: &[Command] = &[Command::container(
    "memory",
    &[Command::sub("memory|usage", -3, Flags::READONLY, usage).with_keys(Keys {
        first: 2,
        last: 2,
        step: 1,
    })],
)];

fn usage(call: &mut Call<'_>) -> CommandResult {
    match call.args.len() {
        3 => {}
        5 if call.args.is(3, "samples") => drop(parse_integer(call.arg(4)).ok_or(NOT_AN_INTEGER)?),
        _ => return Err(SYNTAX),
    }
    let key = call.arg(2);
    let position = call.server.find(call.db, key);
    match position.and_then(|position| call.server.database(call.db).at(position)) {
        Some((_, entry)) => call.reply.count(72 + key.len() + entry.value.memory()),
        None => call.reply.null(),
    }
    Ok(())
}
