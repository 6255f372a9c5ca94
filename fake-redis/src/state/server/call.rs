//! One execution of a command.

use super::Server;
use crate::protocol::args::Args;
use crate::protocol::reply::Reply;
use crate::state::client::Client;
use crate::state::client_key::ClientKey;

/// From when a time counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Anchor {
    /// From now.
    Now,
    /// From the Unix epoch.
    Epoch,
}

/// What reaches replicas and the append-only file of a command that changed something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// The command as it was sent.
    AsSent,
    /// What the command itself said, which may be nothing.
    Stated,
}

/// One execution of a command.
pub(crate) struct Call<'a> {
    /// The server that executes it.
    pub(crate) server: &'a mut Server,
    /// For whom.
    pub(crate) client: ClientKey,
    /// The client's database when the command began.
    pub(crate) db: usize,
    /// The arguments, the name first. A subcommand's arguments still begin with the container's
    /// name.
    pub(crate) args: Args<'a>,
    /// Where the reply goes.
    pub(crate) reply: &'a mut Reply,
    /// What is propagated.
    pub(crate) effect: Effect,
}

impl<'a> Call<'a> {
    /// The argument at `index`, which the arity check has made sure of.
    pub(crate) fn arg(&self, index: usize) -> &'a [u8] {
        self.args.get(index)
    }

    /// The client for whom this is executed.
    pub(crate) fn client(&mut self) -> &mut Client {
        self.server.client_mut(self.client)
    }

    /// Propagates nothing of this command.
    pub(crate) fn state_no_effect(&mut self) {
        self.effect = Effect::Stated;
    }
}
