//! Manages a console's connections, and decides when the console reads the locks.

use crate::hosts::real::console::{Channel, Console, ConsoleReply, ConsoleRequest};
use crate::hosts::real::judged::{Judged, Key, Trigger};
use fencepost_machine::{ConnectionId, OperatorAction, Output, Outputs};
use fencepost_programs::{Group, News, SocketId};
use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};

const FROM: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 0, 255, 1), 9002);
const RETRY_US: u64 = 20_000;

pub(super) struct ConsoleReader {
    pub(super) console: Box<dyn Console>,
    port: u16,
    channels: BTreeMap<SocketId, Channel>,
    asked: VecDeque<ConsoleRequest>,
    unread: Option<Trigger>,
    reading: Option<Trigger>,
    pub(super) is_loading: bool,
    closed_at_us: Option<u64>,
    now_us: u64,
}

impl ConsoleReader {
    pub(super) fn new(console: Box<dyn Console>, port: u16) -> ConsoleReader {
        ConsoleReader {
            console,
            port,
            channels: BTreeMap::new(),
            asked: VecDeque::new(),
            unread: None,
            reading: None,
            is_loading: false,
            closed_at_us: None,
            now_us: 0,
        }
    }

    pub(super) fn require_read(&mut self, cause: Trigger) {
        self.unread = Some(cause);
    }

    pub(super) fn allow_read(&mut self, cause: Trigger) {
        // The reading in progress may already show the change.
        if self.reading == Some(Trigger::Bystander) {
            self.reading = Some(cause.clone());
        }
        if matches!(self.unread, None | Some(Trigger::Bystander)) {
            self.unread = Some(cause);
        }
    }

    /// No longer attributes a pending or current read to a command of `by`. The console still
    /// reads, because another session may have changed a lock at this instant.
    pub(super) fn clear_cause(&mut self, by: ConnectionId) {
        for cause in [&mut self.unread, &mut self.reading].into_iter().flatten() {
            if matches!(cause, Trigger::Command { by: own, .. } if *own == by) {
                *cause = Trigger::Bystander;
            }
        }
    }

    pub(super) fn has_read(&self) -> bool {
        let is_done = self.unread.is_none() && self.reading.is_none();
        self.console.is_ready() && is_done
    }

    pub(super) fn is_connected(&self) -> bool {
        !self.channels.is_empty()
    }

    pub(super) fn send_requests(
        &mut self,
        group: &mut Group,
        now_us: u64,
        is_judged: bool,
    ) -> bool {
        self.now_us = now_us;
        if self.asked.is_empty() {
            let wants = self.next_requests(is_judged);
            self.asked.extend(wants);
        }
        let mut has_done = false;
        while let Some(ask) = self.asked.front() {
            if !self.send_request(&ask.clone(), group) {
                break;
            }
            self.asked.pop_front();
            has_done = true;
        }
        has_done
    }

    fn next_requests(&mut self, is_judged: bool) -> Vec<ConsoleRequest> {
        if !self.console.is_ready() {
            let has_waited = self.closed_at_us.is_none_or(|at| self.now_us >= at + RETRY_US);
            let is_connecting = !self.channels.is_empty();
            return match has_waited && !is_connecting {
                true => self.console.channels_to_open(),
                false => Vec::new(),
            };
        }
        if self.console.is_waiting() || self.is_loading || !is_judged {
            return Vec::new();
        }
        let Some(cause) = self.unread.take() else { return Vec::new() };
        let asks = self.console.read();
        self.reading = (!asks.is_empty()).then_some(cause);
        asks
    }

