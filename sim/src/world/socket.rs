use super::agenda::HostIndex;
use super::tasks::Tasks;
use fencepost_faults::{Micros, SimTime};
use fencepost_machine::ConnectionId;
use std::collections::VecDeque;
use std::task::Waker;

pub(crate) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Task,
    Machine(ConnectionId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Connecting,
    Refused,
    Open,
    Closed,
}

#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) host: HostIndex,
    pub(crate) remote: HostIndex,
    pub(crate) thread: u16,
    pub(crate) owner: Owner,
    pub(crate) port: u16,
    pub(crate) stage: Stage,
    pub(crate) peer: u32,
    pub(crate) received: Vec<u8>,
    pub(crate) ended: bool,
    pub(crate) is_shut: bool,
    pub(crate) reset: bool,
    pub(crate) lost_power: bool,
    pub(crate) waker: Option<Waker>,
    pub(crate) timer: Option<u32>,
    pub(crate) timed_out: bool,
    pub(crate) last_arrival: SimTime,
    pub(crate) stalled: VecDeque<u32>,
    pub(crate) has_resent: bool,
    pub(crate) retry: Micros,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Connect,
    Accepted,
    Refused,
    Data,
    End,
    Reset,
}

#[derive(Debug)]
pub(crate) struct Message {
    /// Unique number of the message, unlike its slot in the store, which is reused.
    pub(crate) serial: u64,
    pub(crate) kind: Kind,
    pub(crate) from: HostIndex,
    pub(crate) to: HostIndex,
    pub(crate) flow: u32,
    pub(crate) target: u32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) length: usize,
}

impl Socket {
    pub(crate) fn new(host: HostIndex, remote: HostIndex, owner: Owner, stage: Stage) -> Socket {
        Socket {
            host,
            remote,
            thread: 1,
            owner,
            port: 0,
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

    pub(crate) fn wake(&mut self, tasks: &mut Tasks) {
        if let Some(waker) = self.waker.take() {
            tasks.wake(waker);
        }
    }
}
