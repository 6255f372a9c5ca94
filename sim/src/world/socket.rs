//! One end of a connection, and the messages between two ends.

use super::agenda::HostIndex;
use super::tasks::Tasks;
use fencepost_faults::{Micros, SimTime};
use fencepost_machine::ConnectionId;
use std::collections::VecDeque;
use std::task::Waker;

/// No socket.
pub(crate) const NONE: u32 = u32::MAX;

/// Who reads an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// A task, through [`fencepost_clients::Env`].
    Task,
    /// A server's state machine.
    Machine(ConnectionId),
}

/// How far an end has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// The connect is under way.
    Connecting,
    /// The connect was refused.
    Refused,
    /// Open.
    Open,
    /// Closed by its owner, or its host died.
    Closed,
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) host: HostIndex,
    pub(crate) remote: HostIndex,
    /// The thread that opened the connection, of the process at this end or at the other; 1 if a
    /// server did.
    pub(crate) thread: u16,
    pub(crate) owner: Owner,
    pub(crate) stage: Stage,
    /// The other end; [`NONE`] until the connect has arrived.
    pub(crate) peer: u32,
    /// What has arrived and was not read.
    pub(crate) received: Vec<u8>,
    /// The peer closed: after `received` comes the end.
    pub(crate) ended: bool,
    /// Its owner sends no more and has told the peer so, but goes on reading.
    pub(crate) is_shut: bool,
    /// The connection was reset: after `received` comes the error.
    pub(crate) reset: bool,
    /// The power of its host failed: what it had sent and was still on its way is lost with it.
    pub(crate) lost_power: bool,
    /// Whoever waits for any of this to change.
    pub(crate) waker: Option<Waker>,
    /// The slot of the timer of its limit, from the first limit on.
    pub(crate) timer: Option<u32>,
    /// Whether its limit has passed.
    pub(crate) timed_out: bool,
    /// When the last message sent from here arrives; later ones arrive no earlier.
    pub(crate) last_arrival: SimTime,
    /// Messages sent from here that the network holds up, in the order in which they were sent.
    pub(crate) stalled: VecDeque<u32>,
    /// Whether some of them were sent again, so that others may be before them.
    pub(crate) has_resent: bool,
    /// The span until the next retransmission.
    pub(crate) retry: Micros,
}

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A connect; `target` is the connecting end.
    Connect,
    /// The connect was accepted.
    Accepted,
    /// Nobody listens.
    Refused,
    /// Bytes.
    Data,
    /// The sender sends no more: it closed its end, or one direction of it.
    End,
    /// The sender reset the connection.
    Reset,
}

/// A message under way.
#[derive(Debug)]
pub(crate) struct Message {
    /// Numbers the messages of a run; never used again, as the place in the store is.
    pub(crate) serial: u64,
    pub(crate) kind: Kind,
    pub(crate) from: HostIndex,
    pub(crate) to: HostIndex,
    /// The end whose order the message keeps; [`NONE`] for an answer from a host that has no end of
    /// the connection.
    pub(crate) flow: u32,
    /// The end that it is for.
    pub(crate) target: u32,
    /// What the carrier put in.
    pub(crate) bytes: Vec<u8>,
    /// How many bytes it carries.
    pub(crate) length: usize,
}

impl Socket {
    pub(crate) fn new(host: HostIndex, remote: HostIndex, owner: Owner, stage: Stage) -> Socket {
        Socket {
            host,
            remote,
            thread: 1,
            owner,
            stage,
            peer: NONE,
            received: Vec::new(),
            ended: false,
            is_shut: false,
            reset: false,
            lost_power: false,
            waker: None,
            timer: None,
            timed_out: false,
            last_arrival: SimTime::ZERO,
            stalled: VecDeque::new(),
            has_resent: false,
            retry: Micros::ZERO,
        }
    }

    /// Wakes whoever waits at this end.
    pub(crate) fn wake(&mut self, tasks: &mut Tasks) {
        if let Some(waker) = self.waker.take() {
            tasks.wake(waker);
        }
    }
}
