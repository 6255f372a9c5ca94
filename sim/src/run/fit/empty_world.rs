//! A world without a network or events, in which `fit` builds a lock to query its properties.

use bytes::BytesMut;
use fencepost_clients::env::{
    Address, BoxFuture, Caller, Draw, HostKey, Monotonic, Note, SocketKey, TaskKey, TimerKey,
    WallClock, World,
};
use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

pub(super) struct EmptyWorld;

impl World for EmptyWorld {
    fn wall_clock(&self, _: HostKey) -> WallClock {
        WallClock(0)
    }

    fn monotonic_clock(&self, _: HostKey) -> Monotonic {
        Monotonic(0)
    }

    fn random(&self, _: HostKey, _: Draw, bits: &mut [u64]) {
        bits.fill(0);
    }

    fn start_timer(&self, _: HostKey, _: Duration) -> TimerKey {
        TimerKey(0)
    }

    fn poll_timer(&self, _: TimerKey, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    fn cancel_timer(&self, _: TimerKey) {}

    fn connect(&self, _: Caller, _: &Address) -> io::Result<SocketKey> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn poll_connect(&self, _: SocketKey, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn limit(&self, _: SocketKey, _: Duration) {}

    fn lift_limit(&self, _: SocketKey) {}

    fn poll_read(
        &self,
        _: SocketKey,
        _: &mut Context<'_>,
        _: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    fn poll_write(&self, _: SocketKey, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    fn shutdown(&self, _: SocketKey) {}

    fn close(&self, _: SocketKey) {}

    fn spawn(&self, _: HostKey, _: BoxFuture<'static, ()>) -> TaskKey {
        TaskKey(0)
    }

    fn abort(&self, _: TaskKey) {}

    fn note(&self, _: Caller, _: Note) {}
}
