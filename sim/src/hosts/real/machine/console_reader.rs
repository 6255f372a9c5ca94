//! Manages a console's connections, and decides when the console reads the locks.

use crate::hosts::real::console::{Channel, Console, ConsoleReply, ConsoleRequest};
use crate::hosts::real::judged::{Judged, Key, Trigger};
use fencepost_machine::{OperatorAction, Output, Outputs};
use fencepost_programs::{Group, News, SocketId};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

const FROM: (Ipv4Addr, u16) = (Ipv4Addr::new(10, 0, 255, 1), 9002);
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
        self.unread.get_or_insert(cause);
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
