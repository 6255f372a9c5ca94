//! Commands for a client's own connection, such as AUTH, HELLO, SELECT and RESET.

use crate::config::RedisVersion;
use crate::data::number::parse_integer;
use crate::protocol::error::{
    CommandError, CommandResult, DB_OUT_OF_RANGE, NOT_AN_INTEGER, SYNTAX,
};
use crate::protocol::reply::Protocol;
use crate::state::client::Client;
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

const ALWAYS: Flags = Flags::LOADING.union(Flags::STALE).union(Flags::FAST);
const BEFORE_AUTH: Flags =
    ALWAYS.union(Flags::NOSCRIPT).union(Flags::NO_AUTH).union(Flags::ALLOW_BUSY);

const WRONG_PASSWORD: CommandError =
    CommandError::fixed("WRONGPASS invalid username-password pair or user is disabled.");
const NO_PASSWORD_SET: CommandError = CommandError::fixed(
    "ERR AUTH <password> called without any password configured for the default user. \
     Are you sure your configuration is correct?",
);
pub(crate) const BAD_NAME: CommandError =
    CommandError::fixed("ERR Client names cannot contain spaces, newlines or special characters.");

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("ping", -1, Flags::FAST, Keys::NONE, ping),
    Command::new("echo", 2, Flags::FAST, Keys::NONE, echo),
    Command::new("select", 2, ALWAYS, Keys::NONE, select),
    Command::new("auth", -2, BEFORE_AUTH, Keys::NONE, auth),
    Command::new("hello", -1, BEFORE_AUTH, Keys::NONE, hello),
    Command::new("quit", -1, BEFORE_AUTH, Keys::NONE, quit),
    Command::new("reset", 1, BEFORE_AUTH, Keys::NONE, reset),
    Command::new("post", -1, ALWAYS, Keys::NONE, hang_up),
    Command::new("host:", -1, ALWAYS, Keys::NONE, hang_up),
];

fn ping(call: &mut Call<'_>) -> CommandResult {
    if call.args.len() > 2 {
        return Err(CommandError::fixed("ERR wrong number of arguments for 'ping' command"));
    }
    if call.client().is_only_listening() {
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

pub(crate) fn database_number(call: &Call<'_>, argument: &[u8]) -> Result<usize, CommandError> {
    const NO_INT: CommandError = CommandError::fixed(
        "ERR value is out of range, value must between -2147483648 and 2147483647",
    );
    let number = parse_integer(argument).ok_or(NOT_AN_INTEGER)?;
    i32::try_from(number).map_err(|_| NO_INT)?;
    let known = usize::try_from(number).ok().filter(|db| *db < call.server.keyspace.databases());
    known.ok_or(DB_OUT_OF_RANGE)
}

fn select(call: &mut Call<'_>) -> CommandResult {
    let db = database_number(call, call.arg(1))?;
    call.client().db = db;
    call.reply.ok();
    Ok(())
}

fn authenticate(call: &mut Call<'_>, user: &[u8], password: &[u8]) -> CommandResult {
    let is_right = call.server.config.requirepass.as_ref().is_none_or(|right| right == password);
    if user != b"default" || !is_right {
        return Err(WRONG_PASSWORD);
    }
    call.client().authenticated = true;
    Ok(())
}

fn auth(call: &mut Call<'_>) -> CommandResult {
    match call.args.len() {
        2 if call.server.config.requirepass.is_none() => return Err(NO_PASSWORD_SET),
        2 => authenticate(call, b"default", call.arg(1))?,
        3 => authenticate(call, call.arg(1), call.arg(2))?,
        _ => return Err(SYNTAX),
    }
    call.reply.ok();
    Ok(())
}

pub(crate) fn is_valid_name(name: &[u8]) -> bool {
    name.iter().all(u8::is_ascii_graphic)
}

fn hello(call: &mut Call<'_>) -> CommandResult {
    let version = call.args.iter().nth(1).map(parse_integer);
    let protocol = match version {
        None => None,
        Some(None) => {
            return Err(CommandError::fixed(
                "ERR Protocol version is not an integer or out of range",
            ));
        }
        Some(Some(2)) => Some(Protocol::Resp2),
        Some(Some(3)) => Some(Protocol::Resp3),
        Some(Some(_)) => return Err(CommandError::fixed("NOPROTO unsupported protocol version")),
    };
    let name = hello_options(call)?;
    if call.server.config.requirepass.is_some() && !call.client().authenticated {
        return Err(hello_needs_auth(call.server.config.version));
    }
    let client = call.client();
    if let Some(name) = name {
        client.name = name.to_vec();
    }
    client.protocol = protocol.unwrap_or(client.protocol);
    call.reply.protocol = client.protocol;
    write_greeting(call);
    Ok(())
}

fn hello_needs_auth(version: RedisVersion) -> CommandError {
    let protocol = if version < RedisVersion::V7_2 { "" } else { "<proto> " };
    CommandError::text(format!(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO \
         {protocol}AUTH <user> <pass> option can be used to authenticate the client and select \
         the RESP protocol version at the same time"
    ))
}

fn hello_options<'a>(call: &mut Call<'a>) -> Result<Option<&'a [u8]>, CommandError> {
    let (mut credentials, mut name, mut index) = (None, None, 2);
    while index < call.args.len() {
        let following = call.args.len() - 1 - index;
        if call.args.is(index, "auth") && following >= 2 {
            credentials = Some((call.arg(index + 1), call.arg(index + 2)));
            index += 3;
        } else if call.args.is(index, "setname") && following >= 1 {
            name = Some(call.arg(index + 1)).filter(|name| is_valid_name(name));
            name.ok_or(BAD_NAME)?;
            index += 2;
        } else {
            let option = String::from_utf8_lossy(call.arg(index));
            return Err(CommandError::text(format!("ERR Syntax error in HELLO option '{option}'")));
        }
    }
    if let Some((user, password)) = credentials {
        authenticate(call, user, password)?;
    }
    Ok(name)
}

fn write_greeting(call: &mut Call<'_>) {
    let id = call.client().id;
    let protocol = if call.reply.protocol == Protocol::Resp3 { 3 } else { 2 };
    let role: &[u8] = if call.server.is_replica() { b"replica" } else { b"master" };
    let version = call.server.config.version.text();
    let reply = &mut *call.reply;
    reply.map(7);
    for (name, value) in [("server", "redis"), ("version", version)] {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    reply.bulk(b"proto");
    reply.integer(protocol);
    reply.bulk(b"id");
    reply.integer(id as i64);
    reply.bulk(b"mode");
    reply.bulk(b"standalone");
    reply.bulk(b"role");
    reply.bulk(role);
    reply.bulk(b"modules");
    reply.array(0);
}

fn quit(call: &mut Call<'_>) -> CommandResult {
    call.client().service.close();
    call.reply.ok();
    Ok(())
}

/// Closes the connection of an HTTP client, because an HTTP request may contain Redis commands.
fn hang_up(call: &mut Call<'_>) -> CommandResult {
    call.client().service.close();
    Ok(())
}

fn reset(call: &mut Call<'_>) -> CommandResult {
    let key = call.client;
    call.server.discard_transaction(key);
    call.server.unsubscribe_all(key);
    let needs_password = call.server.config.requirepass.is_some();
    let client: &mut Client = call.client();
    client.reset(!needs_password);
    call.reply.protocol = Protocol::Resp2;
    call.reply.status("RESET");
    Ok(())
}
