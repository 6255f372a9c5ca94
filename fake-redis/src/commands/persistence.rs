use crate::protocol::error;
use crate::protocol::error::CommandResult;
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

const ADMIN: Flags = Flags::ADMIN.union(Flags::NOSCRIPT);

pub(super) static COMMANDS: &[Command] = &[
    Command::new("save", 1, ADMIN.union(Flags::NO_MULTI), Keys::NONE, save),
    Command::new("bgsave", -1, ADMIN, Keys::NONE, bgsave),
    Command::new("bgrewriteaof", 1, ADMIN, Keys::NONE, bgrewriteaof),
    Command::new(
        "lastsave",
        1,
        Flags::LOADING.union(Flags::STALE).union(Flags::FAST),
        Keys::NONE,
        lastsave,
    ),
];

fn save(call: &mut Call<'_>) -> CommandResult {
    call.server.save();
    call.reply.ok();
    Ok(())
}

fn bgsave(call: &mut Call<'_>) -> CommandResult {
    match call.args.len() {
        1 => {}
        2 if call.args.is(1, "schedule") => {}
        _ => return Err(error::SYNTAX),
    }
    call.server.save();
    call.reply.status("Background saving started");
    Ok(())
}

fn bgrewriteaof(call: &mut Call<'_>) -> CommandResult {
    if call.server.persistence.wants_stream() {
        call.server.rewrite_append_only();
    }
    call.reply.status("Background append only file rewriting started");
    Ok(())
}

fn lastsave(call: &mut Call<'_>) -> CommandResult {
    call.reply.integer(call.server.last_save());
    Ok(())
}
