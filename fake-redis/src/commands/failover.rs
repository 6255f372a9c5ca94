//! Hands a primary's role over to a replica (FAILOVER).

use crate::data::number::parse_integer;
use crate::protocol::error;
use crate::protocol::error::{CommandError, CommandResult};
use crate::state::command_info::{Flags, Keys};
use crate::state::replication::FailoverOrder;
use crate::state::server::{Call, Command};

pub(super) static COMMANDS: &[Command] = &[Command::new(
    "failover",
    -1,
    Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::STALE),
    Keys::NONE,
    failover,
)];

const NOT_A_REPLICA: CommandError =
    CommandError::fixed("ERR FAILOVER target HOST and PORT is not a replica.");

fn failover(call: &mut Call<'_>) -> CommandResult {
    if call.args.len() == 2 && call.args.is(1, "abort") {
        return abort(call);
    }
    let order = read_order(call)?;
    let replication = &call.server.replication;
    let refusal = if replication.is_failing_over() {
        "ERR FAILOVER already in progress."
    } else if call.server.is_replica() {
        "ERR FAILOVER is not valid when server is a replica."
    } else if !replication.has_replicas() {
        "ERR FAILOVER requires connected replicas."
    } else if order.force && (order.timeout_ms.is_none() || order.target.is_none()) {
        "ERR FAILOVER with force option requires both a timeout and target HOST and IP."
    } else {
        if order.target.as_ref().is_some_and(|(host, port)| !replication.has_replica(host, *port)) {
            return Err(NOT_A_REPLICA);
        }
        call.server.begin_failover(order);
        call.reply.ok();
        return Ok(());
    };
    Err(CommandError::fixed(refusal))
}

fn abort(call: &mut Call<'_>) -> CommandResult {
    if !call.server.replication.is_failing_over() {
        return Err(CommandError::fixed("ERR No failover in progress."));
    }
    call.server.abort_failover();
    call.reply.ok();
    Ok(())
}

fn read_order(call: &Call<'_>) -> Result<FailoverOrder, CommandError> {
    let (args, mut order) = (call.args, FailoverOrder::default());
    let mut index = 1;
    while index < args.len() {
        let left = args.len() - index - 1;
        if args.is(index, "timeout") && left >= 1 && order.timeout_ms.is_none() {
            let timeout_ms = parse_integer(args.get(index + 1)).ok_or(error::NOT_AN_INTEGER)?;
            if timeout_ms <= 0 {
                return Err(CommandError::fixed("ERR FAILOVER timeout must be greater than 0"));
            }
            order.timeout_ms = Some(timeout_ms);
            index += 2;
        } else if args.is(index, "to") && left >= 2 && order.target.is_none() {
            let port = parse_integer(args.get(index + 2)).ok_or(error::NOT_AN_INTEGER)?;
            // No replica listens on port 0, so port 0 represents an invalid port.
            let port = u16::try_from(port).unwrap_or(0);
            order.target = Some((String::from_utf8_lossy(args.get(index + 1)).into_owned(), port));
            index += 3;
        } else if args.is(index, "force") && !order.force {
            order.force = true;
            index += 1;
        } else {
            return Err(error::SYNTAX);
        }
    }
    Ok(order)
}
