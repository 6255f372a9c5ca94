//! Numbers in commands, as `safe_strtol` and its kin in util.c read them.
//!
//! They are C's `strtol`: leading blanks and a sign are allowed, and after the digits may follow a
//! blank and anything.

/// Digits with their sign, if the text begins with a number as C understands it.
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

/// `safe_strtoll`: 64 bits with a sign.
pub(crate) fn expiry(text: &[u8]) -> Option<i64> {
    let (negative, value) = parse(text)?;
    let value = i64::try_from(value).ok()?;
    Some(if negative { -value } else { value })
}

/// `safe_strtol`: 32 bits with a sign.
pub(crate) fn signed(text: &[u8]) -> Option<i32> {
    expiry(text).and_then(|value| i32::try_from(value).ok())
}

/// `safe_strtoull`: 64 bits. A small negative number wraps around to one that is refused; one that
/// wraps around to a small number is taken.
pub(crate) fn unsigned(text: &[u8]) -> Option<u64> {
    let (negative, value) = parse(text)?;
    let value = u64::try_from(value).ok()?;
    let wrapped = if negative { value.wrapping_neg() } else { value };
    (wrapped as i64 >= 0 || !negative).then_some(wrapped)
}

/// `safe_strtoflags`: of 64 bits the lower 32 count.
pub(crate) fn flags(text: &[u8]) -> Option<u32> {
    unsigned(text).map(|value| value as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        assert_eq!(signed(b"-1"), Some(-1));
        assert_eq!(signed(b"2147483648"), None);
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
