//! The trait of a server.

use crate::clocks::Now;
use crate::input::{Input, OperatorAction};
use crate::output::Outputs;
use crate::wording::{self, Wording};

/// A server without a world of its own: the same machine runs in unit tests, in both engines and
/// behind real TCP.
pub trait Machine {
    /// Takes one input at the instant `now` and says what is to be done about it.
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs);

    /// Whether the server has an answer to an operator's action. A fault that it has no answer to
    /// does not happen.
    fn supports(&self, _action: OperatorAction) -> bool {
        false
    }

    /// Whether the server answers requests as it will from now on: it has loaded its data and, in a
    /// cluster, found its leader. Drivers announce a server once this is true.
    fn is_ready(&self) -> bool {
        true
    }

    /// Whether an instant lies ahead at which the server sends something to a client though nobody
    /// asks it again: a blocking command whose time runs out, an answer that waits until the disk
    /// has synced, the expiry of a key that somebody is told of. What servers send each other does
    /// not count.
    fn will_send(&self) -> bool {
        false
    }

    /// Tells bytes of a client that say no more than that it lives. To send them is no attempt at
    /// anything.
    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |_| false
    }

    /// How the bytes of its connections are put into words, for pictures.
    fn wording(&self) -> Wording {
        wording::lines
    }
}
