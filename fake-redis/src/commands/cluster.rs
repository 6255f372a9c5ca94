use crate::protocol::error::{CommandError, CommandResult};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

const ANY: Flags = Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::STALE).union(Flags::LOADING);
const MODE: Flags = Flags::FAST.union(Flags::LOADING).union(Flags::STALE);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("cluster", -2, ANY, Keys::NONE, refuse),
    Command::new("asking", 1, MODE, Keys::NONE, refuse),
    Command::new("readonly", 1, MODE, Keys::NONE, refuse),
    Command::new("readwrite", 1, MODE, Keys::NONE, refuse),
];

fn refuse(_: &mut Call<'_>) -> CommandResult {
    Err(CommandError::fixed("ERR This instance has cluster support disabled"))
}
