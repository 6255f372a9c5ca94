//! Times in microseconds since the Unix epoch, in the proleptic Gregorian calendar and UTC.

use fencepost_machine::calendar::{date_of, days_from, days_in};

pub(crate) const MIN: i64 = i64::MIN;
pub(crate) const MAX: i64 = i64::MAX;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// Years that the model accepts. The real server accepts years up to 294276.
const YEARS: std::ops::RangeInclusive<i64> = 1..=9_999;

pub(super) fn plus_months(at: i64, months: i64) -> Option<i64> {
    let (days, time) = (at.div_euclid(DAY), at.rem_euclid(DAY));
    let (year, month, day) = date_of(days);
    let count = year.checked_mul(12)?.checked_add(month - 1)?.checked_add(months)?;
    let (year, month) = (count.div_euclid(12), count.rem_euclid(12) + 1);
    if !YEARS.contains(&year) {
        return None;
    }
    let day = day.min(days_in(year, month));
    days_from(year, month, day).checked_mul(DAY)?.checked_add(time)
}

pub(crate) fn text(at: i64) -> String {
    match at {
        MAX => return "infinity".to_owned(),
        MIN => return "-infinity".to_owned(),
        _ => {}
    }
    let (year, month, day) = date_of(at.div_euclid(DAY));
    let time = time_text(at.rem_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02} {time}")
}

pub(super) fn time_text(micros: i64) -> String {
    let seconds = micros / SECOND;
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let fraction = format!("{:06}", micros % SECOND);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{hours:02}:{minutes:02}:{rest:02}{point}{fraction}")
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParseError {
    Syntax,
    Range,
}

pub(crate) fn read(text: &str, heeds_zone: bool) -> Result<i64, ParseError> {
    let text = text.trim();
    match text.to_ascii_lowercase().as_str() {
        "infinity" => return Ok(MAX),
        "-infinity" => return Ok(MIN),
        "epoch" => return Ok(0),
        _ => {}
    }
    let (date, rest) = match text.find(['T', ' ', 't']) {
        Some(at) => (&text[..at], text[at + 1..].trim()),
        None => (text, ""),
    };
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts[..] else { return Err(ParseError::Syntax) };
    let (year, month, day) = (number(year, 4..=4)?, number(month, 1..=2)?, number(day, 1..=2)?);
    if !(1..=12).contains(&month) || !YEARS.contains(&year) || day < 1 {
        return Err(ParseError::Range);
    }
    if day > days_in(year, month) {
        return Err(ParseError::Range);
    }
    let (time, zone) = zone_of(rest)?;
    let micros = if time.is_empty() { 0 } else { time_of(time)? };
    let zone = if heeds_zone { zone } else { 0 };
    Ok(days_from(year, month, day) * DAY + micros - zone)
}

fn number(digits: &str, length: std::ops::RangeInclusive<usize>) -> Result<i64, ParseError> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse() {
        Ok(number) if is_number && length.contains(&digits.len()) => Ok(number),
        _ => Err(ParseError::Syntax),
    }
}

fn zone_of(rest: &str) -> Result<(&str, i64), ParseError> {
    for utc in ["Z", "z", "UTC", "utc"] {
        if let Some(time) = rest.strip_suffix(utc) {
            return Ok((time.trim_end(), 0));
        }
    }
    let Some(at) = rest.rfind(['+', '-']) else { return Ok((rest, 0)) };
    let (time, zone) = (rest[..at].trim_end(), &rest[at..]);
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits = zone[1..].replace(':', "");
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.as_str(), "0"),
        4 => digits.split_at(2),
        _ => return Err(ParseError::Syntax),
    };
    let (hours, minutes) = (number(hours, 1..=2)?, number(minutes, 1..=2)?);
    Ok((time, sign * (hours * 3_600 + minutes * 60) * SECOND))
}

pub(super) fn time_of(text: &str) -> Result<i64, ParseError> {
    let parts: Vec<&str> = text.split(':').collect();
    let (hours, minutes, seconds) = match parts[..] {
        [hours, minutes] => (hours, minutes, "0"),
        [hours, minutes, seconds] => (hours, minutes, seconds),
        _ => return Err(ParseError::Syntax),
    };
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let (hours, minutes) = (number(hours, 1..=2)?, number(minutes, 1..=2)?);
    let whole = number(whole, 1..=2)?;
    if hours > 24 || minutes > 59 || whole > 60 {
        return Err(ParseError::Range);
    }
    Ok((hours * 3_600 + minutes * 60 + whole) * SECOND + micros_of(fraction)?)
}

pub(super) fn micros_of(fraction: &str) -> Result<i64, ParseError> {
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ParseError::Syntax);
    }
    let padded = format!("{fraction:0<7}");
    let seven: i64 = padded[..7].parse().map_err(|_| ParseError::Syntax)?;
    Ok((seven + 5) / 10)
}
