//! Adapts tokio's poll-based streams to the [`Stream`] trait.

use super::ByteStream;
use crate::stream::Stream;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::io::{Interest, ReadBuf};

pub(super) struct Polled<S> {
    stream: RefCell<S>,
    task: RefCell<Waker>,
    will_wake: Cell<bool>,
}

impl<S: ByteStream> Polled<S> {
    pub(super) fn new(stream: S) -> Polled<S> {
        let task = RefCell::new(Waker::noop().clone());
        Polled { stream: RefCell::new(stream), task, will_wake: Cell::new(false) }
    }

    fn at_once<T>(
        &self,
        poll: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> io::Result<T> {
        let task = self.task.borrow();
        let mut stream = self.stream.borrow_mut();
        match poll(Pin::new(&mut stream), &mut Context::from_waker(&task)) {
            Poll::Ready(done) => done,
            Poll::Pending => {
                self.will_wake.set(true);
                Err(ErrorKind::WouldBlock.into())
            }
        }
    }
}

impl<S: ByteStream> Stream for Polled<S> {
    fn send(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let sent = self.at_once(|stream, context| stream.poll_write_vectored(context, slices))?;
        match sent == 0 && slices.iter().any(|slice| !slice.is_empty()) {
            true => Err(ErrorKind::WriteZero.into()),
            false => Ok(sent),
        }
    }

    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.send(slices)
    }

    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        self.at_once(|stream, context| stream.poll_read(context, &mut buffer))?;
        Ok(buffer.filled().len())
    }

    fn finish(&self) {
        let _ = self.at_once(|stream, context| stream.poll_shutdown(context));
    }

    async fn ready(&self, _: Interest) -> io::Result<()> {
        poll_fn(|context| {
            let mut task = self.task.borrow_mut();
            let is_new = !task.will_wake(context.waker());
            task.clone_from(context.waker());
            match self.will_wake.replace(false) && !is_new {
                true => Poll::Pending,
                false => Poll::Ready(Ok(())),
            }
        })
        .await
    }
}
