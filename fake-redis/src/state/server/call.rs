use super::Server;
use crate::protocol::args::Args;
use crate::protocol::reply::Reply;
use crate::state::client::Client;
use crate::state::client_key::ClientKey;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Anchor {
    Now,
    Epoch,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    AsSent,
    Replaced,
}

pub(crate) struct Call<'a> {
    pub(crate) server: &'a mut Server,
    pub(crate) client: ClientKey,
    pub(crate) db: usize,
    pub(crate) args: Args<'a>,
    pub(crate) reply: &'a mut Reply,
    pub(crate) effect: Effect,
}

impl<'a> Call<'a> {
    pub(crate) fn arg(&self, index: usize) -> &'a [u8] {
        self.args.get(index)
    }

    pub(crate) fn client(&mut self) -> &mut Client {
        self.server.client_mut(self.client)
    }
}
