//! The vDSO of traced programs, in which C libraries find the functions that read the clocks.

use crate::sys::clock_pages::{CODE_AT, PAGE, functions};

const NAME: &str = "linux-vdso.so.1";
const VERSION: &str = "LINUX_2.6";
const SEGMENTS_AT: u64 = 64;
const TABLES_AT: usize = 64 + 2 * 56;

const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_STRSZ: u64 = 10;
const DT_SYMENT: u64 = 11;
const DT_SONAME: u64 = 14;
const DT_VERSYM: u64 = 0x6fff_fff0;
const DT_VERDEF: u64 = 0x6fff_fffc;
const DT_VERDEFNUM: u64 = 0x6fff_fffd;

struct Image(Vec<u8>);

impl Image {
    fn place(&mut self) -> u64 {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self.0.len() as u64
    }

    fn half(&mut self, values: &[u16]) {
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    fn words(&mut self, values: &[u32]) {
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    fn long(&mut self, values: &[u64]) {
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
}

#[derive(Default)]
struct Names(Vec<u8>);

impl Names {
    fn add(&mut self, name: &str) -> u32 {
        let at = self.0.len() as u32;
        self.0.extend(name.bytes().chain([0]));
        at
    }
}

fn hash(name: &str) -> u32 {
    name.bytes().fold(0, |hash: u32, byte| {
        let sum = (hash << 4).wrapping_add(byte.into());
        let high = sum & 0xf000_0000;
        (sum ^ high >> 24) & !high
    })
}

pub(crate) fn image() -> Vec<u8> {
    let (code, functions) = functions();
    let mut names = Names::default();
    names.add("");
    let (name, version) = (names.add(NAME), names.add(VERSION));
    let mut image = Image(vec![0; TABLES_AT]);
    let symbols = image.place();
    image.long(&[0; 3]);
    for (function, at) in functions {
        image.words(&[names.add(function)]);
        image.half(&[1 << 4 | 2, 1]);
        image.long(&[(CODE_AT + at) as u64, 0]);
    }
    let count = functions.len() as u32 + 1;
    let table = image.place();
    image.words(&[1, count, 1, 0]);
    image.words(&(2..count).chain([0]).collect::<Vec<u32>>());
    let of_symbols = image.place();
    image.half(&[0]);
    image.half(&[2; 4]);
    let versions = image.place();
    for (index, (flags, at, text, next)) in
        [(1, name, NAME, 28), (0, version, VERSION, 0)].into_iter().enumerate()
    {
        image.half(&[1, flags, index as u16 + 1, 1]);
        image.words(&[hash(text), 20, next, at, 0]);
    }
    let strings = image.place();
    image.0.extend(&names.0);
    let dynamic = image.place();
    let entries = [
        [DT_SONAME, name.into()],
        [DT_HASH, table],
        [DT_STRTAB, strings],
        [DT_SYMTAB, symbols],
        [DT_STRSZ, names.0.len() as u64],
        [DT_SYMENT, 24],
        [DT_VERSYM, of_symbols],
        [DT_VERDEF, versions],
        [DT_VERDEFNUM, 2],
        [0, 0],
    ];
    image.long(entries.as_flattened());
    assert!(image.0.len() <= CODE_AT && CODE_AT + code.len() <= PAGE, "one page holds all");
    let head = head(dynamic, size_of_val(&entries) as u64);
    image.0[..TABLES_AT].copy_from_slice(&head);
    image.0.resize(CODE_AT, 0);
    image.0.extend(code);
    image.0.resize(PAGE, 0);
    image.0
}

fn head(dynamic: u64, length: u64) -> Vec<u8> {
    let mut head = Image(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec());
    head.half(&[3, 62]);
    head.words(&[1]);
    head.long(&[0, SEGMENTS_AT, 0]);
    head.words(&[0]);
    head.half(&[64, 56, 2, 0, 0, 0]);
    head.words(&[1, 5]);
    head.long(&[0, 0, 0, PAGE as u64, PAGE as u64, PAGE as u64]);
    head.words(&[2, 4]);
    head.long(&[dynamic, dynamic, dynamic, length, length, 8]);
    head.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_elf() {
        assert_eq!(hash(VERSION), 0x3ae_75f6);
    }

    #[test]
    fn the_image_is_one_page_with_four_functions() {
        let (image, (code, functions)) = (image(), functions());
        assert_eq!(image.len(), PAGE);
        assert!(image.starts_with(b"\x7fELF\x02"));
        assert!(code.len() < 512, "{}", code.len());
        assert!(functions.iter().all(|(_, at)| *at < code.len()));
    }
}
