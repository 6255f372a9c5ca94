use crate::config::RedisVersion;
use crate::data::number::parse_integer;
use crate::protocol::error;
use crate::protocol::error::{CommandError, CommandResult};
use crate::state::client_key::ClientKey;
use crate::state::command_info::{Flags, Keys};
use crate::state::replication::{Goal, SyncRequest};
use crate::state::server::{Call, Command};

const ADMIN: Flags = Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::STALE);
const SYNC: Flags = Flags::ADMIN.union(Flags::NO_MULTI).union(Flags::NOSCRIPT);
const REPLCONF: Flags = ADMIN.union(Flags::LOADING).union(Flags::ALLOW_BUSY);

pub(super) static COMMANDS: &[Command] = &[
    Command::new("replicaof", 3, ADMIN, Keys::NONE, replicaof),
    Command::new("slaveof", 3, ADMIN, Keys::NONE, replicaof),
    Command::new("psync", -3, SYNC, Keys::NONE, psync),
    Command::new("sync", 1, SYNC, Keys::NONE, sync),
    Command::new("replconf", -1, REPLCONF, Keys::NONE, replconf),
    Command::new("wait", 3, Flags::empty(), Keys::NONE, wait).in_scripts_since(RedisVersion::V7_2),
    Command::new("waitaof", 4, Flags::empty(), Keys::NONE, waitaof)
        .since(RedisVersion::V7_2)
        .in_scripts_since(RedisVersion::V8_4),
];

const NO_PRIMARY_LINK: CommandError =
    CommandError::fixed("NOMASTERLINK Can't SYNC while not connected with my master");
const WAIT_ON_REPLICA: CommandError = CommandError::fixed(
    "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a \
     replica is configured to be \
     writable (which is not the default) writes to replicas are just local and are not propagated.",
);
const WAITAOF_ON_REPLICA: CommandError = CommandError::fixed(
    "ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas \
     are just local and are not \
     propagated.",
);

fn replicaof(call: &mut Call<'_>) -> CommandResult {
    if call.server.replication.is_failing_over() {
        return Err(CommandError::fixed("ERR REPLICAOF not allowed while failing over."));
    }
    if call.args.is(1, "no") && call.args.is(2, "one") {
        call.server.promote();
        call.reply.ok();
        return Ok(());
    }
    if call.server.is_followed_by(call.client) {
        return Err(CommandError::fixed("ERR Command is not valid when client is a replica."));
    }
    let port = parse_integer(call.arg(2)).and_then(|port| u16::try_from(port).ok());
    let port = port.ok_or(CommandError::fixed("ERR Invalid master port"))?;
    let host = String::from_utf8_lossy(call.arg(1)).into_owned();
    if call.server.follows(&host, port) {
        call.reply.status("OK Already connected to specified master");
        return Ok(());
    }
    call.server.follow(&host, port);
    call.reply.ok();
    Ok(())
}

/// Serves PSYNC. With the argument FAILOVER, a replica first takes over its primary's role.
fn psync(call: &mut Call<'_>) -> CommandResult {
    let id = String::from_utf8_lossy(call.arg(1)).into_owned();
    let next = parse_integer(call.arg(2)).ok_or(error::NOT_AN_INTEGER)?;
    if call.args.len() > 3
        && call.args.is(3, "failover")
        && !call.server.is_followed_by(call.client)
    {
        if !call.server.is_replica() {
            return Err(CommandError::fixed("ERR PSYNC FAILOVER can't be sent to a master."));
        }
        if !call.server.take_over(&id) {
            return Err(CommandError::fixed("ERR PSYNC FAILOVER replid must match my replid."));
        }
    }
    attach(call, SyncRequest::Continue { id: &id, next })
}

fn sync(call: &mut Call<'_>) -> CommandResult {
    attach(call, SyncRequest::Snapshot)
}

fn attach(call: &mut Call<'_>, request: SyncRequest<'_>) -> CommandResult {
    if call.server.is_followed_by(call.client) {
        return Ok(());
    }
    if call.server.replication.is_failing_over() {
        return Err(CommandError::fixed("NOMASTERLINK Can't SYNC while failing over"));
    }
    if call.server.cannot_be_followed() {
        return Err(NO_PRIMARY_LINK);
    }
    call.server.attach_replica(call.client, request);
    Ok(())
}

