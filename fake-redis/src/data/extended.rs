//! The x87 `long double`, with a 64-bit mantissa, in which Redis computes INCRBYFLOAT. An `f64`
//! would give `3.10000000000000009` where Redis replies `3.1`.

use std::cmp::Ordering;

const TEXT_LENGTH_MAX: usize = 5 * 1024;
/// Decimal exponent beyond which a `long double` is infinite or zero.
const DECIMAL_EXPONENT_MAX: i64 = 5_000;
/// Binary exponent of the largest finite number, whose mantissa is a 64-bit integer.
const EXPONENT_MAX: i32 = 16_384 - 64;
/// Number of decimals that Redis prints before it removes trailing zeros.
const DECIMALS: u32 = 17;

/// The number `mantissa * 2^exponent`. The mantissa's top bit is set unless the number is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extended {
    negative: bool,
    mantissa: u64,
    exponent: i32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Parsed {
    Finite(Extended),
    Infinite,
}

struct Natural(Vec<u32>);

impl Natural {
    fn of(mut value: u128) -> Self {
        let mut parts = Vec::new();
        while value > 0 {
            parts.push(value as u32);
            value >>= 32;
        }
        Natural(parts)
    }

    fn multiply_and_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for part in &mut self.0 {
            carry += u64::from(*part) * u64::from(factor);
            *part = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0_u64;
        for part in self.0.iter_mut().rev() {
            rest = rest << 32 | u64::from(*part);
            *part = (rest / u64::from(divisor)) as u32;
            rest %= u64::from(divisor);
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        rest as u32
    }

    fn shift_left(&mut self, bits: u32) {
        if !bits.is_multiple_of(32) {
            self.multiply_and_add(1 << (bits % 32), 0);
        }
        let zeros = vec![0; (bits / 32) as usize];
        self.0.splice(0..0, zeros);
    }

    fn bits(&self) -> u32 {
        self.0.last().map_or(0, |top| self.0.len() as u32 * 32 - top.leading_zeros())
    }

    fn bit(&self, index: u32) -> bool {
        self.0.get((index / 32) as usize).is_some_and(|part| part >> (index % 32) & 1 == 1)
    }

    fn top(&self) -> (u128, u32, bool) {
        let cut = self.bits().saturating_sub(128);
        let value = (cut..self.bits())
            .rev()
            .fold(0, |value, index| value << 1 | u128::from(self.bit(index)));
        (value, cut, (0..cut).any(|index| self.bit(index)))
    }

    fn decimal(mut self) -> String {
        let mut groups = Vec::new();
        while !self.0.is_empty() {
            groups.push(self.divide(1_000_000_000));
        }
        let Some(first) = groups.pop() else { return String::from("0") };
        groups.iter().rev().fold(first.to_string(), |text, group| text + &format!("{group:09}"))
    }
}

/// Rounds to 64 bits; `None` is infinity. `sticky` is set if any lower bit was cut off.
fn rounded(negative: bool, value: u128, exponent: i32, sticky: bool) -> Option<Extended> {
    if value == 0 {
        return Some(Extended { negative, mantissa: 0, exponent: 0 });
    }
    let shift = 64 - value.leading_zeros() as i32;
    if shift <= 0 {
        return Some(Extended {
            negative,
            mantissa: (value << -shift) as u64,
            exponent: exponent + shift,
        });
    }
    let mantissa = value >> shift;
    let rest = value & ((1 << shift) - 1);
    let half = 1_u128 << (shift - 1);
    let up = match rest.cmp(&half) {
        Ordering::Greater => true,
        Ordering::Equal => sticky || mantissa & 1 == 1,
        Ordering::Less => false,
    };
    let mantissa = mantissa + u128::from(up);
    let (mantissa, exponent) = if mantissa >> 64 == 1 {
        (mantissa >> 1, exponent + shift + 1)
    } else {
        (mantissa, exponent + shift)
    };
    (exponent <= EXPONENT_MAX).then_some(Extended { negative, mantissa: mantissa as u64, exponent })
}

/// Parses a number without leading spaces or NaN (`string2ld` in util.c).
pub(crate) fn parse(text: &[u8]) -> Option<Parsed> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.eq_ignore_ascii_case(b"inf") || digits.eq_ignore_ascii_case(b"infinity") {
        return Some(Parsed::Infinite);
    }
    if let [b'0', b'x' | b'X', digits @ ..] = digits {
        let (natural, exponent) = read_hexadecimal(digits)?;
        let (value, cut, sticky) = natural.top();
        return rounded(negative, value, cut as i32 + exponent, sticky).map(Parsed::Finite);
    }
    let (natural, exponent) = read_decimal(digits)?;
    let value = from_decimal(negative, natural, exponent)?;
    (!value.underflows()).then_some(Parsed::Finite(value))
}

