//! Jute, ZooKeeper's serialisation, with big-endian integers. A length of -1 means null.

use bytes::Bytes;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Malformed;

pub(crate) type Read<T> = Result<T, Malformed>;

#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    fn take(&mut self, length: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(Malformed)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    pub(crate) fn byte(&mut self) -> Read<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn bool(&mut self) -> Read<bool> {
        Ok(self.byte()? != 0)
    }

    pub(crate) fn int(&mut self) -> Read<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub(crate) fn long(&mut self) -> Read<i64> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    fn length(&mut self) -> Read<Option<usize>> {
        match self.int()? {
            -1 => Ok(None),
            length => usize::try_from(length).map(Some).map_err(|_| Malformed),
        }
    }

    pub(crate) fn buffer(&mut self) -> Read<Option<&'a [u8]>> {
        self.length()?.map(|length| self.take(length)).transpose()
    }

    /// Reads a string. Invalid UTF-8 becomes U+FFFD, as in Java.
    pub(crate) fn string(&mut self) -> Read<Option<String>> {
        Ok(self.buffer()?.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    }

    pub(crate) fn text(&mut self) -> Read<String> {
        self.string()?.ok_or(Malformed)
    }

    pub(crate) fn list<T>(
        &mut self,
        mut element: impl FnMut(&mut Reader<'a>) -> Read<T>,
    ) -> Read<Option<Vec<T>>> {
        let Some(length) = self.length()? else { return Ok(None) };
        (0..length).map(|_| element(self)).collect::<Read<_>>().map(Some)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn frame() -> Writer {
        let mut writer = Writer::default();
        writer.int(0);
        writer
    }

    pub(crate) fn framed(mut self) -> Bytes {
        let length = i32::try_from(self.bytes.len() - 4).unwrap_or(i32::MAX);
        self.bytes[..4].copy_from_slice(&length.to_be_bytes());
        self.bytes.into()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn byte(&mut self, value: u8) -> &mut Writer {
        self.bytes.push(value);
        self
    }

    pub(crate) fn bool(&mut self, value: bool) -> &mut Writer {
        self.byte(u8::from(value))
    }

    pub(crate) fn int(&mut self, value: i32) -> &mut Writer {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn long(&mut self, value: i64) -> &mut Writer {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn length(&mut self, length: usize) -> &mut Writer {
        self.int(i32::try_from(length).unwrap_or(i32::MAX))
    }

    pub(crate) fn buffer(&mut self, value: Option<&[u8]>) -> &mut Writer {
        match value {
            None => self.int(-1),
            Some(bytes) => {
                self.length(bytes.len());
                self.raw(bytes)
            }
        }
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Writer {
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub(crate) fn string(&mut self, value: &str) -> &mut Writer {
        self.buffer(Some(value.as_bytes()))
    }

    pub(crate) fn list<T>(
        &mut self,
        elements: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut Writer, T),
    ) -> &mut Writer {
        self.length(elements.len());
        elements.for_each(|element| write(self, element));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut writer = Writer::default();
        writer.int(-7).long(1 << 40).bool(true).string("/a").buffer(None).buffer(Some(b"x"));
        writer.list(["p", "q"].iter(), |writer, text| {
            writer.string(text);
        });
        let bytes = writer.into_bytes();
        let mut reader = Reader::new(&bytes);
        assert_eq!((reader.int(), reader.long(), reader.bool()), (Ok(-7), Ok(1 << 40), Ok(true)));
        assert_eq!(reader.string(), Ok(Some("/a".to_owned())));
        assert_eq!((reader.buffer(), reader.buffer()), (Ok(None), Ok(Some(b"x".as_slice()))));
        assert_eq!(reader.list(Reader::text), Ok(Some(vec!["p".to_owned(), "q".to_owned()])));
        assert_eq!(reader.rest(), b"");
    }

    #[test]
    fn a_length_beyond_the_end_or_below_null_is_malformed() {
        for bytes in [&[0, 0, 0, 9, 1][..], &[255, 255, 255, 254], &[0, 0], &[127, 255, 255, 255]] {
            assert_eq!(Reader::new(bytes).buffer(), Err(Malformed), "{bytes:?}");
            assert_eq!(Reader::new(bytes).list(Reader::byte), Err(Malformed), "{bytes:?}");
        }
    }
}
