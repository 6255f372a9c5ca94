use crate::protocol::args::Args;
use crate::protocol::reply::Reply;
use crate::state::client_key::ClientKey;
use crate::state::server::{Call, Command, Effect, Server};

impl Server {
    pub(crate) fn execute(
        &mut self,
        key: ClientKey,
        command: &'static Command,
        args: Args<'_>,
        reply: &mut Reply,
    ) {
        let unsaved_before = self.changes.unsaved;
        let db = self.client(key).db;
        self.statistics.begin_call();
        let mut call = Call { server: self, client: key, db, args, reply, effect: Effect::AsSent };
        let result = (command.run)(&mut call);
        let effect = call.effect;
        if let Err(error) = result {
            self.statistics.count_error(&error);
            reply.error(&error.0);
        }
        self.statistics.end_call(&command.info);
        if self.changes.unsaved != unsaved_before && effect == Effect::AsSent {
            self.add_effect_of(db, self.changes.targets, args.iter());
        }
    }
}
