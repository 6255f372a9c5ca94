//! What containers answer to HELP, and to what they do not understand.

use crate::protocol::error::CommandError;
use crate::state::server::Call;

/// Writes help lines and those that every help ends with.
pub(crate) fn write(call: &mut Call<'_>, lines: &[&str]) {
    let last = ["HELP", "    Prints this help."];
    call.reply.array(lines.len() + last.len());
    lines.iter().chain(&last).for_each(|line| call.reply.status(line));
}

/// The error for a subcommand that exists, with arguments that do not fit. This is
/// `addReplySubcommandSyntaxError`.
pub(crate) fn unknown_form(call: &Call<'_>) -> CommandError {
    let container = call.arg(0).to_ascii_uppercase();
    let text = b"ERR unknown subcommand or wrong number of arguments for '";
    CommandError::text([text, call.arg(1), b"'. Try ", &*container, b" HELP."].concat())
}
