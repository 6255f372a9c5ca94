//! Numbers of INCRBYFLOAT and HINCRBYFLOAT. Redis's `long double` may differ in the last digits.

/// Number of decimal places that Redis prints before it removes trailing zeros.
const DECIMALS: usize = 17;
const DIGITS_MAX: usize = 37;

/// A decimal number, stored as the number times 10^17.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decimal(i128);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Parsed {
    Finite(Decimal),
    Infinite,
    /// The absolute value is 10^20 or more.
    TooLarge,
}

/// Parses a number and rounds it to 17 decimal places. Rejects spaces and NaN.
pub(crate) fn parse(text: &[u8]) -> Option<Parsed> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if ["inf", "infinity"].iter().any(|name| digits.eq_ignore_ascii_case(name)) {
        return Some(Parsed::Infinite);
    }
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let all = all.trim_start_matches('0');
    let length = all.len() as i64 + i64::from(exponent) + DECIMALS as i64 - fraction.len() as i64;
    if all.is_empty() || length < 0 {
        return Some(Parsed::Finite(Decimal::ZERO));
    }
    let Some(length) = usize::try_from(length).ok().filter(|length| *length <= DIGITS_MAX) else {
        return Some(Parsed::TooLarge);
    };
    let (kept, cut) = all.split_at(length.min(all.len()));
    let magnitude = format!("0{kept:0<length$}").parse::<i128>().ok()?;
    let rounded = magnitude + i128::from(cut.starts_with(['5', '6', '7', '8', '9']));
    Some(Parsed::Finite(Decimal(if text.starts_with('-') { -rounded } else { rounded })))
}

impl Decimal {
    pub(crate) const ZERO: Decimal = Decimal(0);

    pub(crate) fn add(self, other: Decimal) -> Decimal {
        Decimal(self.0 + other.0)
    }

    pub(crate) fn text(self) -> String {
        let sign = if self.0 < 0 { "-" } else { "" };
        let padded = format!("{:0>width$}", self.0.unsigned_abs(), width = DECIMALS + 1);
        let (whole, decimals) = padded.split_at(padded.len() - DECIMALS);
        let text = format!("{sign}{whole}.{decimals}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(one: &str, other: &str) -> String {
        let read = |text: &str| match parse(text.as_bytes()) {
            Some(Parsed::Finite(number)) => number,
            other => panic!("{text} is {other:?}"),
        };
        read(one).add(read(other)).text()
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(sum("3", "0.1"), "3.1");
        assert_eq!(sum("5.0e3", "2.0e2"), "5200");
        assert_eq!(sum("1", "-1.5"), "-0.5");
        assert_eq!(sum("1", "-1"), "0");
        assert_eq!(sum("1000000.1", "+.2"), "1000000.3");
        assert_eq!(sum("1e-20", "5e-18"), "0.00000000000000001");
        assert_eq!(sum("99999999999999999999", "1.5"), "100000000000000000000.5");
    }

    #[test]
    fn text_that_is_no_number_is_refused() {
        for text in ["", " 1", "1 ", "abc", "1.2.3", "-", ".", "1e", "nan", "--1", "0x1"] {
            assert_eq!(parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(parse(b"-Inf"), Some(Parsed::Infinite));
        assert_eq!(parse(b"1e20"), Some(Parsed::TooLarge));
    }
}
