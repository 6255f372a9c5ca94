//! Memory that is used again.

use crate::protocol::args::ArgumentVector;
use crate::protocol::reply::Reply;

/// Memory that is not in use.
#[derive(Debug, Default)]
pub(crate) struct Spares {
    replies: Vec<Reply>,
    /// For the arguments of commands that scripts call.
    arguments: ArgumentVector,
}

impl Spares {
    /// An empty reply buffer; [`Spares::keep_reply`] takes it back.
    pub(crate) fn reply(&mut self) -> Reply {
        let mut reply = self.replies.pop().unwrap_or_default();
        // That of a script's last command is given back as it is.
        reply.truncate(0);
        reply
    }

    /// Takes a reply buffer back.
    pub(crate) fn keep_reply(&mut self, reply: Reply) {
        self.replies.push(reply);
    }

    /// Memory for the arguments of a script's commands; [`Spares::keep_arguments`] takes it back.
    pub(crate) fn arguments(&mut self) -> ArgumentVector {
        std::mem::take(&mut self.arguments)
    }

    /// Takes that back.
    pub(crate) fn keep_arguments(&mut self, arguments: ArgumentVector) {
        self.arguments = arguments;
    }
}
