//! Serves sockets while the machine handles a long input, during which tokio's tasks cannot run.

use super::Host;
use crate::computer::{Computer, running, without_delay};
use fencepost_machine::{Input, InputDriver, InterruptedMachine};
use socket2::SockRef;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpStream;

const READ_BUFFER_SIZE: usize = 16 * 1024;
const ACCEPTED_MAX: usize = 128;

#[derive(Debug)]
pub(crate) struct HostDriver(pub(crate) Weak<Host<Computer>>);

impl InputDriver for HostDriver {
    fn now(&self) -> Duration {
        running()
    }

    fn must_stop(&self) -> bool {
        self.0.upgrade().is_none_or(|host| host.platform.leave.load(Ordering::Relaxed))
    }

    fn deliver_input(&self, interrupted: &mut dyn InterruptedMachine) {
        if let Some(host) = self.0.upgrade() {
            host.deliver_input(interrupted);
        }
    }
}

impl Host<Computer> {
    fn deliver_input(self: &Rc<Host<Computer>>, interrupted: &mut dyn InterruptedMachine) {
        self.sync_at_once(interrupted);
        self.accept_at_once(interrupted);
        self.handle_during_input(Input::Continue, interrupted);
        let connections: Vec<_> =
            self.connections.borrow().iter().map(|(id, open)| (*id, Rc::clone(open))).collect();
        let mut buffer = [0; READ_BUFFER_SIZE];
        for (id, open) in connections {
            if !interrupted.takes(id) {
                continue;
            }
            if let Ok(length @ 1..) = (&*SockRef::from(&open.stream)).read(&mut buffer) {
                self.handle_during_input(
                    Input::Received { connection: id, bytes: &buffer[..length] },
                    interrupted,
                );
            }
        }
    }

    fn sync_at_once(&self, interrupted: &mut dyn InterruptedMachine) {
        let awaited = self.syncs_awaited.take();
        if awaited == 0 {
            return;
        }
        if let Err(failure) = self.platform.files.borrow().sync() {
            return self.fail(failure);
        }
        self.syncs_reported.set(self.syncs_reported.get() + awaited);
        (0..awaited).for_each(|_| self.handle_during_input(Input::DiskSynced, interrupted));
    }

    fn accept_at_once(self: &Rc<Host<Computer>>, interrupted: &mut dyn InterruptedMachine) {
        for _ in 0..ACCEPTED_MAX {
            let Ok((stream, peer)) = self.accept_one() else { return };
            let connection = self.admit(stream);
            self.handle_during_input(
                Input::Accepted { connection, peer: &peer.to_string() },
                interrupted,
            );
        }
    }

    fn accept_one(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (socket, _) = SockRef::from(&self.platform.listener).accept()?;
        socket.set_nonblocking(true)?;
        let stream = without_delay(TcpStream::from_std(socket.into())?);
        let peer = stream.peer_addr()?;
        Ok((stream, peer))
    }
}
