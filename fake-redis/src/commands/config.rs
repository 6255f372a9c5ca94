//! CONFIG: reading and changing how the server is set up.

use super::help;
use crate::config::events::EventClasses;
use crate::config::parameters::Refusal;
use crate::config::{NodeConfig, file, parameters};
use crate::data::glob;
use crate::data::number::c_string;
use crate::protocol::error::{CommandError, CommandResult};
use crate::state::command_info::Flags;
use crate::state::server::{Call, Command, Server};
use crate::state::statistics::Statistics;
use fencepost_machine::Output;

const ADMIN: Flags = Flags::ADMIN.and(Flags::NOSCRIPT).and(Flags::LOADING).and(Flags::STALE);

/// The rows of this family.
pub(crate) static COMMANDS: &[Command] = &[Command::container(
    "config",
    &[
        Command::sub("config|get", -3, ADMIN, get),
        Command::sub("config|help", 2, Flags::LOADING.and(Flags::STALE), show_help),
        Command::sub("config|resetstat", 2, ADMIN, resetstat),
        Command::sub("config|rewrite", 2, ADMIN, rewrite),
        Command::sub("config|set", -4, ADMIN, set),
    ],
)];

fn get(call: &mut Call<'_>) -> CommandResult {
    let patterns: Vec<Vec<u8>> = call.args.from(2).iter().map(<[u8]>::to_ascii_lowercase).collect();
    let is_asked =
        |name: &str| patterns.iter().any(|pattern| glob::matches(pattern, name.as_bytes()));
    let server = &*call.server;
    let mut found: Vec<(&str, String)> = Vec::new();
    for parameter in parameters::ALL {
        for name in parameter.names.iter().filter(|name| is_asked(name)) {
            found.push((name, (parameter.show)(&server.config)));
        }
    }
    let kept = server.settings.iter().filter(|(name, _)| is_asked(name));
    found.extend(kept.map(|(name, value)| (name, value.to_owned())));
    call.reply.map(found.len());
    for (name, value) in found {
        call.reply.bulk(name.as_bytes());
        call.reply.bulk(value.as_bytes());
    }
    Ok(())
}

/// All or nothing, as `configSetCommand` in config.c.
fn set(call: &mut Call<'_>) -> CommandResult {
    if !call.args.len().is_multiple_of(2) {
        return Err(CommandError::fixed("ERR wrong number of arguments for 'config|set' command"));
    }
    let before = (call.server.config.clone(), call.server.settings.clone());
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for (name, value) in call.args.from(2).pairs() {
        let lower = name.to_ascii_lowercase();
        let result = if seen.contains(&lower) {
            Err(Refusal::because("duplicate parameter"))
        } else {
            set_one(call.server, &lower, value)
        };
        if let Err(refusal) = result {
            (call.server.config, call.server.settings) = before;
            return Err(refused(name, refusal));
        }
        seen.push(lower);
    }
    let events = EventClasses::parse(call.server.config.notify_keyspace_events.as_bytes())
        .unwrap_or_default();
    call.server.events = events;
    call.server.follow_persistence_config();
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

fn set_one(server: &mut Server, name: &[u8], value: &[u8]) -> Result<(), Refusal> {
    let name = std::str::from_utf8(name).map_err(|_| Refusal::Unknown)?;
    let value = std::str::from_utf8(value).map_err(|_| Refusal::because("argument is not text"))?;
    if let Some(parameter) = parameters::find(name) {
        return parameter.change.apply(&mut server.config, value);
    }
    server.settings.set(name, value)
}

fn resetstat(call: &mut Call<'_>) -> CommandResult {
    call.server.statistics = Statistics::default();
    call.reply.ok();
    Ok(())
}

/// `rewriteConfig`: what was set stays set after a restart, and so does the role
/// (`rewriteConfigReplicaOfOption`).
fn rewrite(call: &mut Call<'_>) -> CommandResult {
    let server = &mut *call.server;
    if !server.config.has_config_file {
        return Err(CommandError::fixed("ERR The server is running without a config file"));
    }
    let config =
        NodeConfig { replica_of: server.replication.primary.clone(), ..server.config.clone() };
    server.outputs.list.push(Output::DiskConfig { config: file::write(&config) });
    call.reply.ok();
    Ok(())
}

fn show_help(call: &mut Call<'_>) -> CommandResult {
    const HELP: &[&str] = &[
        "CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "GET <pattern>",
        "    Return parameters matching the glob-like <pattern> and their values.",
        "SET <directive> <value>",
        "    Set the configuration <directive> to <value>.",
        "RESETSTAT",
        "    Reset statistics reported by the INFO command.",
        "REWRITE",
        "    Rewrite the configuration file.",
    ];
    help::write(call, HELP);
    Ok(())
}
