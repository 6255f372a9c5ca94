//! Numbers in commands, parsed as in util.c. Text after white space is ignored.

fn parse(text: &[u8]) -> Option<(bool, u128)> {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let start = text.iter().take_while(|byte| blank(byte)).count();
    let (negative, digits) = match &text[start..] {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 || !digits.get(length).is_none_or(blank) {
        return None;
    }
    let value = digits[..length].iter().fold(0_u128, |value, digit| {
        value.saturating_mul(10).saturating_add(u128::from(digit - b'0'))
    });
    Some((negative, value))
}

/// Parses a number and keeps its lower 32 bits, as `safe_strtol` does.
pub(crate) fn signed(text: &[u8]) -> Option<i32> {
    let (negative, value) = parse(text)?;
    let value = i128::try_from(value).ok()?;
    i64::try_from(if negative { -value } else { value }).ok().map(|value| value as i32)
}

pub(crate) fn expiry(text: &[u8]) -> Option<i64> {
    signed(text).map(i64::from)
}

/// Parses a number as `safe_strtoull` does. Accepts negative numbers that wrap to less than 2^63.
pub(crate) fn unsigned(text: &[u8]) -> Option<u64> {
    let (negative, value) = parse(text)?;
    let value = u64::try_from(value).ok()?;
    let wrapped = if negative { value.wrapping_neg() } else { value };
    (wrapped as i64 >= 0 || !negative).then_some(wrapped)
}

/// Parses flags as `safe_strtoflags` does: a 64-bit number, of which only the lower 32 bits count.
pub(crate) fn flags(text: &[u8]) -> Option<u32> {
    unsigned(text).map(|value| value as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        assert_eq!(signed(b"-1"), Some(-1));
        assert_eq!(signed(b"2147483648"), Some(i32::MIN));
        assert_eq!(signed(b"4294967297"), Some(1));
        assert_eq!(signed(b"9223372036854775808"), None);
        assert_eq!(signed(b"-9223372036854775808"), Some(0));
        assert_eq!(signed(b"abc"), None);
        assert_eq!(signed(b""), None);
        assert_eq!(unsigned(b"12 abc"), Some(12));
        assert_eq!(unsigned(b"12abc"), None);
        assert_eq!(unsigned(b"-1"), None);
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(unsigned(b"18446744073709551616"), None);
        assert_eq!(flags(b"4294967296"), Some(0));
    }
}
