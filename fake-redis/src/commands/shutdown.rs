//! The SHUTDOWN command with its options (`shutdownCommand` in db.c), and shutdown by a signal.

use crate::config::Persistence;
use crate::protocol::error::{BUSY, CommandError, CommandResult, SYNTAX};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command, Server};

const END: Flags = Flags::ADMIN
    .union(Flags::NOSCRIPT)
    .union(Flags::LOADING)
    .union(Flags::STALE)
    .union(Flags::NO_MULTI)
    .union(Flags::ALLOW_BUSY);

pub(crate) static COMMANDS: &[Command] = &[Command::new("shutdown", -1, END, Keys::NONE, shutdown)];

/// `ABORT` always fails, because the server does not wait for replicas.
fn shutdown(call: &mut Call<'_>) -> CommandResult {
    let (mut save, mut no_save, mut others, mut abort) = (false, false, false, false);
    for option in call.args.from(1).iter() {
        match option.to_ascii_lowercase().as_slice() {
            b"save" => save = true,
            b"nosave" => no_save = true,
            b"now" | b"force" => others = true,
            b"abort" => abort = true,
            _ => return Err(SYNTAX),
        }
    }
    if save && no_save || abort && (save || no_save || others) {
        return Err(SYNTAX);
    }
    if abort {
        return Err(CommandError::fixed("ERR No shutdown in progress."));
    }
    if call.server.long_script.running.is_some() && !no_save {
        return Err(BUSY);
    }
    let save = (save || no_save).then_some(save);
    end(call.server, save);
    Ok(())
}

/// Saves and stops (`prepareForShutdown` in server.c). `None` saves if there are save points.
pub(crate) fn end(server: &mut Server, save: Option<bool>) {
    let config = &server.config;
    let has_save_points = config.persistence == Persistence::Rdb && !config.save_points.is_empty();
    // A partly loaded dataset must not overwrite the files.
    if save.unwrap_or(has_save_points) && !server.life.is_loading {
        server.save();
    }
    server.stop();
}
