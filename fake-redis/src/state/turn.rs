//! Whose command is executed.

use crate::state::client_key::ClientKey;

/// What is known of the command that is executed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    /// Whose it is: the outermost one, not the script's.
    acting: Option<ClientKey>,
    /// How long the replication stream was when it began.
    offset_before: u64,
    /// Whether memory was full and nothing could be evicted when it was admitted.
    is_out_of_memory: bool,
}

impl Turn {
    /// A client's command begins, when the replication stream is so long.
    pub(crate) fn begin(&mut self, client: ClientKey, offset: u64) {
        self.acting = Some(client);
        self.offset_before = offset;
    }

    /// The command has ended.
    pub(crate) fn end(&mut self) {
        self.acting = None;
    }

    /// Another client acts until [`Turn::resume`] gets what this returns: one that waited and is
    /// served now.
    pub(crate) fn step_in(&mut self, client: ClientKey) -> Turn {
        let before = *self;
        self.acting = Some(client);
        before
    }

    /// Goes on with the command that was executed before.
    pub(crate) fn resume(&mut self, before: Turn) {
        *self = before;
    }

    /// Whose command is executed.
    pub(crate) fn acting(&self) -> Option<ClientKey> {
        self.acting
    }

    /// How long the replication stream was when the command began.
    pub(crate) fn offset_before(&self) -> u64 {
        self.offset_before
    }

    /// Notes whether memory is full although whatever can be evicted was.
    pub(crate) fn admit_with(&mut self, is_out_of_memory: bool) {
        self.is_out_of_memory = is_out_of_memory;
    }

    /// Whether memory was full when the command was admitted.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.is_out_of_memory
    }
}
