use socket2::SockRef;
use std::future::Future;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use tokio::io::Interest;
use tokio::net::TcpStream;

pub(crate) trait Stream: 'static {
    /// Sends without waiting. Unlike `try_write`, does not depend on an earlier call of `ready`.
    fn send(&self, slices: &[IoSlice<'_>]) -> io::Result<usize>;

    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize>;

    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize>;

    fn finish(&self);

    fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<()>>;
}

impl Stream for TcpStream {
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
        let _ = SockRef::from(self).shutdown(Shutdown::Write);
    }

    async fn ready(&self, interest: Interest) -> io::Result<()> {
        TcpStream::ready(self, interest).await.map(|_| ())
    }
}
