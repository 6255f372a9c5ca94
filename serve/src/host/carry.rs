use super::Host;
use crate::connection::Connection;
use crate::platform::Platform;
use fencepost_machine::ConnectionId;
use std::io;
use std::rc::Rc;

impl<P: Platform> Host<P> {
    pub(super) async fn carry(
        self: Rc<Host<P>>,
        connection: Rc<Connection<P::Stream>>,
        id: ConnectionId,
    ) {
        while connection.write_next().await {
            if connection.has_reported_bytes() {
                self.drained(id);
            }
            if !matches!(self.pass_to_machine(&connection, id), Ok(true)) {
                break;
            }
        }
        if connection.is_closing() {
            connection.linger().await;
        } else {
            self.lost(id);
        }
    }

    fn pass_to_machine(
        &self,
        connection: &Connection<P::Stream>,
        id: ConnectionId,
    ) -> io::Result<bool> {
        let mut buffer = self.read_buffer();
        let Some(bytes) = connection.read(&mut buffer)? else { return Ok(true) };
        if !bytes.is_empty() {
            self.received(id, bytes);
        }
        Ok(!bytes.is_empty())
    }
}