fn read_hexadecimal(text: &[u8]) -> Option<(Natural, i32)> {
    if text.len() > TEXT_LENGTH_MAX {
        return None;
    }
    let mut natural = Natural::of(0);
    let (mut exponent, mut seen_digit, mut after_point) = (0, false, false);
    for (index, byte) in text.iter().enumerate() {
        match byte {
            b'.' if !after_point => after_point = true,
            b'p' | b'P' if seen_digit => {
                let written: i32 = std::str::from_utf8(&text[index + 1..]).ok()?.parse().ok()?;
                return (written.abs() <= EXPONENT_MAX).then_some((natural, exponent + written));
            }
            byte => {
                natural.multiply_and_add(16, char::from(*byte).to_digit(16)?);
                exponent -= if after_point { 4 } else { 0 };
                seen_digit = true;
            }
        }
    }
    seen_digit.then_some((natural, exponent))
}

fn read_decimal(text: &[u8]) -> Option<(Natural, i64)> {
    if text.len() > TEXT_LENGTH_MAX {
        return None;
    }
    let mut natural = Natural::of(0);
    let (mut exponent, mut seen_digit, mut after_point) = (0, false, false);
    for (index, byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                natural.multiply_and_add(10, u32::from(byte - b'0'));
                exponent -= i64::from(after_point);
                seen_digit = true;
            }
            b'.' if !after_point => after_point = true,
            b'e' | b'E' if seen_digit => {
                let written = std::str::from_utf8(&text[index + 1..]).ok()?;
                return Some((
                    natural,
                    exponent + written.parse::<i64>().ok()?.clamp(-100_000, 100_000),
                ));
            }
            _ => return None,
        }
    }
    seen_digit.then_some((natural, exponent))
}

/// Returns `natural * 10^exponent`, or `None` where `strtold` reports a range error.
fn from_decimal(negative: bool, mut natural: Natural, exponent: i64) -> Option<Extended> {
    if natural.bits() == 0 {
        return Some(Extended { negative, mantissa: 0, exponent: 0 });
    }
    if exponent.abs() > DECIMAL_EXPONENT_MAX + TEXT_LENGTH_MAX as i64 {
        return None;
    }
    let mut below = 0;
    let mut sticky = false;
    if exponent >= 0 {
        (0..exponent).for_each(|_| natural.multiply_and_add(10, 0));
    } else {
        // Because 10 < 2^4, this many additional bits leave at least 128 bits after the divisions.
        below = exponent.unsigned_abs() as u32 * 4 + 128;
        natural.shift_left(below);
        (exponent..0).for_each(|_| sticky |= natural.divide(10) != 0);
    }
    let (value, cut, is_cut) = natural.top();
    rounded(negative, value, cut as i32 - below as i32, sticky || is_cut)
}

impl Extended {
    pub(crate) const ZERO: Extended = Extended { negative: false, mantissa: 0, exponent: 0 };

    /// Returns whether the number is too small for a `long double` (`getLongDoubleFromObject`).
    fn underflows(self) -> bool {
        const LEAST: i32 = -16_445;
        let top = self.exponent + 63 - self.mantissa.leading_zeros() as i32;
        self.mantissa != 0 && top < LEAST - 1
    }

