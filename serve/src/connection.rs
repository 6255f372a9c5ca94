//! A connection that queues outgoing bytes until the socket accepts them.

use crate::stream::Stream;
use bytes::{Buf, Bytes};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::rc::Rc;
use std::time::Duration;
use tokio::io::Interest;
use tokio::sync::Notify;

/// Maximum number of unsent bytes of a connection. More bytes break the connection.
const OUTGOING_BYTES_MAX: usize = 256 * 1024 * 1024;
const SLICES_MAX: usize = 64;
const CLOSE_WAIT: Duration = Duration::from_secs(5);

pub(crate) struct Connection<S> {
    pub(crate) stream: S,
    outgoing: RefCell<VecDeque<Bytes>>,
    outgoing_bytes: Cell<usize>,
    reported_bytes: Cell<usize>,
    closing: Cell<bool>,
    broken: Cell<bool>,
    changed: Notify,
}

impl<S: Stream> Connection<S> {
    pub(crate) fn new(stream: S) -> Rc<Connection<S>> {
        Rc::new(Connection {
            stream,
            outgoing: RefCell::default(),
            outgoing_bytes: Cell::new(0),
            reported_bytes: Cell::new(0),
            closing: Cell::new(false),
            broken: Cell::new(false),
            changed: Notify::new(),
        })
    }

    pub(crate) fn push(&self, bytes: Bytes) {
        let waiting = self.outgoing_bytes.get() + bytes.len();
        if self.broken.get() || waiting > OUTGOING_BYTES_MAX {
            return self.give_up();
        }
        self.outgoing_bytes.set(waiting);
        self.outgoing.borrow_mut().push_back(bytes);
    }

    pub(crate) fn close(&self) {
        self.closing.set(true);
        if self.outgoing.borrow().is_empty() {
            self.stream.finish();
        }
        self.changed.notify_one();
    }

    pub(crate) fn abort(&self) {
        self.closing.set(true);
        self.give_up();
    }

    pub(crate) fn newly_written(&self) -> Option<usize> {
        let bytes = self.outgoing_bytes.get();
        (self.reported_bytes.replace(bytes) != bytes).then_some(bytes)
    }

    pub(crate) fn flush(&self) {
        if self.write_by(|slices| self.stream.send(slices)).is_err() {
            self.give_up();
        } else if !self.outgoing.borrow().is_empty() {
            self.changed.notify_one();
        }
    }

    fn give_up(&self) {
        self.broken.set(true);
        self.outgoing.borrow_mut().clear();
        self.outgoing_bytes.set(0);
        self.changed.notify_one();
    }

    fn write(&self) -> io::Result<()> {
        self.write_by(|slices| self.stream.try_write(slices))
    }

    fn write_by(&self, write: impl Fn(&[IoSlice<'_>]) -> io::Result<usize>) -> io::Result<()> {
        let mut outgoing = self.outgoing.borrow_mut();
        while !outgoing.is_empty() {
            let slices: Vec<IoSlice<'_>> =
                outgoing.iter().take(SLICES_MAX).map(|bytes| IoSlice::new(bytes)).collect();
            let written = match write(&slices) {
                Ok(written) => written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            self.outgoing_bytes.set(self.outgoing_bytes.get() - written);
            forget_written(&mut outgoing, written);
        }
        Ok(())
    }

    async fn ready(&self) -> io::Result<()> {
        let interest = match (self.closing.get(), self.outgoing.borrow().is_empty()) {
            (true, _) => Interest::WRITABLE,
            (false, true) => Interest::READABLE,
            (false, false) => Interest::READABLE | Interest::WRITABLE,
        };
        tokio::select! {
            biased;
            () = self.changed.notified() => Ok(()),
            ready = self.stream.ready(interest) => ready,
        }
    }

    pub(crate) fn read<'b>(&self, buffer: &'b mut [u8]) -> io::Result<Option<&'b [u8]>> {
        match self.stream.try_read(buffer) {
            Ok(length) => Ok(Some(&buffer[..length])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn write_next(&self) -> bool {
        let is_over = || self.broken.get() || self.closing.get();
        !is_over() && self.ready().await.is_ok() && !is_over() && self.write().is_ok()
    }

    pub(crate) fn has_reported_bytes(&self) -> bool {
        self.reported_bytes.get() > 0
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.get()
    }

    pub(crate) async fn linger(&self) {
        let _ = tokio::time::timeout(CLOSE_WAIT, self.drain()).await;
    }

    async fn drain(&self) {
        while !self.broken.get() && self.write().is_ok() && !self.outgoing.borrow().is_empty() {
            if self.ready().await.is_err() {
                return;
            }
        }
    }
}

fn forget_written(outgoing: &mut VecDeque<Bytes>, mut written: usize) {
    while let Some(first) = outgoing.front_mut() {
        if first.len() > written {
            first.advance(written);
            return;
        }
        written -= first.len();
        outgoing.pop_front();
    }
}
