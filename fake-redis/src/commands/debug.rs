//! The DEBUG command. Its extension `EVICT-VOLATILE` evicts all keys with a time to live.

use crate::data::number::parse_double;
use crate::protocol::error::{CommandError, CommandResult, NOT_A_FLOAT};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};
use crate::state::timers::Timer;
use fencepost_machine::WallTime;

const DEBUG: Flags = Flags::ADMIN
    .union(Flags::NOSCRIPT)
    .union(Flags::LOADING)
    .union(Flags::STALE)
    .union(Flags::PROTECTED);

pub(crate) static COMMANDS: &[Command] = &[Command::new("debug", -2, DEBUG, Keys::NONE, debug)];

fn debug(call: &mut Call<'_>) -> CommandResult {
    let subcommand = call.arg(1).to_ascii_lowercase();
    match (&*subcommand, call.args.len()) {
        (b"error", 3) => return Err(CommandError::text(call.arg(2))),
        (b"sleep", 3) => sleep(call)?,
        (b"set-active-expire", 3) => set_active_expire(call),
        (b"evict-volatile", 2) => {
            let evicted = call.server.evict_all_volatile();
            call.reply.count(evicted);
        }
        _ => return Err(call.unknown_form()),
    }
    Ok(())
}

fn sleep(call: &mut Call<'_>) -> CommandResult {
    let seconds =
        parse_double(call.arg(2)).filter(|seconds| seconds.is_finite()).ok_or(NOT_A_FLOAT)?;
    let end = WallTime(call.server.clock.now.0.saturating_add((seconds.max(0.0) * 1e6) as i64));
    call.server.life.is_asleep = true;
    call.server.timers.set(Timer::SleepEnd, Some(end));
    call.reply.ok();
    Ok(())
}

fn set_active_expire(call: &mut Call<'_>) {
    let is_active =
        call.arg(2).first().is_some_and(|digit| digit.is_ascii_digit() && *digit != b'0');
    call.server.config.set_active_expire(is_active);
    call.server.schedule_expiry();
    call.reply.ok();
}
