//! The CLIENT command and its subcommands (networking.c).

use super::connection::{BAD_NAME, is_valid_name};
use crate::config::RedisVersion;
use crate::data::number::parse_integer;
use crate::protocol::error::{
    CommandError, CommandResult, NOT_AN_INTEGER, SYNTAX, TIMEOUT_OUT_OF_RANGE,
};
use crate::protocol::reply::Protocol;
use crate::state::blocking::Unblocking;
use crate::state::client::{Client, ReplyMode, Role};
use crate::state::client_key::ClientKey;
use crate::state::command_info::Flags;
use crate::state::pause::PauseScope;
use crate::state::server::{Call, Command};
use crate::state::subscription::Kind;
use std::fmt::Write;

const PLAIN: Flags = Flags::NOSCRIPT.union(Flags::LOADING).union(Flags::STALE);
const ADMIN: Flags = PLAIN.union(Flags::ADMIN);

pub(crate) static COMMANDS: &[Command] = &[Command::container(
    "client",
    &[
        Command::sub("client|getname", 2, PLAIN, getname),
        Command::sub("client|id", 2, PLAIN, id),
        Command::sub("client|info", 2, PLAIN, info),
        Command::sub("client|kill", -3, ADMIN, kill),
        Command::sub("client|list", -2, ADMIN, list),
        Command::sub("client|no-evict", 3, ADMIN, no_evict).since(RedisVersion::V7_0),
        Command::sub("client|pause", -3, ADMIN, pause),
        Command::sub("client|reply", 3, PLAIN, reply_mode),
        Command::sub("client|setinfo", 4, PLAIN, setinfo).since(RedisVersion::V7_2),
        Command::sub("client|setname", 3, PLAIN, setname),
        Command::sub("client|unblock", -3, ADMIN, unblock),
        Command::sub("client|unpause", 2, ADMIN, unpause),
    ],
)];

fn getname(call: &mut Call<'_>) -> CommandResult {
    let name = call.client().name.clone();
    call.reply.bulk_or_null(Some(&*name).filter(|name| !name.is_empty()));
    Ok(())
}

fn setname(call: &mut Call<'_>) -> CommandResult {
    let name = call.arg(2);
    if !is_valid_name(name) {
        return Err(BAD_NAME);
    }
    call.client().name = name.to_vec();
    call.reply.ok();
    Ok(())
}

fn setinfo(call: &mut Call<'_>) -> CommandResult {
    let value = call.arg(3);
    let attribute = call.arg(2).to_ascii_lowercase();
    if !matches!(&*attribute, b"lib-name" | b"lib-ver") {
        let shown = String::from_utf8_lossy(call.arg(2));
        return Err(CommandError::text(format!("ERR Unrecognized option '{shown}'")));
    }
    if !is_valid_name(value) {
        let name = String::from_utf8_lossy(&attribute);
        let text = format!("ERR {name} cannot contain spaces, newlines or special characters.");
        return Err(CommandError::text(text));
    }
    let client = call.client();
    let slot = if *attribute == *b"lib-name" { &mut client.lib_name } else { &mut client.lib_ver };
    *slot = value.to_vec();
    call.reply.ok();
    Ok(())
}

fn id(call: &mut Call<'_>) -> CommandResult {
    let id = call.client().id;
    call.reply.integer(id as i64);
    Ok(())
}

fn info(call: &mut Call<'_>) -> CommandResult {
    let mut text = describe(call, call.client);
    text.push('\n');
    call.reply.verbatim(b"txt", text.as_bytes());
    Ok(())
}

/// Describes a client, with 0 for sizes that are not modelled (`catClientInfoString`).
fn describe(call: &Call<'_>, key: ClientKey) -> String {
    let server = &*call.server;
    let client = server.client(key);
    let seconds =
        |since: fencepost_machine::WallTime| (server.clock.now.0 - since.0).max(0) / 1_000_000;
    let queued = if client.transaction.is_open() { client.transaction.len() as i64 } else { -1 };
    let listens = client.subscriptions();
    let mut line = String::new();
    let _ = write!(
        line,
        "id={} addr={} laddr={}:{} fd={} name={} age={} idle={} flags={} db={} sub={} psub={} \
         ssub={} multi={queued} ",
        client.id,
        client.peer,
        server.config.host,
        server.config.port,
        key.0 + 4,
        String::from_utf8_lossy(&client.name),
        seconds(client.connected_at),
        seconds(client.active_at),
        flag_letters(client),
        client.db,
        listens.of(Kind::Channel).len(),
        listens.of(Kind::Pattern).len(),
        listens.of(Kind::ShardChannel).len(),
    );
    let _ = write!(
        line,
        "qbuf={} qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem={} tot-mem=0 \
         events=r cmd={} \
         user=default redir=-1 resp={}",
        client.reader.pending(),
        client.output.bytes,
        client.last_command.map_or("NULL", |command| command.full_name),
        if client.protocol == Protocol::Resp3 { 3 } else { 2 },
    );
    if server.config.version >= RedisVersion::V7_2 {
        let (name, version) = (&client.lib_name, &client.lib_ver);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let _ = write!(line, " lib-name={} lib-ver={}", text(name), text(version));
    }
    line
}

