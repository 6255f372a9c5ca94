//! The COMMAND command. COMMAND DOCS lists only names, without summaries.

use crate::config::RedisVersion;
use crate::protocol::error::CommandResult;
use crate::protocol::reply::Reply;
use crate::state::command_info::Flags;
use crate::state::server::{Call, Command, Server};

const INFO_FLAGS: Flags = Flags::LOADING.union(Flags::STALE);

pub(crate) static COMMANDS: &[Command] = &[Command::container(
    "command",
    &[
        Command::sub("command|count", 2, INFO_FLAGS, count),
        Command::sub("command|docs", -2, INFO_FLAGS, docs).since(RedisVersion::V7_0),
        Command::sub("command|info", -2, INFO_FLAGS, info),
    ],
)
.runs(-1, INFO_FLAGS, everything)];

/// Describes a command. Before 7.0, Redis reports neither hints nor subcommands.
fn write_one(reply: &mut Reply, command: &Command, version: RedisVersion) {
    let is_old = version < RedisVersion::V7_0;
    reply.array(if is_old { 7 } else { 10 });
    reply.bulk(command.full_name.as_bytes());
    reply.integer(i64::from(command.arity(version)));
    let told = command.flags(version) - Flags::MAY_REPLICATE;
    reply.set(told.iter_names().count());
    told.iter_names().for_each(|(name, _)| reply.status(&name.to_ascii_lowercase()));
    reply.integer(i64::from(command.keys.first));
    reply.integer(i64::from(command.keys.last));
    reply.integer(i64::from(command.keys.step));
    reply.set(0);
    if is_old {
        return;
    }
    reply.array(0);
    reply.array(0);
    let known = command.subcommands.iter().filter(|subcommand| subcommand.since <= version);
    reply.array(known.clone().count());
    known.for_each(|subcommand| write_one(reply, subcommand, version));
}

fn all(server: &Server) -> Vec<&'static Command> {
    server.commands.table.all().filter(|command| server.has(command)).collect()
}

fn everything(call: &mut Call<'_>) -> CommandResult {
    let (commands, version) = (all(call.server), call.server.config.version);
    call.reply.array(commands.len());
    commands.into_iter().for_each(|command| write_one(call.reply, command, version));
    Ok(())
}

fn named(server: &Server, name: &[u8]) -> Option<&'static Command> {
    let mut parts = name.splitn(2, |byte| *byte == b'|');
    let container = server.commands.table.find(parts.next()?)?;
    let command = match parts.next() {
        Some(_) if server.config.version < RedisVersion::V7_0 => return None,
        Some(subcommand) => container.subcommand(subcommand)?,
        None => container,
    };
    (server.has(container) && server.has(command)).then_some(command)
}

fn info(call: &mut Call<'_>) -> CommandResult {
    if call.args.len() == 2 {
        return everything(call);
    }
    let names = call.args.from(2).iter();
    let version = call.server.config.version;
    call.reply.array(names.len());
    for name in names {
        match named(call.server, name) {
            Some(command) => write_one(call.reply, command, version),
            None if version < RedisVersion::V7_0 => call.reply.null(),
            None => call.reply.null_array(),
        }
    }
    Ok(())
}

fn docs(call: &mut Call<'_>) -> CommandResult {
    let commands: Vec<&Command> = match call.args.len() {
        2 => all(call.server),
        _ => call.args.from(2).iter().filter_map(|name| named(call.server, name)).collect(),
    };
    call.reply.map(commands.len());
    for command in commands {
        call.reply.bulk(command.full_name.as_bytes());
        call.reply.map(0);
    }
    Ok(())
}

fn count(call: &mut Call<'_>) -> CommandResult {
    call.reply.count(all(call.server).len());
    Ok(())
}
