//! Small hashes in a listpack (listpack.c, from 7.0) or a ziplist (ziplist.c, before).

use super::RdbError;

fn integer(bytes: &[u8]) -> Vec<u8> {
    let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut whole = if negative { [0xff; 8] } else { [0; 8] };
    whole[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(whole).to_string().into_bytes()
}

/// A listpack: total length (4 bytes), count (2), elements each followed by its length, 255.
pub(super) fn listpack(bytes: &[u8]) -> Result<Vec<Vec<u8>>, RdbError> {
    const BAD: RdbError = RdbError::Malformed("listpack");
    let mut rest = bytes.get(6..).ok_or(BAD)?;
    let mut elements = Vec::new();
    loop {
        let (&first, after) = rest.split_first().ok_or(BAD)?;
        if first == 0xff {
            return Ok(elements);
        }
        let (element, length) = listpack_element(first, after).ok_or(BAD)?;
        elements.push(element);
        rest = rest.get(length + backward_length(length)..).ok_or(BAD)?;
    }
}

fn listpack_element(first: u8, after: &[u8]) -> Option<(Vec<u8>, usize)> {
    let text = |header: usize, length: usize| {
        Some((after.get(header..header + length)?.to_vec(), 1 + header + length))
    };
    let number = |length: usize| Some((integer(after.get(..length)?), 1 + length));
    match first {
        0..=0x7f => Some((first.to_string().into_bytes(), 1)),
        0x80..=0xbf => text(0, usize::from(first & 0x3f)),
        0xc0..=0xdf => {
            let unsigned = i32::from(first & 0x1f) << 8 | i32::from(*after.first()?);
            let value = if unsigned >= 1 << 12 { unsigned - (1 << 13) } else { unsigned };
            Some((value.to_string().into_bytes(), 2))
        }
        0xe0..=0xef => text(1, usize::from(first & 0x0f) << 8 | usize::from(*after.first()?)),
        0xf0 => text(4, u32::from_le_bytes(after.get(..4)?.try_into().ok()?) as usize),
        0xf1 => number(2),
        0xf2 => number(3),
        0xf3 => number(4),
        0xf4 => number(8),
        _ => None,
    }
}

fn backward_length(length: usize) -> usize {
    match length {
        0..=127 => 1,
        128..=16_382 => 2,
        16_383..=2_097_150 => 3,
        2_097_151..=268_435_454 => 4,
        _ => 5,
    }
}

/// A ziplist: total length (4 bytes), position of the last element (4), count (2), elements each
/// preceded by the length of the one before, 255.
pub(super) fn ziplist(bytes: &[u8]) -> Result<Vec<Vec<u8>>, RdbError> {
    const BAD: RdbError = RdbError::Malformed("ziplist");
    let mut rest = bytes.get(10..).ok_or(BAD)?;
    let mut elements = Vec::new();
    loop {
        let previous_length = match rest.first().ok_or(BAD)? {
            0xff => return Ok(elements),
            0xfe => 5,
            _ => 1,
        };
        rest = rest.get(previous_length..).ok_or(BAD)?;
        let (&first, after) = rest.split_first().ok_or(BAD)?;
        let (element, length) = ziplist_element(first, after).ok_or(BAD)?;
        elements.push(element);
        rest = rest.get(length..).ok_or(BAD)?;
    }
}

fn ziplist_element(first: u8, after: &[u8]) -> Option<(Vec<u8>, usize)> {
    let text = |header: usize, length: usize| {
        Some((after.get(header..header + length)?.to_vec(), 1 + header + length))
    };
    let number = |length: usize| Some((integer(after.get(..length)?), 1 + length));
    match first {
        0..=0x3f => text(0, usize::from(first)),
        0x40..=0x7f => text(1, usize::from(first & 0x3f) << 8 | usize::from(*after.first()?)),
        0x80 => text(4, u32::from_be_bytes(after.get(..4)?.try_into().ok()?) as usize),
        0xc0 => number(2),
        0xd0 => number(4),
        0xe0 => number(8),
        0xf0 => number(3),
        0xf1..=0xfd => Some((((first & 0x0f) - 1).to_string().into_bytes(), 1)),
        0xfe => number(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listpack_numbers_and_texts_are_read() {
        let mut bytes = vec![0, 0, 0, 0, 0, 0];
        bytes.extend_from_slice(&[5, 1]);
        bytes.extend_from_slice(&[0xdf, 0xff, 2]);
        bytes.extend_from_slice(&[0xf1, 0x00, 0x80, 3]);
        bytes.extend_from_slice(&[0x82, b'h', b'i', 3, 0xff]);
        let elements = listpack(&bytes).unwrap();
        assert_eq!(elements, [&b"5"[..], b"-1", b"-32768", b"hi"]);
        assert_eq!(listpack(&bytes[..bytes.len() - 1]), Err(RdbError::Malformed("listpack")));
    }

    #[test]
    fn ziplist_numbers_and_texts_are_read() {
        let mut bytes = vec![0; 10];
        bytes.extend_from_slice(&[
            0, 2, b'h', b'i', 4, 0xf1, 2, 0xfe, 0x80, 3, 0xc0, 0x39, 0x30, 0xff,
        ]);
        let elements = ziplist(&bytes).unwrap();
        assert_eq!(elements, [&b"hi"[..], b"0", b"-128", b"12345"]);
        assert_eq!(ziplist(&bytes[..12]), Err(RdbError::Malformed("ziplist")));
    }
}
