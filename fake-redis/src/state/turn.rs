use crate::state::client_key::ClientKey;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    acting: Option<ClientKey>,
    offset_before: u64,
    is_out_of_memory: bool,
}

impl Turn {
    pub(crate) fn begin(&mut self, client: ClientKey, offset: u64) {
        self.acting = Some(client);
        self.offset_before = offset;
    }

    pub(crate) fn end(&mut self) {
        self.acting = None;
    }

    pub(crate) fn begin_nested(&mut self, client: ClientKey) -> Turn {
        let before = *self;
        self.acting = Some(client);
        before
    }

    pub(crate) fn resume(&mut self, before: Turn) {
        *self = before;
    }

    pub(crate) fn acting(&self) -> Option<ClientKey> {
        self.acting
    }

    pub(crate) fn offset_before(&self) -> u64 {
        self.offset_before
    }

    pub(crate) fn admit_with(&mut self, is_out_of_memory: bool) {
        self.is_out_of_memory = is_out_of_memory;
    }

    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.is_out_of_memory
    }
}
