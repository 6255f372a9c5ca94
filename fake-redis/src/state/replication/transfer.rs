//! A snapshot in transit from the primary to a replica.

use bytes::{Bytes, BytesMut};

const DELIMITER_LENGTH: usize = 40;
const LINE_LENGTH_MAX: usize = 1_024;

#[derive(Debug)]
pub(crate) struct Transfer {
    id: String,
    offset: u64,
    end: Option<End>,
    searched: usize,
}

#[derive(Debug)]
enum End {
    Length(usize),
    Delimiter(Bytes),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Received {
    pub(crate) payload: Bytes,
    pub(crate) id: String,
    pub(crate) offset: u64,
    pub(crate) wants_acknowledgement: bool,
}

impl Transfer {
    pub(crate) fn of(id: &str, offset: u64) -> Self {
        Transfer { id: id.to_owned(), offset, end: None, searched: 0 }
    }

    pub(super) fn read(&mut self, buffer: &mut BytesMut) -> Result<Option<Received>, NotASnapshot> {
        if self.end.is_none() {
            self.take_announcement(buffer)?;
        }
        let Some(payload) = self.take_payload(buffer) else { return Ok(None) };
        let wants_acknowledgement = matches!(self.end, Some(End::Delimiter(_)));
        let (id, offset) = (self.id.clone(), self.offset);
        Ok(Some(Received { payload, id, offset, wants_acknowledgement }))
    }

    fn take_announcement(&mut self, buffer: &mut BytesMut) -> Result<(), NotASnapshot> {
        let blank = buffer.iter().take_while(|byte| **byte == b'\n').count();
        drop(buffer.split_to(blank));
        let Some(length) = buffer.iter().position(|byte| *byte == b'\n') else {
            return if buffer.len() > LINE_LENGTH_MAX { Err(NotASnapshot) } else { Ok(()) };
        };
        let line = buffer.split_to(length + 1);
        let line = line.trim_ascii_end().strip_prefix(b"$").ok_or(NotASnapshot)?;
        self.end = Some(match line.strip_prefix(b"EOF:") {
            Some(delimiter) if delimiter.len() >= DELIMITER_LENGTH => {
                End::Delimiter(Bytes::copy_from_slice(&delimiter[..DELIMITER_LENGTH]))
            }
            Some(_) => return Err(NotASnapshot),
            None => End::Length(
                std::str::from_utf8(line)
                    .ok()
                    .and_then(|text| text.parse().ok())
                    .ok_or(NotASnapshot)?,
            ),
        });
        Ok(())
    }

    fn take_payload(&mut self, buffer: &mut BytesMut) -> Option<Bytes> {
        match self.end.as_ref()? {
            End::Length(length) => {
                (buffer.len() >= *length).then(|| buffer.split_to(*length).freeze())
            }
            End::Delimiter(delimiter) => {
                let from = self.searched.saturating_sub(DELIMITER_LENGTH);
                let found =
                    buffer[from..].windows(DELIMITER_LENGTH).position(|window| window == delimiter);
                self.searched = buffer.len();
                let payload = buffer.split_to(from + found?).freeze();
                drop(buffer.split_to(DELIMITER_LENGTH));
                Some(payload)
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NotASnapshot;

#[cfg(test)]
mod tests {
    use super::*;

    fn split(bytes: &[u8], part: usize) -> Option<(Bytes, BytesMut)> {
        let (mut transfer, mut buffer) = (Transfer::of("id", 0), BytesMut::new());
        for chunk in bytes.chunks(part) {
            buffer.extend_from_slice(chunk);
            if let Some(received) = transfer.read(&mut buffer).unwrap() {
                return Some((received.payload, buffer));
            }
        }
        None
    }

    #[test]
    fn a_snapshot_ends_at_its_length_or_delimiter_however_it_is_split() {
        let delimiter = "d".repeat(40);
        let marked = format!("\n\n$EOF:{delimiter}\r\nREDIS{delimiter}");
        for part in 1..marked.len() {
            let (payload, _) = split(marked.as_bytes(), part).unwrap();
            assert_eq!(payload, "REDIS", "in parts of {part}");
            let (payload, _) = split(b"\n$5\r\nREDIS", part).unwrap();
            assert_eq!(payload, "REDIS");
        }
        let (_, rest) = split(b"$5\r\nREDIS*1\r\n", 100).unwrap();
        assert_eq!(rest, "*1\r\n");
    }

    #[test]
    fn rejects_an_announcement_that_is_none() {
        for line in ["+OK\r\n", "$x\r\n", "$EOF:short\r\n", "-ERR no\r\n"] {
            let mut buffer = BytesMut::from(line);
            assert_eq!(Transfer::of("id", 0).read(&mut buffer), Err(NotASnapshot), "{line}");
        }
    }
}
