//! The SCRIPT, EVAL and EVALSHA commands (eval.c).

use crate::config::RedisVersion;
use crate::data::number::parse_integer;
use crate::protocol::error::{CommandError, CommandResult, NO_SCRIPT, NOT_AN_INTEGER};
use crate::state::command_info::{Flags, Keys};
use crate::state::scripts::Sha;
use crate::state::server::{Call, Command};

const RUN: Flags = Flags::NOSCRIPT
    .union(Flags::SKIP_MONITOR)
    .union(Flags::STALE)
    .union(Flags::NO_MANDATORY_KEYS)
    .union(Flags::MOVABLEKEYS);
const WRITING: Flags = RUN.union(Flags::MAY_REPLICATE);
const READING: Flags = RUN.union(Flags::READONLY);
const WRITING_BEFORE_7_0: Flags = WRITING.difference(Flags::STALE);

pub(crate) static COMMANDS: &[Command] =
    &[
        Command::new("eval", -3, WRITING, Keys::NONE, |call| eval(call, Access::Write)).before(
            RedisVersion::V7_0,
            -3,
            WRITING_BEFORE_7_0,
        ),
        Command::new("evalsha", -3, WRITING, Keys::NONE, |call| evalsha(call, Access::Write))
            .before(RedisVersion::V7_0, -3, WRITING_BEFORE_7_0),
        Command::new("eval_ro", -3, READING, Keys::NONE, |call| eval(call, Access::Read))
            .since(RedisVersion::V7_0),
        Command::new("evalsha_ro", -3, READING, Keys::NONE, |call| evalsha(call, Access::Read))
            .since(RedisVersion::V7_0),
        Command::container(
            "script",
            &[
                Command::sub("script|exists", -3, Flags::NOSCRIPT, exists),
                Command::sub("script|flush", -2, Flags::NOSCRIPT, flush),
                Command::sub("script|kill", 2, Flags::NOSCRIPT.union(Flags::ALLOW_BUSY), kill),
                Command::sub("script|load", 3, Flags::NOSCRIPT.union(Flags::STALE), load).before(
                    RedisVersion::V7_0,
                    3,
                    Flags::NOSCRIPT,
                ),
            ],
        ),
    ];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

fn number_of_keys(call: &Call<'_>) -> Result<usize, CommandError> {
    let count = parse_integer(call.arg(2)).ok_or(NOT_AN_INTEGER)?;
    if count > call.args.len() as i64 - 3 {
        return Err(CommandError::fixed("ERR Number of keys can't be greater than number of args"));
    }
    usize::try_from(count).map_err(|_| CommandError::fixed("ERR Number of keys can't be negative"))
}

fn eval(call: &mut Call<'_>, access: Access) -> CommandResult {
    let keys = number_of_keys(call)?;
    let sha = call.load_script(call.arg(1))?;
    call.run_script(sha, keys, access == Access::Read)
}

fn evalsha(call: &mut Call<'_>, access: Access) -> CommandResult {
    // As in Redis, refuse a SHA-1 of the wrong length before parsing the number of keys.
    let mut sha: Sha = call.arg(1).try_into().map_err(|_| NO_SCRIPT)?;
    sha.make_ascii_lowercase();
    let keys = number_of_keys(call)?;
    call.run_script(sha, keys, access == Access::Read)
}

fn load(call: &mut Call<'_>) -> CommandResult {
    let sha = call.load_script(call.arg(2))?;
    call.reply.bulk(&sha);
    propagate_before_7(call);
    Ok(())
}

fn exists(call: &mut Call<'_>) -> CommandResult {
    let shas = call.args.from(2).iter();
    call.reply.array(shas.len());
    shas.for_each(|sha| call.reply.integer(i64::from(call.server.scripts.get(sha).is_some())));
    Ok(())
}

fn flush(call: &mut Call<'_>) -> CommandResult {
    let is_known = call.args.len() == 2
        || call.args.len() == 3 && (call.args.is(2, "sync") || call.args.is(2, "async"));
    if !is_known {
        return Err(CommandError::fixed("ERR SCRIPT FLUSH only support SYNC|ASYNC option"));
    }
    call.server.scripts.clear();
    call.reply.ok();
    propagate_before_7(call);
    Ok(())
}

/// Before 7.0, propagates the command (SCRIPT LOAD or SCRIPT FLUSH).
fn propagate_before_7(call: &mut Call<'_>) {
    if call.server.config.version < RedisVersion::V7_0 {
        let parts: Vec<&[u8]> = call.args.iter().collect();
        call.replace_effect(&parts);
    }
}

fn kill(call: &mut Call<'_>) -> CommandResult {
    const SENT_BY_PRIMARY: &str = "UNKILLABLE The busy script was sent by a master instance in \
     the context of \
                                   replication and cannot be killed.";
    const HAS_WRITTEN: &str = "UNKILLABLE Sorry the script already executed write commands \
     against the dataset. You can \
                               either wait the script termination or kill the server in a hard \
                               way using the SHUTDOWN \
                               NOSAVE command.";
    let Some(busy) = call.server.long_script.running else {
        return Err(CommandError::fixed("NOTBUSY No scripts in execution right now."));
    };
    if call.server.client(busy.caller).role.must_be_obeyed() {
        return Err(CommandError::fixed(SENT_BY_PRIMARY));
    }
    if busy.has_written {
        return Err(CommandError::fixed(HAS_WRITTEN));
    }
    call.server.long_script.kill();
    call.reply.ok();
    Ok(())
}