fn replconf(call: &mut Call<'_>) -> CommandResult {
    if call.args.len().is_multiple_of(2) {
        return Err(error::SYNTAX);
    }
    let client = call.client;
    for (option, value) in call.args.from(1).pairs() {
        match option.to_ascii_lowercase().as_slice() {
            b"listening-port" => {
                let port = parse_integer(value).ok_or(error::NOT_AN_INTEGER)?;
                call.server.replication.introduction_mut(client).port =
                    u16::try_from(port).unwrap_or(0);
            }
            b"ip-address" => {
                let address = String::from_utf8_lossy(value).into_owned();
                call.server.replication.introduction_mut(client).address = Some(address);
            }
            b"capa" if value.eq_ignore_ascii_case(b"psync2") => {
                call.server.replication.introduction_mut(client).knows_second_ids = true;
            }
            b"capa" if value.eq_ignore_ascii_case(b"eof") => {
                call.server.replication.introduction_mut(client).knows_delimiters = true;
            }
            b"capa" | b"rdb-only" => {}
            b"ack" => {
                let synced = if call.args.len() > 4 && call.args.is(3, "fack") {
                    offset_of(call.arg(4))
                } else {
                    None
                };
                offset_of(value)
                    .into_iter()
                    .for_each(|offset| call.server.take_acknowledgement(client, offset, synced));
                return Ok(());
            }
            b"getack" => {
                if client == ClientKey::PRIMARY {
                    call.server.acknowledge();
                }
                return Ok(());
            }
            _ => {
                return Err(CommandError::text(
                    [b"ERR Unrecognized REPLCONF option: ", option].concat(),
                ));
            }
        }
    }
    call.reply.ok();
    Ok(())
}

fn offset_of(text: &[u8]) -> Option<u64> {
    u64::try_from(parse_integer(text)?).ok()
}

fn wait(call: &mut Call<'_>) -> CommandResult {
    if call.server.is_replica() {
        return Err(WAIT_ON_REPLICA);
    }
    let replicas = parse_integer(call.arg(1)).ok_or(error::NOT_AN_INTEGER)?;
    let timeout_ms = timeout(call.arg(2))?;
    wait_for(call, Goal::Applied { replicas: usize::try_from(replicas).unwrap_or(0) }, timeout_ms)
}

/// Serves WAITAOF. Ignores replicas without an append-only file, because they send no `FACK`.
fn waitaof(call: &mut Call<'_>) -> CommandResult {
    let local = match parse_integer(call.arg(1)).ok_or(error::NOT_AN_INTEGER)? {
        0 => false,
        1 => true,
        _ => {
            return Err(CommandError::fixed(
                "ERR value is out of range, value must between 0 and 1",
            ));
        }
    };
    let replicas = parse_integer(call.arg(2)).and_then(|replicas| usize::try_from(replicas).ok());
    let replicas = replicas.ok_or(error::NOT_A_POSITIVE)?;
    let timeout_ms = timeout(call.arg(3))?;
    if call.server.is_replica() {
        return Err(WAITAOF_ON_REPLICA);
    }
    if local && !call.server.persistence.wants_stream() {
        return Err(error::WAITAOF_WITHOUT_FILE);
    }
    wait_for(call, Goal::Synced { local, replicas }, timeout_ms)
}

fn timeout(text: &[u8]) -> Result<i64, CommandError> {
    let timeout_ms = parse_integer(text).ok_or(error::BAD_TIMEOUT)?;
    if timeout_ms < 0 { Err(error::NOT_POSITIVE_TIMEOUT) } else { Ok(timeout_ms) }
}

fn wait_for(call: &mut Call<'_>, goal: Goal, timeout_ms: i64) -> CommandResult {
    let offset = call.client().write_offset;
    if call.server.is_reached(goal, offset) || !call.may_block() {
        call.server.write_progress(goal, offset, call.reply);
    } else {
        call.server.wait_until(call.client, goal, timeout_ms);
    }
    Ok(())
}
