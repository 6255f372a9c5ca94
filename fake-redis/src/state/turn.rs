use crate::state::client_key::ClientKey;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    pub(crate) acting: Option<ClientKey>,
    pub(crate) offset_before: u64,
    pub(crate) is_out_of_memory: bool,
}

impl Turn {
    pub(crate) fn begin(&mut self, client: ClientKey, offset: u64) {
        self.acting = Some(client);
        self.offset_before = offset;
    }

    pub(crate) fn begin_nested(&mut self, client: ClientKey) -> Turn {
        let before = *self;
        self.acting = Some(client);
        before
    }

    pub(crate) fn resume(&mut self, before: Turn) {
        *self = before;
    }
}
