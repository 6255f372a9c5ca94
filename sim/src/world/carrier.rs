//! Carries bytes between the ends of a connection, in the world's messages or through turmoil.

use super::agenda::HostIndex;

pub(crate) trait Carrier {
    fn connect(&mut self, socket: u32, from: HostIndex, to: HostIndex);
    fn accept(&mut self, client: u32, server: u32);
    fn established(&mut self, client: u32);
    fn refused(&mut self, client: u32);
    /// Returns the bytes to put into the world's message, or no bytes if turmoil carries them.
    fn send(&mut self, socket: u32, message: u64, bytes: &[u8]) -> Vec<u8>;
    fn receive(&mut self, socket: u32, sent: Vec<u8>, length: usize, buffer: &mut Vec<u8>);
    fn close(&mut self, socket: u32);
}

#[derive(Default)]
pub(crate) struct Direct {
    spare: Vec<Vec<u8>>,
}

impl Carrier for Direct {
    fn connect(&mut self, _: u32, _: HostIndex, _: HostIndex) {}

    fn accept(&mut self, _: u32, _: u32) {}

    fn established(&mut self, _: u32) {}

    fn refused(&mut self, _: u32) {}

    fn send(&mut self, _: u32, _: u64, bytes: &[u8]) -> Vec<u8> {
        let mut sent = self.spare.pop().unwrap_or_default();
        sent.extend_from_slice(bytes);
        sent
    }

    fn receive(&mut self, _: u32, mut sent: Vec<u8>, _: usize, buffer: &mut Vec<u8>) {
        if buffer.is_empty() {
            std::mem::swap(buffer, &mut sent);
        } else {
            buffer.extend_from_slice(&sent);
        }
        sent.clear();
        if sent.capacity() > 0 && self.spare.len() < 64 {
            self.spare.push(sent);
        }
    }

    fn close(&mut self, _: u32) {}
}
