//! Numbers as Redis reads and writes them. Must never know commands.

/// An integer in decimal, without an allocation.
pub(crate) struct Decimal {
    digits: [u8; 20],
    start: usize,
}

impl Decimal {
    /// `value` in decimal.
    pub(crate) fn of(value: i64) -> Self {
        let mut decimal = Decimal { digits: [0; 20], start: 20 };
        let mut rest = value.unsigned_abs();
        loop {
            decimal.push((rest % 10) as u8 + b'0');
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            decimal.push(b'-');
        }
        decimal
    }

    fn push(&mut self, byte: u8) {
        self.start -= 1;
        self.digits[self.start] = byte;
    }

    /// The digits.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.digits[self.start..]
    }
}

/// Reads an integer as `string2ll` in util.c: no spaces, no plus sign, no leading zeros, no `-0`.
pub(crate) fn parse_integer(text: &[u8]) -> Option<i64> {
    if text == b"0" {
        return Some(0);
    }
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() > 19 || !matches!(digits.first(), Some(b'1'..=b'9')) {
        return None;
    }
    let mut magnitude: u64 = 0;
    for byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        magnitude = magnitude.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
    }
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// A double as RESP3 has it: `%.17g`, with `inf`, `-inf` and `nan`.
pub(crate) fn double_text(value: f64) -> String {
    if value.is_nan() {
        return String::from("nan");
    }
    if value.is_infinite() {
        return String::from(if value > 0.0 { "inf" } else { "-inf" });
    }
    general(value, 17)
}

/// C's `%.{digits}g`.
pub(crate) fn general(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return String::from(if value.is_sign_negative() { "-0" } else { "0" });
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_trailing_zeros(mantissa), exponent.unsigned_abs());
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    without_trailing_zeros(&format!("{value:.decimals$}")).to_owned()
}

fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Reads a double as `getDoubleFromObject`: all of the text, no leading space, not NaN.
pub(crate) fn parse_double(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let value: f64 = text.parse().ok()?;
    (!value.is_nan()).then_some(value)
}
