use crate::config::parameters::Refusal;
use crate::config::{NodeConfig, file};
use crate::data::glob;
use crate::data::number::c_string;
use crate::protocol::error::{CommandError, CommandResult};
use crate::state::command_info::Flags;
use crate::state::server::{Call, Command};
use fencepost_machine::Output;

const ADMIN: Flags = Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::LOADING).union(Flags::STALE);

pub(crate) static COMMANDS: &[Command] = &[Command::container(
    "config",
    &[
        Command::sub("config|get", -3, ADMIN, get),
        Command::sub("config|resetstat", 2, ADMIN, resetstat),
        Command::sub("config|rewrite", 2, ADMIN, rewrite),
        Command::sub("config|set", -4, ADMIN, set),
    ],
)];

fn get(call: &mut Call<'_>) -> CommandResult {
    let patterns: Vec<Vec<u8>> = call.args.from(2).iter().map(<[u8]>::to_ascii_lowercase).collect();
    let is_asked =
        |name: &str| patterns.iter().any(|pattern| glob::matches(pattern, name.as_bytes()));
    let parameters = call.server.config.parameters();
    let found: Vec<(&str, String)> = parameters.filter(|(name, _)| is_asked(name)).collect();
    call.reply.map(found.len());
    for (name, value) in found {
        call.reply.bulk(name.as_bytes());
        call.reply.bulk(value.as_bytes());
    }
    Ok(())
}

/// Sets all parameters or none (`configSetCommand` in config.c).
fn set(call: &mut Call<'_>) -> CommandResult {
    if !call.args.len().is_multiple_of(2) {
        return Err(CommandError::fixed("ERR wrong number of arguments for 'config|set' command"));
    }
    let changed = call.server.config.set(call.args.from(2).pairs());
    changed.map_err(|(name, refusal)| refused(name, refusal))?;
    call.server.follow_persistence_config();
    call.server.count_good_replicas();
    call.server.free_memory();
    call.reply.ok();
    Ok(())
}

fn refused(name: &[u8], refusal: Refusal) -> CommandError {
    let name = c_string(name);
    match refusal {
        Refusal::Unknown => CommandError::text(
            [b"ERR Unknown option or number of arguments for CONFIG SET - '", name, b"'"].concat(),
        ),
        Refusal::Because(why) => {
            let start: &[u8] = b"ERR CONFIG SET failed (possibly related to argument '";
            CommandError::text([start, name, b"') - ", why.as_bytes()].concat())
        }
    }
}

fn resetstat(call: &mut Call<'_>) -> CommandResult {
    call.server.statistics.reset();
    call.reply.ok();
    Ok(())
}

fn rewrite(call: &mut Call<'_>) -> CommandResult {
    let server = &mut *call.server;
    if !server.config.has_config_file {
        return Err(CommandError::fixed("ERR The server is running without a config file"));
    }
    let config =
        NodeConfig { replica_of: server.replication.primary().cloned(), ..server.config.clone() };
    server.outbox.push_output(Output::DiskConfig { config: file::write(&config) });
    call.reply.ok();
    Ok(())
}
