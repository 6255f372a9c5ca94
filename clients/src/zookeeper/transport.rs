//! The task that keeps a session connected to one of the servers. Source:
//! `ClientCnxn.SendThread.run` and `ClientCnxnSocketNIO` of ZooKeeper 3.8:
//!
//! - `connectTimeout = sessionTimeout / number of servers` limits a connection attempt, including
//!   the server's answer to the connect request.
//! - After `readTimeout = sessionTimeout * 2 / 3` of silence the client closes the connection.
//! - The client sends a ping when it has sent nothing for `readTimeout / 2`, and after 10 s at the
//!   latest. If it has sent nothing for more than a second, the ping is due a second earlier.
//!
//! kazoo 2.11 has the same timeouts. The model ignores that its pings and delays differ.

use super::hosts::Hosts;
use super::jute::{Decoder, Malformed};
use super::protocol::{
    ConnectResponse, NOTIFICATION_XID, PING_XID, ReplyHeader, Request, ZooKeeperError,
    connect_request, notification,
};
use super::shared::{Shared, Status};
use crate::env::{Address, Env, Monotonic, Socket};
use bytes::BytesMut;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

/// Maximum time without a message from the client (`MAX_SEND_PING_INTERVAL`).
const PING_INTERVAL_MAX: Duration = Duration::from_secs(10);
const PING_MARGIN: Duration = Duration::from_secs(1);
/// Maximum sleep of the Java client before it reconnects (`nextLong(1000)`).
const RECONNECT_DELAY_MAX: Duration = Duration::from_millis(999);

fn fraction(timeout: Duration, numerator: u32, denominator: u32) -> Duration {
    let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(ms.saturating_mul(numerator.into()) / u64::from(denominator))
}

pub(super) struct Transport {
    env: Env,
    hosts: Hosts,
    shared: Rc<Shared>,
    requested: Duration,
    was_connected: bool,
}

enum End {
    Lost,
    Expired,
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> End {
        End::Lost
    }
}

impl From<Malformed> for End {
    fn from(_: Malformed) -> End {
        End::Lost
    }
}

struct Link {
    socket: Socket,
    input: BytesMut,
    output: Vec<u8>,
    sent: usize,
    last_heard: Monotonic,
    last_sent: Monotonic,
}

impl Transport {
    pub(super) fn new(
        env: Env,
        hosts: Hosts,
        shared: Rc<Shared>,
        requested: Duration,
    ) -> Transport {
        Transport { env, hosts, shared, requested, was_connected: false }
    }