    pub(crate) fn add(self, other: Extended) -> Option<Extended> {
        if self.mantissa == 0 || other.mantissa == 0 {
            return Some(if self.mantissa == 0 { other } else { self });
        }
        let is_larger = (self.exponent, self.mantissa) >= (other.exponent, other.mantissa);
        let (large, small) = if is_larger { (self, other) } else { (other, self) };
        const GUARD: u32 = 62;
        let distance = large.exponent.abs_diff(small.exponent);
        let wide = u128::from(large.mantissa) << GUARD;
        let shifted = u128::from(small.mantissa) << GUARD;
        let (narrow, sticky) = match distance {
            0..=127 => (shifted >> distance, shifted.trailing_zeros() < distance),
            _ => (0, true),
        };
        let exponent = large.exponent - GUARD as i32;
        if large.negative == small.negative {
            rounded(large.negative, wide + narrow, exponent, sticky)
        } else {
            // The cut-off bits make the subtrahend greater, so the difference is one less.
            let difference = wide - narrow - u128::from(sticky);
            rounded(large.negative && difference > 0, difference, exponent, sticky)
        }
    }

    /// Formats like `%.17Lf` without trailing zeros (`ld2string` with `LD_STR_HUMAN` in util.c).
    pub(crate) fn text(self) -> String {
        let scale = 10_u128.pow(DECIMALS);
        let digits = if self.exponent >= 0 {
            let mut whole = Natural::of(u128::from(self.mantissa) * scale);
            whole.shift_left(self.exponent as u32);
            whole.decimal()
        } else {
            scaled_down(u128::from(self.mantissa) * scale, self.exponent.unsigned_abs()).to_string()
        };
        let padded = format!("{digits:0>width$}", width = DECIMALS as usize + 1);
        let (whole, decimals) = padded.split_at(padded.len() - DECIMALS as usize);
        let decimals = decimals.trim_end_matches('0');
        let sign = if self.negative && digits != "0" { "-" } else { "" };
        let point = if decimals.is_empty() { "" } else { "." };
        format!("{sign}{whole}{point}{decimals}")
    }
}

/// Returns `value / 2^bits`, rounded to the nearest number, with ties to even.
fn scaled_down(value: u128, bits: u32) -> u128 {
    if bits >= 128 {
        return 0;
    }
    let (quotient, rest, half) = (value >> bits, value & ((1 << bits) - 1), 1_u128 << (bits - 1));
    let up = rest > half || rest == half && quotient & 1 == 1;
    quotient + u128::from(up)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(one: &str, other: &str) -> String {
        let read = |text: &str| match parse(text.as_bytes()) {
            Some(Parsed::Finite(number)) => number,
            other => panic!("{text} is {other:?}"),
        };
        read(one).add(read(other)).map_or(String::from("infinite"), Extended::text)
    }

    /// Compares with replies of redis-server 7.0.15 on x86-64 to SET and INCRBYFLOAT.
    #[test]
    fn sums_are_those_of_an_x87() {
        assert_eq!(sum("3", "0.1"), "3.1");
        assert_eq!(sum("10.5", "0.1"), "10.6");
        assert_eq!(sum("5.0e3", "2.0e2"), "5200");
        assert_eq!(sum("1", "-1.5"), "-0.5");
        assert_eq!(sum("1", "-1"), "0");
        assert_eq!(sum("1000000.1", "0.2"), "1000000.30000000000001137");
        assert_eq!(sum("1e-20", "0"), "0");
        assert_eq!(sum("17179869184.123456789", "1"), "17179869185.12345678918063641");
        assert_eq!(sum("0x1.8p1", "0xff"), "258");
        assert_eq!(sum("1e30", "1"), "1000000000000000000024696061952");
    }

    #[test]
    fn text_that_is_no_number_is_refused() {
        for text in ["", " 1", "1 ", "abc", "1.2.3", "-", ".", "1e", "nan", "--1", "0x", "0xg"] {
            assert_eq!(parse(text.as_bytes()), None, "{text:?}");
        }
    }
}
