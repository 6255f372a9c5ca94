//! Transactions: MULTI queues commands, and EXEC runs all of them or none, without rollback.

use crate::protocol::error::{CommandError, CommandResult, EXEC_ABORT};
use crate::state::client::Ending;
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command, Effect};

const CONTROL: Flags = Flags::NOSCRIPT
    .union(Flags::LOADING)
    .union(Flags::STALE)
    .union(Flags::FAST)
    .union(Flags::ALLOW_BUSY);
const EXEC: Flags =
    Flags::NOSCRIPT.union(Flags::LOADING).union(Flags::STALE).union(Flags::SKIP_SLOWLOG);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("multi", 1, CONTROL, Keys::NONE, multi),
    Command::new("exec", 1, EXEC, Keys::NONE, exec),
    Command::new("discard", 1, CONTROL, Keys::NONE, discard),
    Command::new("watch", -2, CONTROL, Keys::ALL, watch),
    Command::new("unwatch", 1, CONTROL, Keys::NONE, unwatch),
];

fn multi(call: &mut Call<'_>) -> CommandResult {
    if !call.client().transaction.open() {
        return Err(CommandError::fixed("ERR MULTI calls can not be nested"));
    }
    call.reply.ok();
    Ok(())
}

fn discard(call: &mut Call<'_>) -> CommandResult {
    if !call.client().transaction.is_open() {
        return Err(CommandError::fixed("ERR DISCARD without MULTI"));
    }
    call.server.discard_transaction(call.client);
    call.reply.ok();
    Ok(())
}

fn watch(call: &mut Call<'_>) -> CommandResult {
    if call.client().transaction.is_open() {
        return Err(CommandError::fixed("ERR WATCH inside MULTI is not allowed"));
    }
    call.args.from(1).iter().for_each(|key| call.server.watch(call.client, call.db, key));
    call.reply.ok();
    Ok(())
}

fn unwatch(call: &mut Call<'_>) -> CommandResult {
    call.server.unwatch(call.client);
    call.reply.ok();
    Ok(())
}

fn exec(call: &mut Call<'_>) -> CommandResult {
    let key = call.client;
    if !call.client().transaction.is_open() {
        return Err(CommandError::fixed("ERR EXEC without MULTI"));
    }
    if call.server.has_expired_watch(key) {
        call.client().transaction.has_failed_watch = true;
    }
    let ending = call.client().transaction.end();
    call.server.unwatch(key);
    let queue = match ending {
        Ending::Invalid => return Err(EXEC_ABORT),
        Ending::WatchFailed => {
            call.reply.null_array();
            return Ok(());
        }
        Ending::Execute(queue) => queue,
    };
    call.effect = Effect::Replaced;
    call.reply.array(queue.len());
    for queued in &queue {
        if call.server.life.is_over {
            break;
        }
        let args = queued.as_args();
        if let Some(command) = call.server.find_command(args) {
            call.server.execute(key, command, args, call.reply);
        }
    }
    Ok(())
}
