//! Passes the bytes of one connection to the machine.

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
        while connection.goes_on().await {
            if connection.has_told() {
                self.drained(id);
            }
            if !matches!(self.hand_on(&connection, id), Ok(true)) {
                break;
            }
        }
        if connection.is_closing() {
            connection.linger().await;
        } else {
            self.lost(id);
        }
    }

    fn hand_on(&self, connection: &Connection<P::Stream>, id: ConnectionId) -> io::Result<bool> {
        let mut buffer = self.read_buffer();
        let Some(bytes) = connection.read(&mut buffer)? else { return Ok(true) };
        if !bytes.is_empty() {
            self.received(id, bytes);
        }
        Ok(!bytes.is_empty())
    }
}
