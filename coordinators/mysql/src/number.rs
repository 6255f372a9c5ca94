use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Decimal {
    pub(crate) text: String,
    pub(crate) digits: u32,
    pub(crate) places: u8,
}

impl Decimal {
    pub(crate) fn written(text: &str) -> Decimal {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let shown = match (whole, fraction) {
            (whole, "") => whole.to_owned(),
            ("", fraction) => format!("0.{fraction}"),
            (whole, fraction) => format!("{whole}.{fraction}"),
        };
        let digits = (whole.len() + fraction.len()) as u32;
        Decimal { text: shown, digits, places: fraction.len().min(30) as u8 }
    }

    pub(crate) fn negated(self) -> Decimal {
        Decimal { text: format!("-{}", self.text), ..self }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Seconds {
    pub(crate) micros: i128,
    pub(crate) is_whole: bool,
}

const DIGITS_MAX: usize = 25;

pub(crate) fn seconds(text: &[u8]) -> Seconds {
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(text.len());
    let trimmed = &text[start..];
    let (is_negative, rest) = match trimmed.first() {
        Some(b'-') => (true, &trimmed[1..]),
        Some(b'+') => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(rest);
    let after = &rest[whole..];
    let fraction = match after.first() {
        Some(b'.') => digits(&after[1..]),
        _ => 0,
    };
    let has_point = after.first() == Some(&b'.') && whole + fraction > 0;
    let end = &after[if has_point { 1 + fraction } else { 0 }..];
    let is_whole = whole + fraction > 0 && end.iter().all(u8::is_ascii_whitespace);
    let seconds = integer(&rest[..whole]);
    let mut micros = seconds.saturating_mul(1_000_000);
    if has_point {
        let places = after[1..1 + fraction].iter().copied().chain(std::iter::repeat(b'0'));
        micros += integer(&places.take(6).collect::<Vec<u8>>());
    }
    Seconds { micros: if is_negative { -micros } else { micros }, is_whole }
}

fn integer(digits: &[u8]) -> i128 {
    let start = digits.iter().position(|byte| *byte != b'0').unwrap_or(digits.len());
    let digits = &digits[start..];
    match digits.len() > DIGITS_MAX {
        true => 10_i128.pow(DIGITS_MAX as u32),
        false => digits.iter().fold(0, |sum, digit| sum * 10 + i128::from(digit - b'0')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_far_as_they_are_numbers() {
        let read = |text: &str| {
            let Seconds { micros, is_whole } = seconds(text.as_bytes());
            (micros, is_whole)
        };
        assert_eq!(read("1"), (1_000_000, true));
        assert_eq!(read(" -1.5 "), (-1_500_000, true));
        assert_eq!(read(".25"), (250_000, true));
        assert_eq!(read("3."), (3_000_000, true));
        assert_eq!(read("1x"), (1_000_000, false));
        assert_eq!(read("x"), (0, false));
        assert_eq!(read(""), (0, false));
        assert_eq!(read("."), (0, false));
        assert_eq!(read(&"9".repeat(99)).0, 10_i128.pow(31));
    }
}
