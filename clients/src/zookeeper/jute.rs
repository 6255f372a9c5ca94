//! Jute, ZooKeeper's encoding of records (`zookeeper.jute` and `BinaryOutputArchive` of 3.8).

use bytes::{Bytes, BytesMut};

/// Default of ZooKeeper's `jute.maxbuffer`, in bytes.
const FRAME_BYTES_MAX: usize = 0xf_ffff;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);

pub struct Encoder(Vec<u8>);

impl Encoder {
    pub fn frame() -> Encoder {
        Encoder(vec![0; 4])
    }

    pub fn int(mut self, value: i32) -> Encoder {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub fn long(mut self, value: i64) -> Encoder {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub fn boolean(mut self, value: bool) -> Encoder {
        self.0.push(u8::from(value));
        self
    }

    pub fn buffer(mut self, bytes: &[u8]) -> Encoder {
        self = self.count(bytes.len());
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn string(self, text: &str) -> Encoder {
        self.buffer(text.as_bytes())
    }

    pub fn strings(self, texts: &[String]) -> Encoder {
        texts.iter().fold(self.count(texts.len()), |encoder, text| encoder.string(text))
    }

    pub fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len() - 4).expect("a frame of less than 4 GiB");
        self.0[..4].copy_from_slice(&length.to_be_bytes());
        self.0
    }

    fn count(self, count: usize) -> Encoder {
        self.int(i32::try_from(count).expect("a count of less than 2 GiB"))
    }
}

pub struct Decoder(Bytes);

impl Decoder {
    pub fn take_from(input: &mut BytesMut) -> Result<Option<Decoder>, Malformed> {
        let Some(header) = input.first_chunk::<4>() else { return Ok(None) };
        let length = usize::try_from(i32::from_be_bytes(*header)).unwrap_or(usize::MAX);
        if length > FRAME_BYTES_MAX {
            return Err(Malformed("a frame that is too long".to_owned()));
        }
        if input.len() < 4 + length {
            return Ok(None);
        }
        let frame = input.split_to(4 + length).freeze().slice(4..);
        Ok(Some(Decoder(frame)))
    }

    pub fn int(&mut self) -> Result<i32, Malformed> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub fn long(&mut self) -> Result<i64, Malformed> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    #[cfg(test)]
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Reads a buffer. A null buffer counts as empty.
    pub fn buffer(&mut self) -> Result<Bytes, Malformed> {
        match self.int()? {
            -1 => Ok(Bytes::new()),
            length => self.bytes(usize::try_from(length).unwrap_or(usize::MAX)),
        }
    }

    pub fn string(&mut self) -> Result<String, Malformed> {
        String::from_utf8(self.buffer()?.to_vec())
            .map_err(|_| Malformed("a string that is not UTF-8".to_owned()))
    }

    /// Reads a vector of strings. A null vector counts as empty.
    pub fn strings(&mut self) -> Result<Vec<String>, Malformed> {
        let count = self.int()?.max(0);
        (0..count).map(|_| self.string()).collect()
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let bytes = self.bytes(N)?;
        Ok(*bytes.first_chunk().expect("as many bytes as were asked for"))
    }

    fn bytes(&mut self, length: usize) -> Result<Bytes, Malformed> {
        if length > self.0.len() {
            return Err(Malformed("a record that ends early".to_owned()));
        }
        Ok(self.0.split_to(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoder(frame: &[u8]) -> Result<Option<Decoder>, Malformed> {
        Decoder::take_from(&mut BytesMut::from(frame))
    }

    #[test]
    fn a_frame_reads_as_it_was_written() {
        let frame = Encoder::frame()
            .int(-8)
            .long(i64::MIN)
            .boolean(true)
            .buffer(b"\0\xff")
            .strings(&["/a".to_owned(), String::new()])
            .finish();
        let mut decoder = decoder(&frame).unwrap().unwrap();
        assert_eq!(decoder.int(), Ok(-8));
        assert_eq!(decoder.long(), Ok(i64::MIN));
        assert_eq!(decoder.byte(), Ok(1));
        assert_eq!(decoder.buffer().unwrap().as_ref(), b"\0\xff");
        assert_eq!(decoder.strings().unwrap(), ["/a", ""]);
        assert!(decoder.int().is_err());
    }

    #[test]
    fn a_frame_that_is_too_long_or_negative_is_refused_before_it_has_arrived() {
        for length in [-1, 0x10_0000, i32::MAX] {
            assert!(decoder(&length.to_be_bytes()).is_err(), "{length}");
        }
        assert!(decoder(&[0, 0, 0]).unwrap().is_none());
        assert!(decoder(&[0, 0, 0, 2, 7]).unwrap().is_none());
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(Some(mut decoder)) = decoder(&bytes) {
                while let Ok(count) = decoder.int() {
                    let _ = (count, decoder.buffer(), decoder.strings(), decoder.long());
                }
            }
        }
    }
}
