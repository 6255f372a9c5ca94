//! Commands about the connection itself. Must never know keys.

use crate::command::{Call, Command, Flags, Keys};
use crate::error::{CommandResult, DB_OUT_OF_RANGE, NOT_AN_INTEGER};
use crate::number::parse_integer;
use crate::reply::Protocol;

const ALWAYS: Flags = Flags::LOADING.and(Flags::STALE).and(Flags::FAST);

/// The rows of this family.
pub(crate) static COMMANDS: &[Command] = &[
    Command::new("ping", -1, Flags::FAST, Keys::NONE, ping),
    Command::new("echo", 2, ALWAYS, Keys::NONE, echo),
    Command::new("select", 2, ALWAYS, Keys::NONE, select),
    Command::new("quit", -1, ALWAYS.and(Flags::NOSCRIPT).and(Flags::NO_AUTH).and(Flags::ALLOW_BUSY), Keys::NONE, quit),
];

fn ping(call: &mut Call<'_>) -> CommandResult {
    if call.args.len() > 2 {
        return Err(crate::error::CommandError::fixed("ERR wrong number of arguments for 'ping' command"));
    }
    let is_listening = call.client().subscriptions.any();
    if is_listening && call.reply.protocol == Protocol::Resp2 {
        call.reply.array(2);
        call.reply.bulk(b"pong");
        call.reply.bulk(if call.args.len() == 2 { call.arg(1) } else { b"" });
    } else if call.args.len() == 2 {
        call.reply.bulk(call.arg(1));
    } else {
        call.reply.status("PONG");
    }
    Ok(())
}

fn echo(call: &mut Call<'_>) -> CommandResult {
    call.reply.bulk(call.arg(1));
    Ok(())
}

fn select(call: &mut Call<'_>) -> CommandResult {
    let number = parse_integer(call.arg(1)).ok_or(NOT_AN_INTEGER)?;
    let known = usize::try_from(number).ok().filter(|db| *db < call.server.keyspace.databases());
    call.client().db = known.ok_or(DB_OUT_OF_RANGE)?;
    call.reply.ok();
    Ok(())
}

fn quit(call: &mut Call<'_>) -> CommandResult {
    call.client().closing = true;
    call.reply.ok();
    Ok(())
}
