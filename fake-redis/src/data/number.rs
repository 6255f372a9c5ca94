/// Parses a decimal integer. Refuses spaces, plus signs, leading zeros and `-0` (`string2ll`).
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
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        magnitude = magnitude * 10 + u64::from(digit);
    }
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Formats a double as `%.17g`, with `inf`, `-inf` and `nan`.
pub(crate) fn double_text(value: f64) -> String {
    if value.is_nan() {
        return String::from("nan");
    }
    if value.is_infinite() {
        return String::from(if value > 0.0 { "inf" } else { "-inf" });
    }
    general(value, 17)
}

pub(crate) fn general(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return String::from(if value.is_sign_negative() { "-0" } else { "0" });
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!(
            "{}e{sign}{:02}",
            without_trailing_zeros(mantissa),
            exponent.unsigned_abs()
        );
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    without_trailing_zeros(&format!("{value:.decimals$}")).to_owned()
}

/// Formats a double with the fewest digits that identify it, in the notation of `fpconv_dtoa`.
pub(crate) fn shortest_text(value: f64) -> String {
    if !value.is_finite() {
        return double_text(value);
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = mantissa.replace('.', "");
    let zeros = exponent + 1 - digits.len() as i32;
    let is_plain = if zeros >= 0 {
        exponent < digits.len() as i32 + 7
    } else {
        zeros > -7 || exponent.abs() < 4
    };
    if is_plain {
        return format!("{value}");
    }
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{mantissa}e{exponent_sign}{}", exponent.abs())
}

fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

pub(crate) fn c_string(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Parses a double. Refuses leading spaces, NaN, overflow and underflow (`getDoubleFromObject`).
pub(crate) fn parse_double(text: &[u8]) -> Option<f64> {
    let value = whole_double(text)?;
    let is_in_range = if value == 0.0 {
        !has_digits_above_zero(text)
    } else {
        value.is_finite() || !text.iter().any(u8::is_ascii_digit)
    };
    is_in_range.then_some(value)
}

/// Parses the bound of a score range like `strtod`, which stops at a NUL byte.
pub(crate) fn parse_score_bound(text: &[u8]) -> Option<f64> {
    let text = c_string(text);
    if text.is_empty() {
        return Some(0.0);
    }
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let spaces = text.iter().take_while(|byte| is_space(byte)).count();
    whole_double(&text[spaces..])
}

fn whole_double(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let value: f64 = match text.parse() {
        Ok(value) => value,
        Err(_) => parse_hexadecimal(text)?,
    };
    (!value.is_nan()).then_some(value)
}

pub(crate) fn has_digits_above_zero(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    let hexadecimal = digits.strip_prefix(b"0x").or(digits.strip_prefix(b"0X"));
    let (digits, ends) = hexadecimal.map_or((digits, b"eE"), |digits| (digits, b"pP"));
    let mut mantissa = digits.iter().take_while(|byte| !ends.contains(byte));
    mantissa.any(|byte| byte.is_ascii_hexdigit() && *byte != b'0')
}

/// Parses a cursor like `strtoul`, but refuses spaces. Empty text is 0, and negative numbers wrap.
pub(crate) fn parse_cursor(text: &[u8]) -> Option<u64> {
    let text = c_string(text);
    if text.is_empty() {
        return Some(0);
    }
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(if is_negative { value.wrapping_neg() } else { value })
}

/// Parses a hexadecimal number. Digits beyond the precision of a double may be rounded incorrectly.
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let rest = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"))?;
    let (mantissa, exponent) = match rest.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digit =
        |value: f64, letter: char| letter.to_digit(16).map(|digit| value * 16.0 + f64::from(digit));
    let value = whole.chars().chain(fraction.chars()).try_fold(0.0, digit)?;
    let shift = exponent.saturating_sub(i32::try_from(fraction.len()).ok()?.saturating_mul(4));
    Some(sign * value * 2.0_f64.powi(shift))
}

pub(crate) fn leading_double(text: &[u8]) -> Option<(f64, usize)> {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let rest = &text[sign..];
    let has_word =
        |word: &[u8]| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    for (word, value) in
        [(b"infinity".as_slice(), f64::INFINITY), (b"inf", f64::INFINITY), (b"nan", f64::NAN)]
    {
        if has_word(word) {
            let value = if text[0] == b'-' { -value } else { value };
            return Some((value, sign + word.len()));
        }
    }
    let hexadecimal =
        if has_word(b"0x") { length_of(&rest[2..], u8::is_ascii_hexdigit, b"pP") } else { None };
    let length = match hexadecimal {
        Some(length) => sign + 2 + length,
        None => sign + length_of(rest, u8::is_ascii_digit, b"eE")?,
    };
    let text = std::str::from_utf8(&text[..length]).ok()?;
    let value = if hexadecimal.is_some() { parse_hexadecimal(text) } else { text.parse().ok() };
    value.map(|value| (value, length))
}

fn length_of(text: &[u8], is_digit: fn(&u8) -> bool, exponent: &[u8]) -> Option<usize> {
    let count = |from: usize, is_digit: fn(&u8) -> bool| {
        text[from..].iter().take_while(|byte| is_digit(byte)).count()
    };
    let whole = count(0, is_digit);
    let mut length = whole;
    if text.get(length) == Some(&b'.') {
        let fraction = count(length + 1, is_digit);
        if whole + fraction == 0 {
            return None;
        }
        length += 1 + fraction;
    } else if whole == 0 {
        return None;
    }
    if text.get(length).is_some_and(|byte| exponent.contains(byte)) {
        let sign = usize::from(matches!(text.get(length + 1), Some(b'+' | b'-')));
        let digits = count((length + 1 + sign).min(text.len()), u8::is_ascii_digit);
        if digits > 0 {
            length += 1 + sign + digits;
        }
    }
    Some(length)
}

/// Casts like C on x86, where a number out of range becomes the minimum.
pub(crate) fn truncated(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}
