//! Parses the commands of an append-only file (`loadSingleAppendOnlyFile` in aof.c).

use crate::data::number::parse_integer;

const HEADER_LENGTH_MAX: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LogError {
    CutOff,
    Malformed,
}

#[derive(Clone, Debug)]
pub(crate) struct LogReader<'a> {
    file: &'a [u8],
    pub(crate) position: usize,
}

impl<'a> LogReader<'a> {
    pub(crate) fn new(file: &'a [u8]) -> Self {
        LogReader { file, position: 0 }
    }

    pub(crate) fn next(&mut self, arguments: &mut Vec<&'a [u8]>) -> Result<bool, LogError> {
        arguments.clear();
        if self.position == self.file.len() {
            return Ok(false);
        }
        let mut ahead = self.clone();
        let count = ahead.header(b'*')?;
        if count == 0 {
            return Err(LogError::Malformed);
        }
        for _ in 0..count {
            arguments.push(ahead.argument()?);
        }
        *self = ahead;
        Ok(true)
    }

    fn argument(&mut self) -> Result<&'a [u8], LogError> {
        let length = self.header(b'$')?;
        let start = self.position;
        let end = start.checked_add(length).ok_or(LogError::Malformed)?;
        let text = self.file.get(start..end).ok_or(LogError::CutOff)?;
        match &self.file[end..] {
            [b'\r', b'\n', ..] => self.position = end + 2,
            [] | [b'\r'] => return Err(LogError::CutOff),
            _ => return Err(LogError::Malformed),
        }
        Ok(text)
    }

    fn header(&mut self, kind: u8) -> Result<usize, LogError> {
        let rest = &self.file[self.position..];
        let line = &rest[..rest.len().min(HEADER_LENGTH_MAX)];
        if line.first().is_some_and(|first| *first != kind) {
            return Err(LogError::Malformed);
        }
        let Some(length) = line.iter().position(|byte| *byte == b'\n') else {
            let is_short = line.len() < HEADER_LENGTH_MAX;
            return Err(if is_short { LogError::CutOff } else { LogError::Malformed });
        };
        let digits = line[1..length].strip_suffix(b"\r").and_then(parse_integer);
        let number = digits.and_then(|number| usize::try_from(number).ok());
        self.position += length + 1;
        number.ok_or(LogError::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] =
        b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n";

    fn read(file: &[u8]) -> (Vec<Vec<&[u8]>>, Result<bool, LogError>) {
        let (mut reader, mut commands) = (LogReader::new(file), Vec::new());
        loop {
            let mut arguments = Vec::new();
            match reader.next(&mut arguments) {
                Ok(true) => commands.push(arguments),
                end => return (commands, end),
            }
        }
    }

    #[test]
    fn commands_are_read_in_their_order() {
        let expected: [&[&[u8]]; 2] = [&[b"SELECT", b"0"], &[b"SET", b"k", b""]];
        assert_eq!(read(FILE), (expected.map(<[&[u8]]>::to_vec).to_vec(), Ok(false)));
    }

    #[test]
    fn a_file_that_ends_early_is_cut_off_at_any_byte() {
        for length in 1..FILE.len() {
            let (commands, end) = read(&FILE[..length]);
            let is_between = length == 23;
            assert_eq!(commands.len(), usize::from(length >= 23), "{length}");
            assert_eq!(end == Ok(false), is_between, "{length}");
            assert_eq!(end == Err(LogError::CutOff), !is_between, "{length}");
        }
    }

    #[test]
    fn other_bytes_than_commands_are_malformed() {
        for file in [
            &b"SET k v\r\n"[..],
            b"*0\r\n",
            b"*-1\r\n",
            b"*1\n$1\r\na\r\n",
            b"*x\r\n",
            b"*1\r\n+OK\r\n",
            b"*1\r\n$1\r\nab\r\n",
            b"*1\r\n$-1\r\n",
            b"*1\r\n$18446744073709551615\r\na\r\n",
            b"*00000000000000000000000000000000000000001\r\n",
        ] {
            let end = read(file).1;
            assert_eq!(end, Err(LogError::Malformed), "{}", String::from_utf8_lossy(file));
        }
    }
}
