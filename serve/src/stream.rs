//! What a host asks of the stream under a connection.

use socket2::SockRef;
use std::future::Future;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use tokio::io::Interest;
use tokio::net::TcpStream;

/// A stream of bytes in both directions. Nothing here waits but [`Stream::ready`].
pub(crate) trait Stream: 'static {
    /// Sends what can be sent at once, from outside of the connection's task.
    fn send(&self, slices: &[IoSlice<'_>]) -> io::Result<usize>;

    /// As [`Stream::send`], within the connection's task.
    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Reads what has arrived, within the connection's task.
    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Tells the peer that nothing more comes.
    fn finish(&self);

    /// Waits until the stream may be able to do more than it could, within the connection's task.
    fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<()>>;
}

impl Stream for TcpStream {
    /// Asks the socket itself, since tokio knows nothing of what sockets can do while its thread is
    /// inside the machine.
    fn send(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        SockRef::from(self).send_vectored(slices)
    }

    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.try_write_vectored(slices)
    }

    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        TcpStream::try_read(self, buffer)
    }

    fn finish(&self) {
        // If it fails, there is no peer any more.
        let _ = SockRef::from(self).shutdown(Shutdown::Write);
    }

    async fn ready(&self, interest: Interest) -> io::Result<()> {
        TcpStream::ready(self, interest).await.map(|_| ())
    }
}
