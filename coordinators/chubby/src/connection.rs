//! A connection that a replica has accepted: of a client, or of another replica.

use bytes::{Bytes, BytesMut};

/// The longest line of a client.
const LINE_MAX: usize = 1_024;
/// The longest line of a replica.
const STATE_MAX: usize = 64 << 20;

/// An accepted connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connection {
    pub(crate) input: BytesMut,
    /// The replica that has opened it, once it has said so.
    pub(crate) replica: Option<u8>,
}

/// Why there is no line.
pub(crate) enum NoLine {
    /// Its end has not arrived.
    Incomplete,
    /// It is too long.
    TooLong,
}

impl Connection {
    /// Takes the next line.
    pub(crate) fn line(&mut self) -> Result<Bytes, NoLine> {
        let max = if self.replica.is_some() { STATE_MAX } else { LINE_MAX };
        match self.input.iter().position(|byte| *byte == b'\n') {
            Some(end) if end <= max => {
                let line = self.input.split_to(end + 1).freeze();
                Ok(line.slice(..end))
            }
            None if self.input.len() <= max => Err(NoLine::Incomplete),
            Some(_) | None => Err(NoLine::TooLong),
        }
    }

    pub(crate) fn has_line(&self) -> bool {
        self.input.contains(&b'\n')
    }
}
