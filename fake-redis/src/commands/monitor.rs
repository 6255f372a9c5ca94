//! MONITOR: shows a client every executed command (`replicationFeedMonitors`).

use crate::protocol::error::CommandResult;
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

const MONITOR: Flags =
    Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::LOADING).union(Flags::STALE);

pub(crate) static COMMANDS: &[Command] =
    &[Command::new("monitor", 1, MONITOR, Keys::NONE, monitor)];

fn monitor(call: &mut Call<'_>) -> CommandResult {
    let key = call.client;
    if call.client().connection().is_some() {
        call.server.roster.add_monitor(key);
    }
    call.reply.ok();
    Ok(())
}