fn flag_letters(client: &Client) -> String {
    let marks = [
        (client.role == Role::Replica, 'S'),
        (client.subscriptions().any(), 'P'),
        (client.transaction.is_open(), 'x'),
        (client.service.waits(), 'b'),
        (client.transaction.has_failed_watch, 'd'),
        (client.service.is_closing(), 'c'),
        (client.no_evict, 'e'),
    ];
    let letters: String =
        marks.iter().filter(|(is_set, _)| *is_set).map(|(_, letter)| *letter).collect();
    if letters.is_empty() { String::from("N") } else { letters }
}

fn kind_of(client: &Client) -> &'static str {
    match client.role {
        Role::Replica => "replica",
        Role::Primary => "master",
        _ if client.subscriptions().any() => "pubsub",
        _ => "normal",
    }
}

fn parse_kind(name: &[u8]) -> Result<&'static str, CommandError> {
    let lower = name.to_ascii_lowercase();
    match &*lower {
        b"normal" => Ok("normal"),
        b"slave" | b"replica" => Ok("replica"),
        b"pubsub" => Ok("pubsub"),
        b"master" => Ok("master"),
        _ => Err(CommandError::text([b"ERR Unknown client type '", name, b"'"].concat())),
    }
}

fn connected(call: &Call<'_>) -> Vec<ClientKey> {
    let mut keys: Vec<ClientKey> = call.server.roster.connected().collect();
    keys.sort_by_key(|key| call.server.client(*key).id);
    keys
}

fn list(call: &mut Call<'_>) -> CommandResult {
    let mut keys = connected(call);
    if call.args.len() == 4 && call.args.is(2, "type") {
        let kind = parse_kind(call.arg(3))?;
        keys.retain(|key| kind_of(call.server.client(*key)) == kind);
    } else if call.args.len() > 3 && call.args.is(2, "id") {
        keys = listed_ids(call, &keys)?;
    } else if call.args.len() != 2 {
        return Err(SYNTAX);
    }
    let lines = keys.iter().map(|key| describe(call, *key) + "\n");
    let text: String = lines.collect();
    call.reply.verbatim(b"txt", text.as_bytes());
    Ok(())
}

fn listed_ids(call: &Call<'_>, connected: &[ClientKey]) -> Result<Vec<ClientKey>, CommandError> {
    let mut keys = Vec::new();
    for argument in call.args.from(3).iter() {
        let id = parse_integer(argument).ok_or(CommandError::fixed("ERR Invalid client ID"))?;
        keys.extend(connected.iter().find(|key| call.server.client(**key).id as i64 == id));
    }
    Ok(keys)
}

#[derive(Default)]
struct Filter<'a> {
    id: Option<u64>,
    kind: Option<&'static str>,
    address: Option<&'a [u8]>,
    local_address: Option<&'a [u8]>,
    user: Option<&'a [u8]>,
    keep_me: bool,
}

impl Filter<'_> {
    fn takes(&self, call: &Call<'_>, key: ClientKey) -> bool {
        let client = call.server.client(key);
        let local = format!("{}:{}", call.server.config.host, call.server.config.port);
        self.id.is_none_or(|id| client.id == id)
            && self.kind.is_none_or(|kind| kind_of(client) == kind)
            && self.address.is_none_or(|address| client.peer.as_bytes() == address)
            && self.local_address.is_none_or(|address| local.as_bytes() == address)
            && self.user.is_none_or(|user| user == b"default" && client.authenticated)
            && !(self.keep_me && key == call.client)
    }
}

