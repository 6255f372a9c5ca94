//! Whether anything lies ahead that could wake a process that waits.

use super::agenda::{HostIndex, NEMESIS, Occurrence, Place};
use super::host::Software;
use super::socket::Message;
use super::state::State;

impl State {
    /// Whether anything lies ahead of any process: one of its timers, a fault, a message from it or
    /// to it, or something that a server will send by itself or is at work on. What servers send
    /// each other, and their own timers, do not count.
    pub(crate) fn lies_ahead(&self) -> bool {
        let concerns =
            |message: &Message| self.is_process(message.from) || self.is_process(message.to);
        self.messages.iter().any(|(_, message)| concerns(message))
            || self.agenda.any(|place, occurrence| self.may_wake(place, occurrence))
            || self.hosts.iter().any(|host| match &host.software {
                Software::Machine(server) => host.is_up && server.will_send(),
                Software::Program(_) => false,
            })
    }

    fn may_wake(&self, place: Place, occurrence: Occurrence) -> bool {
        match occurrence {
            Occurrence::Timer(index) => {
                self.is_process(place.host()) && self.timers.is_current(index, place)
            }
            // Messages are looked at themselves, wherever they are.
            Occurrence::Deliver(_) | Occurrence::Retry(_) => false,
            Occurrence::MachineTimer(_) | Occurrence::DiskSynced(_) => false,
            // An answer may leave when a server is done.
            Occurrence::ServiceDone => true,
            Occurrence::FaultBegins(_)
            | Occurrence::FaultEnds(_)
            | Occurrence::Healed
            | Occurrence::Boot
            | Occurrence::Crash
            | Occurrence::Resume => true,
        }
    }

    fn is_process(&self, host: HostIndex) -> bool {
        host != NEMESIS && self.node(host).is_process()
    }
}
