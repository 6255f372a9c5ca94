use crate::config::RedisVersion;
use crate::protocol::error::{CommandResult, SYNTAX};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

const QUERY_FLAGS: Flags = Flags::NOSCRIPT;

pub(crate) static COMMANDS: &[Command] = &[Command::container(
    "function",
    &[
        Command::sub("function|flush", -2, Flags::WRITE.union(Flags::NOSCRIPT), flush)
            .with_keys(Keys::NONE),
        Command::sub("function|list", -2, QUERY_FLAGS, list),
    ],
)
.since(RedisVersion::V7_0)];

fn flush(call: &mut Call<'_>) -> CommandResult {
    let is_known = call.args.len() == 2
        || call.args.len() == 3 && (call.args.is(2, "sync") || call.args.is(2, "async"));
    if !is_known {
        return Err(SYNTAX);
    }
    call.reply.ok();
    Ok(())
}

fn list(call: &mut Call<'_>) -> CommandResult {
    call.reply.array(0);
    Ok(())
}
