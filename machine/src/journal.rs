//! Files of records in fencepost's own format. A record consists of the length of its body, a
//! checksum of that length, a checksum of the body, and the body. A crash during an append can
//! leave part of a record, or zeros, at the end of the append-only file; [`open`] drops them. With
//! any other damage, a server refuses to start.

use crate::damage::{Damage, DiskFile, Response};
use crate::image::DiskImage;
use crate::output::{Output, Outputs};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use crc::{CRC_32_ISCSI, Crc};

const CHECKSUM: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);
/// Format version, included in the checksum of each length.
const VERSION: u8 = 3;
const HEADER_BYTES: usize = 12;

#[derive(Clone, Debug)]
pub struct Files {
    /// Body of the first record of the snapshot file.
    pub snapshot: Option<Bytes>,
    pub log: Vec<Bytes>,
    /// Complete records of the append-only file, as on disk.
    pub whole_log: Bytes,
    pub config: Option<Bytes>,
    pub check: Check,
}

#[derive(Clone, Debug, Default)]
pub struct Check {
    damage: Option<Damage>,
    repaired: Option<DiskImage>,
    is_refused: bool,
}

impl Check {
    /// Reports damage once and repairs it if possible. Returns `true` if the server must not start.
    pub fn report(&mut self, out: &mut Outputs) -> bool {
        if let Some(damage) = self.damage.take() {
            self.is_refused = damage.response == Response::Refused;
            out.list.push(Output::Damaged(damage));
        }
        if let Some(image) = self.repaired.take() {
            out.list.push(Output::DiskReplace { image });
        }
        out.stopped |= self.is_refused;
        self.is_refused
    }
}

