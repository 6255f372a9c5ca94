//! Parses requests that may arrive in pieces, with Redis's limits and errors. Follows
//! `processMultibulkBuffer` and `processInlineBuffer` in networking.c, which skip the byte after a
//! `\r` and the two bytes after a bulk string without checking them.

use crate::data::number;
use crate::protocol::args::{Args, Span};
use crate::protocol::inline;

/// Maximum length in bytes of a header or an inline command (`PROTO_INLINE_MAX_SIZE`).
const LINE_LENGTH_MAX: usize = 64 * 1024;
/// The parser moves unprocessed bytes only if more processed bytes than this precede them.
const SERVED_BYTES_MAX: usize = 32 * 1024;
const IDLE_CAPACITY_MAX: usize = 256 * 1024;

/// Maximum length of a request in bytes. It is limited because positions in a buffer have 32 bits.
const REQUEST_LENGTH_MAX: usize = (4 << 30) - (2 << 20);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) bulk_length_max: usize,
    pub(crate) unauthenticated: bool,
    pub(crate) request_length_max: usize,
}

impl Limits {
    pub(crate) const fn of(bulk_length_max: usize) -> Limits {
        Limits { bulk_length_max, unauthenticated: false, request_length_max: REQUEST_LENGTH_MAX }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ProtocolError(pub(crate) Vec<u8>);

impl ProtocolError {
    fn of(text: &str) -> Self {
        ProtocolError(text.as_bytes().to_vec())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Request {
    buffer: Vec<u8>,
    spans: Vec<Span>,
}

impl Request {
    pub(crate) fn args(&self) -> Args<'_> {
        Args::new(&self.buffer, &self.spans)
    }
}

#[derive(Debug, Default)]
pub(crate) struct RequestReader {
    buffer: Vec<u8>,
    position: usize,
    spans: Vec<Span>,
    /// Number of missing arguments of the current command; `None` between commands.
    awaited: Option<usize>,
    bulk_length: Option<usize>,
    pub(crate) complete: bool,
    searched: usize,
}

impl RequestReader {
    #[inline]
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    pub(crate) fn pending(&self) -> usize {
        self.buffer.len().saturating_sub(self.position)
    }

    #[inline(always)]
    pub(crate) fn advance(&mut self, limits: Limits) -> Result<bool, ProtocolError> {
        if self.complete || self.parse_whole(limits) { Ok(true) } else { self.parse(limits) }
    }

    #[inline(never)]
    fn parse(&mut self, limits: Limits) -> Result<bool, ProtocolError> {
        while !self.complete {
            if self.parse_whole(limits) {
                break;
            }
            let advanced = match self.awaited {
                Some(awaited) => self.read_argument(awaited, limits)?,
                None if self.position == self.buffer.len() => false,
                None if self.buffer[self.position] == b'*' => self.read_count(limits)?,
                None => self.read_inline()?,
            };
            if !advanced {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[inline(always)]
    fn parse_whole(&mut self, limits: Limits) -> bool {
        self.awaited.is_none() && self.searched == 0 && self.read_whole(limits)
    }

    #[inline]
    fn read_whole(&mut self, limits: Limits) -> bool {
        let mut rest = &self.buffer[self.position..];
        let Some((count @ 1.., header)) = short_header(rest, b'*') else { return false };
        if (count > 10 && limits.unauthenticated) || limits.bulk_length_max < SHORT_LENGTH_MAX {
            return false;
        }
        rest = &rest[header..];
        if self.spans.len() != count {
            self.spans.resize(count, Span::default());
        }
        for span in &mut self.spans {
            let Some((length, header)) = short_header(rest, b'$') else { return false };
            let start = self.buffer.len() - rest.len() + header;
            let Some(behind) = rest.get(header + length + 2..) else { return false };
            *span = Span { start: start as u32, end: (start + length) as u32 };
            rest = behind;
        }
        self.position = self.buffer.len() - rest.len();
        self.complete = true;
        true
    }

    pub(crate) fn take(&mut self) -> Request {
        self.complete = false;
        Request { buffer: std::mem::take(&mut self.buffer), spans: std::mem::take(&mut self.spans) }
    }

    pub(crate) fn restore(&mut self, request: Request) {
        self.buffer = request.buffer;
        self.spans = request.spans;
        self.complete = true;
    }

    #[inline]
    pub(crate) fn give_back(&mut self, request: Request) {
        self.buffer = request.buffer;
        self.spans = request.spans;
        self.forget_served();
        if self.buffer.is_empty() {
            self.buffer.shrink_to(IDLE_CAPACITY_MAX);
        }
    }

    /// Finds the end of a line. Like C's `strchr`, stops at a NUL byte.
    fn find_line_end(&mut self, end: u8) -> Option<usize> {
        let from = self.position + self.searched;
        let found = self.buffer[from..].iter().position(|byte| *byte == end || *byte == 0);
        match found {
            Some(offset) if self.buffer[from + offset] == end => Some(from + offset),
            Some(offset) => {
                self.searched += offset;
                None
            }
            None => {
                self.searched = self.buffer.len() - self.position;
                None
            }
        }
    }

    fn header(&mut self, too_big: &str, limits: Limits) -> Result<Option<Span>, ProtocolError> {
        let Some(end) = self.find_line_end(b'\r') else {
            return if self.pending() > LINE_LENGTH_MAX {
                Err(ProtocolError::of(too_big))
            } else {
                Ok(None)
            };
        };
        if end + 2 > self.buffer.len() {
            return Ok(None);
        }
        Self::check_length(end, limits)?;
        Ok(Some(Span { start: self.position as u32, end: end as u32 }))
    }

    fn check_length(end: usize, limits: Limits) -> Result<(), ProtocolError> {
        match end > limits.request_length_max {
            true => Err(ProtocolError::of("too big request")),
            false => Ok(()),
        }
    }

    fn pass_line(&mut self, line: Span) -> Option<i64> {
        self.position = line.end as usize + 2;
        self.searched = 0;
        self.buffer.get(line.start as usize + 1..line.end as usize).and_then(number::parse_integer)
    }

    fn read_count(&mut self, limits: Limits) -> Result<bool, ProtocolError> {
        let Some(line) = self.header("too big mbulk count string", limits)? else {
            return Ok(false);
        };
        match self.pass_line(line) {
            Some(count) if count > i64::from(i32::MAX) => {
                Err(ProtocolError::of("invalid multibulk length"))
            }
            None => Err(ProtocolError::of("invalid multibulk length")),
            Some(count) if count > 10 && limits.unauthenticated => {
                Err(ProtocolError::of("unauthenticated multibulk length"))
            }
            Some(count) if count <= 0 => {
                self.forget_served();
                Ok(true)
            }
            Some(count) => {
                self.spans.clear();
                self.awaited = Some(count as usize);
                Ok(true)
            }
        }
    }

    fn read_argument(&mut self, awaited: usize, limits: Limits) -> Result<bool, ProtocolError> {
        let Some(length) = self.bulk_length else { return self.read_bulk_length(limits) };
        let end = self.position + length;
        if self.buffer.len() < end + 2 {
            return Ok(false);
        }
        self.spans.push(Span { start: self.position as u32, end: end as u32 });
        self.position = end + 2;
        self.bulk_length = None;
        self.complete = awaited == 1;
        self.awaited = (awaited > 1).then_some(awaited - 1);
        Ok(true)
    }

    fn read_bulk_length(&mut self, limits: Limits) -> Result<bool, ProtocolError> {
        let Some(line) = self.header("too big bulk count string", limits)? else {
            return Ok(false);
        };
        let kind = self.buffer[line.start as usize];
        if kind != b'$' {
            let mut text = b"expected '$', got '".to_vec();
            text.extend_from_slice(&[kind, b'\'']);
            return Err(ProtocolError(text));
        }
        match self.pass_line(line).and_then(|length| usize::try_from(length).ok()) {
            Some(length) if length > limits.bulk_length_max => {
                Err(ProtocolError::of("invalid bulk length"))
            }
            None => Err(ProtocolError::of("invalid bulk length")),
            Some(length) if length > 16_384 && limits.unauthenticated => {
                Err(ProtocolError::of("unauthenticated bulk length"))
            }
            Some(length) => {
                Self::check_length(self.position.saturating_add(length), limits)?;
                self.bulk_length = Some(length);
                Ok(true)
            }
        }
    }

    fn read_inline(&mut self) -> Result<bool, ProtocolError> {
        let Some(end) = self.find_line_end(b'\n') else {
            let too_big = self.pending() > LINE_LENGTH_MAX;
            return if too_big {
                Err(ProtocolError::of("too big inline request"))
            } else {
                Ok(false)
            };
        };
        let line = &self.buffer[self.position..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let words = inline::split_words(line)
            .ok_or_else(|| ProtocolError::of("unbalanced quotes in request"))?;
        self.spans.clear();
        let line_start = std::mem::replace(&mut self.position, end + 1);
        self.searched = 0;
        if words.is_empty() {
            self.forget_served();
        } else {
            self.place_words(line_start, &words);
        }
        Ok(true)
    }

    /// Overwrites a line with its words. They fit, because quotes and escapes only shorten words.
    fn place_words(&mut self, line_start: usize, words: &[Vec<u8>]) {
        let mut start = line_start;
        for word in words {
            let end = start + word.len();
            self.buffer[start..end].copy_from_slice(word);
            self.spans.push(Span { start: start as u32, end: end as u32 });
            start = end;
        }
        self.complete = true;
    }

    /// Removes processed bytes. This invalidates spans, so call it only between commands.
    fn forget_served(&mut self) {
        if self.position == self.buffer.len() {
            self.buffer.clear();
            self.position = 0;
        } else if self.position > SERVED_BYTES_MAX.max(self.pending()) {
            self.buffer.drain(..self.position);
            self.position = 0;
        }
    }
}

const SHORT_LENGTH_MAX: usize = 999;

#[inline(always)]
pub(crate) fn short_header(bytes: &[u8], kind: u8) -> Option<(usize, usize)> {
    let digit = |byte: u8| Some(usize::from(byte.wrapping_sub(b'0'))).filter(|digit| *digit < 10);
    // At least two bytes follow a header, so a header and its content have at least six bytes.
    let [first, a, b, c, d, _] = *bytes.first_chunk()?;
    if first != kind {
        return None;
    }
    let a = digit(a)?;
    match [b, c, d] {
        [b'\r', ..] => Some((a, 4)),
        _ if a == 0 => None,
        [b, b'\r', _] => Some((a * 10 + digit(b)?, 5)),
        [b, c, b'\r'] => Some((a * 100 + digit(b)? * 10 + digit(c)?, 6)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn served<'b>(
        pieces: impl IntoIterator<Item = &'b [u8]>,
        limits: Limits,
    ) -> (Vec<Vec<Vec<u8>>>, Option<ProtocolError>) {
        let (mut reader, mut commands) = (RequestReader::default(), Vec::new());
        for piece in pieces {
            reader.feed(piece);
            loop {
                match reader.advance(limits) {
                    Ok(false) => break,
                    Err(error) => return (commands, Some(error)),
                    Ok(true) => {
                        let request = reader.take();
                        commands.push(request.args().iter().map(<[u8]>::to_vec).collect());
                        reader.give_back(request);
                    }
                }
            }
        }
        (commands, None)
    }

    #[test]
    fn a_request_is_bounded_with_all_of_its_arguments() {
        let limits = Limits { request_length_max: 200, ..Limits::of(100) };
        let argument = format!("$90\r\n{}\r\n", "x".repeat(90));
        let two = format!("*2\r\n{argument}{argument}");
        let (commands, error) = served([two.as_bytes()], limits);
        assert_eq!((commands.len(), error), (1, None));
        let three = format!("*3\r\n{argument}{argument}{argument}");
        for size in [1, 7, three.len()] {
            let (commands, error) = served(three.as_bytes().chunks(size), limits);
            assert_eq!(commands.len(), 0, "{size}: nothing of it is read as a command");
            assert_eq!(error, Some(ProtocolError::of("too big request")), "{size}");
        }
        // Short requests skip the limit check, but their positions must also fit into 32 bits.
        const SLACK: usize = LINE_LENGTH_MAX + SERVED_BYTES_MAX + 1_000 * SHORT_LENGTH_MAX;
        const { assert!(REQUEST_LENGTH_MAX + SLACK < u32::MAX as usize) };
    }

    #[test]
    fn empty_commands_leave_nothing_in_the_buffer() {
        let mut reader = RequestReader::default();
        for _ in 0..1_000 {
            reader.feed(&b"*0\r\n*-1\r\n\r\n".repeat(1_000));
            reader.feed(b"*");
            assert_eq!(reader.advance(Limits::of(100)), Ok(false));
            reader.feed(b"0\r\n");
            assert!(reader.buffer.len() < 3 * SERVED_BYTES_MAX, "{}", reader.buffer.len());
        }
    }

    fn requests() -> impl Strategy<Value = Vec<u8>> {
        let word = proptest::collection::vec(any::<u8>(), 0..130).prop_map(|word| {
            let mut bytes = format!("${}\r\n", word.len()).into_bytes();
            bytes.extend(word);
            bytes.extend(b"\r\n");
            bytes
        });
        let command = proptest::collection::vec(word, 0..13).prop_map(|words| {
            let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
            bytes.extend(words.concat());
            bytes
        });
        let oddity = prop_oneof![
            Just(b"*01\r\n$4\r\nPING\r\n".to_vec()),
            Just(b"*1\r\n$04\r\nPING\r\n".to_vec()),
            Just(b"*-1\r\n".to_vec()),
            Just(b"*1\rx$4\rxPINGxx".to_vec()),
            Just(b"PING\r\n".to_vec()),
            Just(b"*1\r\n:4\r\n".to_vec()),
            Just(b"*1\r\n$9999\r\n".to_vec()),
        ];
        proptest::collection::vec(prop_oneof![4 => command, 1 => oddity], 1..4)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn commands_that_come_whole_are_the_commands_that_come_byte_by_byte(
            bytes in requests(),
            unauthenticated in any::<bool>(),
            bulk_length_max in 20..200_usize,
        ) {
            let limits = Limits { unauthenticated, ..Limits::of(bulk_length_max) };
            prop_assert_eq!(served([&bytes[..]], limits), served(bytes.chunks(1), limits));
        }
    }
}
