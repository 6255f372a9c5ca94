//! Decompresses LZF, which Redis uses for long strings in snapshots (lzf_d.c).

/// Returns the content if it is well-formed and `length` bytes long.
///
/// A control byte below 32 is followed by that many plus one literal bytes. Any other is a back
/// reference: its upper three bits are the length minus two (7: the next byte is added), its lower
/// five bits and the byte after that are the distance minus one.
pub(super) fn unpack(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    // A forged length must not allocate memory before the content confirms it.
    let mut content = Vec::with_capacity(length.min(packed.len() * 4));
    let mut rest = packed;
    while let Some((&control, after)) = rest.split_first() {
        if control < 32 {
            let run = usize::from(control) + 1;
            content.extend_from_slice(after.get(..run)?);
            rest = &after[run..];
        } else {
            let (run, low, after) = match (control >> 5, after) {
                (7, [more, low, after @ ..]) => (9 + usize::from(*more), *low, after),
                (run @ 1..=6, [low, after @ ..]) => (usize::from(run) + 2, *low, after),
                _ => return None,
            };
            let distance = (usize::from(control & 31) << 8 | usize::from(low)) + 1;
            let start = content.len().checked_sub(distance)?;
            (start..start + run).for_each(|index| content.push(content[index]));
            rest = after;
        }
        if content.len() > length {
            return None;
        }
    }
    (content.len() == length).then_some(content)
}

#[cfg(test)]
mod tests {
    use super::unpack;

    #[test]
    fn literals_and_references_are_unpacked() {
        assert_eq!(unpack(b"\x02abc", 3).unwrap(), b"abc");
        // One letter, then a reference of 29 bytes to it that overlaps itself.
        assert_eq!(unpack(b"\x00a\xe0\x14\x00", 30).unwrap(), [b'a'; 30]);
        assert_eq!(unpack(b"\x02abc\x20\x02", 6).unwrap(), b"abcabc");
    }

    #[test]
    fn rejects_what_is_cut_short_too_long_or_refers_before_the_start() {
        for (packed, length) in [
            (&b"\x02ab"[..], 3),
            (b"\x02abc", 2),
            (b"\x02abc", 4),
            (b"\x00a\x20\x05", 4),
            (b"\xe0\x01", 9),
        ] {
            assert_eq!(unpack(packed, length), None, "{packed:?}");
        }
    }
}