pub fn open(disk: &DiskImage) -> Files {
    let read_one = |file: &Option<Bytes>| file.as_ref().map(read);
    let (snapshot, config, log) =
        (read_one(&disk.snapshot), read_one(&disk.config), read(&disk.append_only));
    let damages = [
        snapshot.as_ref().and_then(|file| file.damage(DiskFile::Snapshot)),
        config.as_ref().and_then(|file| file.damage(DiskFile::Config)),
        log.damage(DiskFile::AppendOnly),
    ];
    let damage = damages.into_iter().flatten().next();
    let whole_log = disk.append_only.slice(..log.whole);
    let is_repaired = damage.as_ref().is_some_and(|found| found.response == Response::Repaired);
    let repaired = is_repaired.then(|| DiskImage {
        snapshot: disk.snapshot.clone(),
        append_only: whole_log.clone(),
        config: None,
    });
    let check = Check { damage, repaired, is_refused: false };
    let first = |file: Option<Read>| file?.records.into_iter().next();
    Files { snapshot: first(snapshot), log: log.records, whole_log, config: first(config), check }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// Bodies of the complete records before any damage.
    pub records: Vec<Bytes>,
    whole: usize,
    rest: Rest,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest {
    None,
    Cut(usize),
    Damaged,
}

impl Read {
    fn damage(&self, file: DiskFile) -> Option<Damage> {
        let (what, response) = match (file, self.rest) {
            (_, Rest::None) => return None,
            (DiskFile::AppendOnly, Rest::Cut(bytes)) => {
                let what = format!("dropped the incomplete record in the last {bytes} bytes");
                (what, Response::Repaired)
            }
            _ => {
                let what = format!("damaged at byte {}: expected a record", self.whole);
                (what, Response::Refused)
            }
        };
        Some(Damage { file, what, response })
    }
}

/// Encodes a record. Panics if the body has 4 GiB or more.
pub fn record(body: &[u8]) -> Bytes {
    let length = u32::try_from(body.len()).expect("a record of less than 4 GiB");
    let mut record = BytesMut::with_capacity(HEADER_BYTES + body.len());
    record.put_u32(length);
    record.put_u32(length_checksum(length));
    record.put_u32(CHECKSUM.checksum(body));
    record.put_slice(body);
    record.freeze()
}

pub fn read(file: &Bytes) -> Read {
    let (mut records, mut unread) = (Vec::new(), file.clone());
    let rest = loop {
        if unread.is_empty() {
            break Rest::None;
        }
        match next(&mut unread) {
            Ok(body) => records.push(body),
            Err(rest) => break rest,
        }
    };
    let whole = records.iter().map(|body| HEADER_BYTES + body.len()).sum();
    Read { records, whole, rest }
}

fn next(unread: &mut Bytes) -> Result<Bytes, Rest> {
    let cut = Rest::Cut(unread.len());
    if unread.len() < HEADER_BYTES || unread.iter().all(|byte| *byte == 0) {
        return Err(cut);
    }
    let mut header = unread.slice(..HEADER_BYTES);
    let (length, of_length, of_body) = (header.get_u32(), header.get_u32(), header.get_u32());
    if of_length != length_checksum(length) {
        return Err(Rest::Damaged);
    }
    let length = length as usize;
    if unread.len() - HEADER_BYTES < length {
        return Err(cut);
    }
    let body = unread.slice(HEADER_BYTES..HEADER_BYTES + length);
    if of_body != CHECKSUM.checksum(&body) {
        return Err(Rest::Damaged);
    }
    unread.advance(HEADER_BYTES + length);
    Ok(body)
}

fn length_checksum(length: u32) -> u32 {
    let mut digest = CHECKSUM.digest();
    digest.update(&length.to_be_bytes());
    digest.update(&[VERSION]);
    digest.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Bytes {
        [record(b"one"), record(b""), record(b"three")].concat().into()
    }

    #[test]
    fn records_are_read_back() {
        let read = read(&file());
        assert_eq!(read.records, ["one", "", "three"].map(Bytes::from));
        assert_eq!((read.whole, read.rest), (file().len(), Rest::None));
    }

    #[test]
    fn accepts_a_cut_record_at_the_end() {
        for end in 0..file().len() {
            let read = read(&file().slice(..end));
            let left = end - read.whole;
            assert_eq!(read.rest, if left == 0 { Rest::None } else { Rest::Cut(left) });
            assert!(read.records.len() < 3);
        }
        let zeros = [file(), vec![0; 512].into()].concat().into();
        assert_eq!(read(&zeros).rest, Rest::Cut(512));
    }

    fn checked(append_only: Bytes) -> (Files, Outputs, bool) {
        let disk = DiskImage { append_only, ..DiskImage::default() };
        let (mut files, mut out) = (open(&disk), Outputs::default());
        let is_refused = files.check.report(&mut out);
        assert_eq!(out.stopped, is_refused);
        (files, out, is_refused)
    }

    #[test]
    fn a_cut_record_is_reported_and_the_log_written_again_without_it() {
        let (files, out, is_refused) = checked(file().slice(..file().len() - 1));
        assert!(!is_refused);
        let [Output::Damaged(damage), Output::DiskReplace { image }] = &out.list[..] else {
            panic!("{:?}", out.list)
        };
        assert_eq!(damage.what, "dropped the incomplete record in the last 16 bytes");
        assert_eq!(image.append_only, files.whole_log);
        assert_eq!(read(&image.append_only).records, ["one", ""].map(Bytes::from));
    }

    #[test]
    fn damage_is_refused_for_good() {
        let mut damaged = file().to_vec();
        damaged[HEADER_BYTES] ^= 1;
        let (mut files, out, is_refused) = checked(damaged.into());
        assert!(is_refused);
        let [Output::Damaged(damage)] = &out.list[..] else { panic!("{:?}", out.list) };
        assert_eq!(damage.what, "damaged at byte 0: expected a record");
        assert!(files.check.report(&mut Outputs::default()));
    }

    #[test]
    fn rejects_any_flipped_bit() {
        for bit in 0..file().len() * 8 {
            let mut flipped = file().to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&flipped.into()).rest, Rest::Damaged, "bit {bit}");
        }
    }
}