fn parse_filter<'a>(call: &Call<'a>) -> Result<Filter<'a>, CommandError> {
    let mut filter = Filter { keep_me: true, ..Filter::default() };
    for (option, value) in call.args.from(2).pairs() {
        match &*option.to_ascii_lowercase() {
            b"id" => {
                let id = parse_integer(value).filter(|id| *id > 0);
                filter.id =
                    Some(id.ok_or(CommandError::fixed("ERR client-id should be greater than 0"))?
                        as u64);
            }
            b"type" => filter.kind = Some(parse_kind(value)?),
            b"addr" => filter.address = Some(value),
            b"laddr" => filter.local_address = Some(value),
            b"user" if value == b"default" => filter.user = Some(value),
            b"user" => {
                return Err(CommandError::text([b"ERR No such user '", value, b"'"].concat()));
            }
            b"skipme" if value.eq_ignore_ascii_case(b"yes") => filter.keep_me = true,
            b"skipme" if value.eq_ignore_ascii_case(b"no") => filter.keep_me = false,
            _ => return Err(SYNTAX),
        }
    }
    Ok(filter)
}

fn kill(call: &mut Call<'_>) -> CommandResult {
    let is_old_form = call.args.len() == 3;
    if !is_old_form && !call.args.len().is_multiple_of(2) {
        return Err(SYNTAX);
    }
    let filter = if is_old_form {
        Filter { address: Some(call.arg(2)), ..Filter::default() }
    } else {
        parse_filter(call)?
    };
    let keys: Vec<ClientKey> =
        connected(call).into_iter().filter(|key| filter.takes(call, *key)).collect();
    keys.iter().for_each(|key| call.server.disconnect(*key));
    match (is_old_form, keys.is_empty()) {
        (true, true) => return Err(CommandError::fixed("ERR No such client")),
        (true, false) => call.reply.ok(),
        (false, _) => call.reply.count(keys.len()),
    }
    Ok(())
}

fn no_evict(call: &mut Call<'_>) -> CommandResult {
    call.client().no_evict = on_or_off(call.arg(2))?;
    call.reply.ok();
    Ok(())
}

fn on_or_off(word: &[u8]) -> Result<bool, CommandError> {
    match &*word.to_ascii_lowercase() {
        b"on" => Ok(true),
        b"off" => Ok(false),
        _ => Err(SYNTAX),
    }
}

fn reply_mode(call: &mut Call<'_>) -> CommandResult {
    let mode = match &*call.arg(2).to_ascii_lowercase() {
        b"on" => ReplyMode::On,
        b"off" => ReplyMode::Off,
        b"skip" => ReplyMode::SkipNext,
        _ => return Err(SYNTAX),
    };
    call.client().set_reply_mode(mode);
    call.reply.ok();
    Ok(())
}

fn pause(call: &mut Call<'_>) -> CommandResult {
    let scope = match call.args.len() {
        3 => PauseScope::All,
        4 if call.args.is(3, "write") => PauseScope::Writes,
        4 if call.args.is(3, "all") => PauseScope::All,
        4 => return Err(CommandError::fixed("ERR CLIENT PAUSE mode must be WRITE or ALL")),
        _ => return Err(call.unknown_form()),
    };
    let millis = parse_integer(call.arg(2)).ok_or(crate::protocol::error::BAD_TIMEOUT)?;
    if millis < 0 {
        return Err(crate::protocol::error::NOT_POSITIVE_TIMEOUT);
    }
    let now_ms = call.server.now_ms();
    // Before Redis 7.2, the addition wraps around, so a pause that overflows has already ended.
    let until_ms = match now_ms.checked_add(millis) {
        None if call.server.config.version >= RedisVersion::V7_2 => {
            return Err(TIMEOUT_OUT_OF_RANGE);
        }
        _ => now_ms.wrapping_add(millis),
    };
    call.server.pause_clients(scope, until_ms);
    call.reply.ok();
    Ok(())
}

fn unpause(call: &mut Call<'_>) -> CommandResult {
    call.server.end_pause();
    call.reply.ok();
    Ok(())
}

fn unblock(call: &mut Call<'_>) -> CommandResult {
    if call.args.len() > 4 {
        return Err(call.unknown_form());
    }
    let how = match call.args.len() {
        4 if call.args.is(3, "error") => Unblocking::Error,
        4 if !call.args.is(3, "timeout") => {
            return Err(CommandError::fixed(
                "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR",
            ));
        }
        _ => Unblocking::Timeout,
    };
    let id = parse_integer(call.arg(2)).ok_or(NOT_AN_INTEGER)?;
    let key = connected(call).into_iter().find(|key| call.server.client(*key).id as i64 == id);
    let was_blocked = key.is_some_and(|key| call.server.unblock_client(key, how));
    call.reply.integer(i64::from(was_blocked));
    Ok(())
}
