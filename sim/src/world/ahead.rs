use super::agenda::{HostIndex, NEMESIS, Occurrence};
use super::host::Software;
use super::server::Server;
use super::socket::Message;
use super::state::State;

impl State {
    /// Returns `true` if an event other than servers' own timers and messages could wake a waiter.
    pub(crate) fn is_wakeup_possible(&self) -> bool {
        let concerns =
            |message: &Message| self.is_process(message.from) || self.is_process(message.to);
        self.messages.iter().any(|(_, message)| concerns(message))
            || self.timers.any_pending(|host| self.is_process(host))
            || self.agenda.any(may_wake)
            || self.hosts.iter().any(|host| match &host.software {
                Software::Machine(server) => host.is_up && self.will_answer(server),
                Software::Program(_) => false,
            })
    }

    fn will_answer(&self, server: &Server) -> bool {
        server.will_send(|connection| {
            let socket = server.connections.get(&connection);
            socket.is_some_and(|socket| self.is_process(self.sockets[*socket as usize].remote))
        })
    }

    fn is_process(&self, host: HostIndex) -> bool {
        host != NEMESIS && self.node(host).is_process()
    }
}

fn may_wake(occurrence: Occurrence) -> bool {
    match occurrence {
        Occurrence::Timer(_)
        | Occurrence::Deliver(_)
        | Occurrence::Retry(_)
        | Occurrence::MachineTimer(_)
        | Occurrence::ServiceDone
        | Occurrence::DiskSynced(_) => false,
        Occurrence::FaultBegins(_)
        | Occurrence::FaultEnds(_)
        | Occurrence::SyncsFail
        | Occurrence::SyncsSucceed
        | Occurrence::Healed
        | Occurrence::Boot
        | Occurrence::Crash
        | Occurrence::Resume => true,
    }
}