    pub(super) async fn run(mut self) {
        while !self.is_closed() {
            let address = self.hosts.next(&self.env).await;
            if self.was_connected {
                self.env.sleep(self.env.jitter(&(Duration::ZERO..=RECONNECT_DELAY_MAX))).await;
            }
            match self.keep_connected(&address).await {
                End::Lost => self.shared.lose(),
                End::Expired => self.shared.close(),
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.shared.state.borrow().status == Status::Closed
    }

    fn timeout(&self) -> Duration {
        self.shared.state.borrow().timeout
    }

    async fn keep_connected(&mut self, address: &Address) -> End {
        let env = self.env.clone();
        let limit = fraction(self.timeout(), 1, self.hosts.count());
        match env.timeout(limit, self.establish(address)).await {
            Some(Ok(link)) => self.carry(link).await,
            Some(Err(end)) => end,
            None => End::Lost,
        }
    }

    async fn establish(&mut self, address: &Address) -> Result<Link, End> {
        let socket = self.env.connect(address).await?;
        self.was_connected = true;
        let now = self.env.monotonic_clock();
        let mut link = Link {
            socket,
            input: BytesMut::new(),
            output: Vec::new(),
            sent: 0,
            last_heard: now,
            last_sent: now,
        };
        link.socket.write_all(&self.connect_request()).await?;
        let mut reply = loop {
            if let Some(reply) = Decoder::take_from(&mut link.input)? {
                break reply;
            }
            if link.socket.read(&mut link.input).await? == 0 {
                return Err(End::Lost);
            }
        };
        match ConnectResponse::decode(&mut reply)? {
            _ if self.is_closed() => Err(End::Expired),
            ConnectResponse::Expired => Err(End::Expired),
            ConnectResponse::Accepted { timeout, credentials } => {
                self.shared.connect(timeout, credentials);
                self.hosts.connected();
                (link.last_heard, link.last_sent) =
                    (self.env.monotonic_clock(), self.env.monotonic_clock());
                Ok(link)
            }
        }
    }

    fn connect_request(&self) -> Vec<u8> {
        let state = self.shared.state.borrow();
        connect_request(state.last_zxid, self.requested, &state.credentials)
    }

    async fn carry(&self, mut link: Link) -> End {
        loop {
            if self.is_closed() {
                return End::Expired;
            }
            let Some(patience) = self.patience(&mut link) else { return End::Lost };
            let step = std::future::poll_fn(|context| self.poll_step(&mut link, context));
            if let Some(Err(end)) = self.env.timeout(patience, step).await {
                return end;
            }
        }
    }

    /// Queues a ping if one is due. Returns how long to wait, or `None` after the read timeout.
    fn patience(&self, link: &mut Link) -> Option<Duration> {
        let (now, read_timeout) = (self.env.monotonic_clock(), fraction(self.timeout(), 2, 3));
        let left = read_timeout.checked_sub(now.since(link.last_heard))?;
        if left.is_zero() {
            return None;
        }
        let idle = now.since(link.last_sent);
        let margin = if idle > PING_MARGIN { PING_MARGIN } else { Duration::ZERO };
        let to_next_ping = (read_timeout / 2).saturating_sub(idle + margin);
        if !to_next_ping.is_zero() && idle <= PING_INTERVAL_MAX {
            return Some(left.min(to_next_ping));
        }
        link.output.extend_from_slice(&Request::Ping.encode(PING_XID));
        link.last_sent = now;
        Some(left)
    }

    fn poll_step(&self, link: &mut Link, context: &mut Context<'_>) -> Poll<Result<(), End>> {
        let has_sent = self.send(link, context)?;
        let has_read = match link.socket.poll_read(context, &mut link.input) {
            Poll::Ready(Ok(0)) => return Poll::Ready(Err(End::Lost)),
            Poll::Ready(read) => read? > 0,
            Poll::Pending => false,
        };
        while let Some(frame) = Decoder::take_from(&mut link.input)? {
            self.receive(frame)?;
            link.last_heard = self.env.monotonic_clock();
        }
        let state = &mut *self.shared.state.borrow_mut();
        if has_sent || has_read || state.status == Status::Closed {
            return Poll::Ready(Ok(()));
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn send(&self, link: &mut Link, context: &mut Context<'_>) -> Result<bool, End> {
        let mut has_sent = false;
        loop {
            if link.sent == link.output.len() {
                link.sent = 0;
                link.output.clear();
                let Some(frame) = self.shared.state.borrow_mut().next_frame() else {
                    return Ok(has_sent);
                };
                link.output = frame;
            }
            match link.socket.poll_write(context, &link.output[link.sent..]) {
                Poll::Ready(written) => link.sent += written?,
                Poll::Pending => return Ok(has_sent),
            }
            has_sent = true;
            link.last_sent = self.env.monotonic_clock();
        }
    }

    fn receive(&self, mut frame: Decoder) -> Result<(), End> {
        let header = ReplyHeader::decode(&mut frame)?;
        let state = &mut *self.shared.state.borrow_mut();
        match header.xid {
            PING_XID => return Ok(()),
            NOTIFICATION_XID => {
                let (change, path) = notification(&mut frame)?;
                state.fire(change, &path);
                return Ok(());
            }
            _ => {}
        }
        let (xid, packet) = state.next_pending().ok_or(End::Lost)?;
        let outcome = match header.error {
            _ if xid != header.xid => Err(Malformed("an answer out of order".to_owned())),
            Some(error) => Ok(Err(error)),
            None => packet.request.decode(&mut frame).map(Ok),
        };
        match outcome {
            Ok(outcome) => {
                state.last_zxid = if header.zxid > 0 { header.zxid } else { state.last_zxid };
                state.answer(packet, outcome);
                Ok(())
            }
            Err(malformed) => {
                state.answer(packet, Err(ZooKeeperError::ConnectionLoss));
                Err(malformed.into())
            }
        }
    }
}
