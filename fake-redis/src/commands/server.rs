use super::connection::database_number;
use crate::data::number::parse_integer;
use crate::protocol::error::{CommandError, CommandResult, DB_OUT_OF_RANGE, SYNTAX};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};
use fencepost_machine::KeyChange;

const ALWAYS: Flags = Flags::LOADING.union(Flags::STALE);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("time", 1, ALWAYS.union(Flags::FAST), Keys::NONE, time),
    Command::new("dbsize", 1, Flags::READONLY.union(Flags::FAST), Keys::NONE, dbsize),
    Command::new("role", 1, ALWAYS.union(Flags::NOSCRIPT).union(Flags::FAST), Keys::NONE, role),
    Command::new("flushdb", -1, Flags::WRITE, Keys::NONE, flushdb),
    Command::new("flushall", -1, Flags::WRITE, Keys::NONE, flushall),
    Command::new("swapdb", 3, Flags::WRITE.union(Flags::FAST), Keys::NONE, swapdb),
    Command::new("lolwut", -1, Flags::READONLY.union(Flags::FAST), Keys::NONE, lolwut),
];

fn time(call: &mut Call<'_>) -> CommandResult {
    let micros = call.server.clock.now.0;
    call.reply.array(2);
    call.reply.bulk(itoa::Buffer::new().format(micros.div_euclid(1_000_000)).as_bytes());
    call.reply.bulk(itoa::Buffer::new().format(micros.rem_euclid(1_000_000)).as_bytes());
    Ok(())
}

fn dbsize(call: &mut Call<'_>) -> CommandResult {
    call.reply.count(call.server.database(call.db).len());
    Ok(())
}

fn role(call: &mut Call<'_>) -> CommandResult {
    call.server.write_role(call.reply);
    Ok(())
}

fn lolwut(call: &mut Call<'_>) -> CommandResult {
    let text = format!("Redis ver. {}\n", call.server.config.version.text());
    call.reply.verbatim(b"txt", text.as_bytes());
    Ok(())
}

fn check_flush_options(call: &Call<'_>) -> CommandResult {
    let is_known = call.args.len() == 1
        || call.args.len() == 2 && (call.args.is(1, "sync") || call.args.is(1, "async"));
    if is_known { Ok(()) } else { Err(SYNTAX) }
}

fn flushdb(call: &mut Call<'_>) -> CommandResult {
    check_flush_options(call)?;
    call.server.empty_database(call.db, KeyChange::Flushed);
    // As in Redis, propagate FLUSHDB of an empty database too.
    call.server.changes.unsaved += 1;
    call.reply.ok();
    Ok(())
}

fn flushall(call: &mut Call<'_>) -> CommandResult {
    check_flush_options(call)?;
    for db in 0..call.server.keyspace.databases() {
        call.server.empty_database(db, KeyChange::Flushed);
    }
    call.server.changes.unsaved += 1;
    call.reply.ok();
    Ok(())
}

fn swapdb(call: &mut Call<'_>) -> CommandResult {
    let is_small = |number: &i64| i32::try_from(*number).is_ok();
    let invalid = |which: &str| CommandError::text(format!("ERR invalid {which} DB index"));
    parse_integer(call.arg(1)).filter(is_small).ok_or_else(|| invalid("first"))?;
    parse_integer(call.arg(2)).filter(is_small).ok_or_else(|| invalid("second"))?;
    let one = database_number(call, call.arg(1)).map_err(|_| DB_OUT_OF_RANGE)?;
    let other = database_number(call, call.arg(2)).map_err(|_| DB_OUT_OF_RANGE)?;
    call.server.swap_databases(one, other);
    call.server.changes.unsaved += 1;
    call.reply.ok();
    Ok(())
}