    fn send_request(&mut self, ask: &ConsoleRequest, group: &mut Group) -> bool {
        let socket_of = |channel: &Channel, channels: &BTreeMap<SocketId, Channel>| {
            channels.iter().find(|(_, it)| *it == channel).map(|(socket, _)| *socket)
        };
        match ask {
            ConsoleRequest::Open(channel) => {
                let Some(socket) = group.incoming(FROM, self.port) else { return false };
                self.channels.insert(socket, *channel);
                let asks = self.console.opened(*channel);
                for ask in asks.into_iter().rev() {
                    self.asked.insert(1, ask);
                }
            }
            ConsoleRequest::Send(channel, bytes) => {
                if let Some(socket) = socket_of(channel, &self.channels) {
                    group.deliver(News::Received(socket, bytes.clone()));
                }
            }
        }
        true
    }

    pub(super) fn receive(&mut self, socket: SocketId, bytes: &[u8]) -> Option<Vec<ConsoleReply>> {
        let channel = *self.channels.get(&socket)?;
        let (asks, heard) = self.console.receive(channel, bytes);
        self.asked.extend(asks);
        Some(heard)
    }

    pub(super) fn closed(&mut self, socket: SocketId) -> Option<Vec<ConsoleReply>> {
        let channel = self.channels.remove(&socket)?;
        let heard = self.console.closed(channel);
        if heard.is_empty() {
            self.channels.clear();
            self.asked.clear();
            self.closed_at_us = Some(self.now_us);
            self.unread = self.unread.take().or(self.reading.take());
        }
        Some(heard)
    }

    pub(super) fn take_heard(
        &mut self,
        heard: ConsoleReply,
        judged: &mut Judged,
        out: &mut Outputs,
    ) -> Option<Trigger> {
        let reading = match heard {
            ConsoleReply::Notice(notice) => {
                out.list.push(Output::Notice(notice));
                return None;
            }
            ConsoleReply::Reading(reading) => reading,
        };
        let cause = self.reading.take().unwrap_or(Trigger::Itself);
        match reading {
            Some(reading) => {
                let console = &self.console;
                let left = |before: &Key, now: Option<&Key>| console.removal_of(before, now);
                judged.take_reading(reading, &cause, left, &mut out.list);
            }
            None => {
                self.is_loading = true;
                self.unread = self.unread.take().or(Some(cause.clone()));
            }
        }
        Some(cause)
    }

    pub(super) fn operate(&mut self, action: OperatorAction) {
        let (asks, cause) = self.console.operate(action);
        self.asked.extend(asks);
        self.unread = Some(cause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::real::own::NoConsole;

    const FIRST: ConnectionId = ConnectionId(1);
    const SECOND: ConnectionId = ConnectionId(2);

    fn reader() -> ConsoleReader {
        ConsoleReader::new(Box::new(NoConsole), 1)
    }

    #[test]
    fn an_answer_that_may_have_changed_a_lock_replaces_one_that_changed_nothing() {
        let (first, second) = (Trigger::of(FIRST), Trigger::of(SECOND));
        let after = |causes: &[&Trigger]| {
            let mut reader = reader();
            causes.iter().for_each(|cause| reader.allow_read((*cause).clone()));
            reader.unread
        };
        assert_eq!(after(&[&Trigger::Bystander, &first, &second]), Some(first.clone()));
        assert_eq!(after(&[&first, &Trigger::Bystander]), Some(first.clone()));
        assert_eq!(after(&[&Trigger::Bystander]), Some(Trigger::Bystander));
        assert_eq!(after(&[&Trigger::Itself, &first]), Some(Trigger::Itself));
    }

    #[test]
    fn a_release_that_is_answered_during_the_reading_for_another_session_is_its_cause() {
        let mut reader = reader();
        reader.require_read(Trigger::of(SECOND));
        reader.clear_cause(FIRST);
        assert_eq!(reader.unread, Some(Trigger::of(SECOND)));
        reader.clear_cause(SECOND);
        reader.reading = reader.unread.take();
        assert_eq!(reader.reading, Some(Trigger::Bystander));
        reader.allow_read(Trigger::of(FIRST));
        assert_eq!(reader.reading, Some(Trigger::of(FIRST)));
        assert_eq!(reader.unread, Some(Trigger::of(FIRST)), "the reading may have been too early");
    }
}
