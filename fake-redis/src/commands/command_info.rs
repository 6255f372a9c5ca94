//! The COMMAND command. Its DOCS subcommand lists only names, without summaries.

use crate::protocol::error::CommandResult;
use crate::protocol::reply::Reply;
use crate::state::command_info::Flags;
use crate::state::server::{Call, Command, Table};

const INFO_FLAGS: Flags = Flags::LOADING.union(Flags::STALE);

pub(crate) static COMMANDS: &[Command] = &[Command::container(
    "command",
    &[
        Command::sub("command|count", 2, INFO_FLAGS, count),
        Command::sub("command|docs", -2, INFO_FLAGS, docs),
        Command::sub("command|info", -2, INFO_FLAGS, info),
    ],
)
.runs(-1, INFO_FLAGS, everything)];

fn write_one(reply: &mut Reply, command: &Command) {
    reply.array(10);
    reply.bulk(command.full_name.as_bytes());
    reply.integer(i64::from(command.arity));
    let told = command.flags - Flags::MAY_REPLICATE;
    reply.set(told.iter_names().count());
    told.iter_names().for_each(|(name, _)| reply.status(&name.to_ascii_lowercase()));
    reply.integer(i64::from(command.keys.first));
    reply.integer(i64::from(command.keys.last));
    reply.integer(i64::from(command.keys.step));
    reply.set(0);
    reply.array(0);
    reply.array(0);
    reply.array(command.subcommands.len());
    command.subcommands.iter().for_each(|subcommand| write_one(reply, subcommand));
}

fn everything(call: &mut Call<'_>) -> CommandResult {
    let commands = call.server.commands.table().all();
    call.reply.array(commands.len());
    commands.for_each(|command| write_one(call.reply, command));
    Ok(())
}

fn named(table: &Table, name: &[u8]) -> Option<&'static Command> {
    let mut parts = name.splitn(2, |byte| *byte == b'|');
    let command = table.find(parts.next()?)?;
    parts.next().map_or(Some(command), |subcommand| command.subcommand(subcommand))
}

fn info(call: &mut Call<'_>) -> CommandResult {
    if call.args.len() == 2 {
        return everything(call);
    }
    let names = call.args.from(2).iter();
    call.reply.array(names.len());
    for name in names {
        match named(call.server.commands.table(), name) {
            Some(command) => write_one(call.reply, command),
            None => call.reply.null_array(),
        }
    }
    Ok(())
}

fn docs(call: &mut Call<'_>) -> CommandResult {
    let table = call.server.commands.table();
    let commands: Vec<&Command> = match call.args.len() {
        2 => table.all().collect(),
        _ => call.args.from(2).iter().filter_map(|name| named(table, name)).collect(),
    };
    call.reply.map(commands.len());
    for command in commands {
        call.reply.bulk(command.full_name.as_bytes());
        call.reply.map(0);
    }
    Ok(())
}

fn count(call: &mut Call<'_>) -> CommandResult {
    call.reply.count(call.server.commands.table().all().len());
    Ok(())
}
