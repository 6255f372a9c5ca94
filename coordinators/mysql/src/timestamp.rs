//! Times ([`Instant`]) in microseconds since the Unix epoch.

use fencepost_machine::calendar::{date_of, days_from, days_in};
use serde::{Deserialize, Serialize};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Instant {
    pub(crate) micros: i64,
    pub(crate) places: u8,
}

impl Instant {
    pub(crate) fn cut(self, places: u8) -> Instant {
        let unit = 10_i64.pow(6 - u32::from(places.min(6)));
        Instant { micros: self.micros - self.micros.rem_euclid(unit), places }
    }

    pub(crate) fn text(self) -> String {
        let (year, month, day) = date_of(self.micros.div_euclid(DAY));
        let of_day = self.micros.rem_euclid(DAY);
        let seconds = of_day / SECOND;
        let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        let fraction = format!("{:06}", of_day % SECOND);
        let point = if self.places > 0 { "." } else { "" };
        let fraction = &fraction[..usize::from(self.places)];
        format!("{year:04}-{month:02}-{day:02} {hours:02}:{minutes:02}:{rest:02}{point}{fraction}")
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParseError {
    Value,
    Form,
}

pub(crate) fn read(text: &str) -> Result<Instant, ParseError> {
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err(ParseError::Value);
    }
    let (date, time) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [hours, minutes, seconds] = numbers(time, ':', [2, 2, 2])?;
    if fraction.len() > 6 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ParseError::Form);
    }
    // The real server allows a year, month or day of zero; the model cannot represent it.
    if year == 0 || month == 0 || day == 0 {
        return Err(ParseError::Form);
    }
    if month > 12 || day > days_in(year, month) || hours > 23 || minutes > 59 || seconds > 59 {
        return Err(ParseError::Value);
    }
    let rest: i64 = format!("{fraction:0<6}").parse().map_err(|_| ParseError::Form)?;
    let seconds = hours * 3_600 + minutes * 60 + seconds;
    let micros = days_from(year, month, day) * DAY + seconds * SECOND + rest;
    Ok(Instant { micros, places: fraction.len() as u8 })
}

fn numbers(text: &str, between: char, digits: [usize; 3]) -> Result<[i64; 3], ParseError> {
    let parts: Vec<&str> = text.split(between).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    if lengths != digits || !parts.iter().all(|part| part.bytes().all(|one| one.is_ascii_digit())) {
        return Err(ParseError::Form);
    }
    let number = |at: usize| parts[at].parse().map_err(|_| ParseError::Form);
    Ok([number(0)?, number(1)?, number(2)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_and_shown() {
        let shown = |text: &str| read(text).map(Instant::text);
        assert_eq!(shown("2024-02-29"), Ok("2024-02-29 00:00:00".to_owned()));
        let with_places = "2038-01-19 03:14:07.250";
        assert_eq!(shown(with_places), Ok(with_places.to_owned()));
        assert_eq!(read("1970-01-01 00:00:01.5").map(|one| one.micros), Ok(1_500_000));
        assert_eq!(shown("2023-02-29"), Err(ParseError::Value));
        assert_eq!(shown("soon"), Err(ParseError::Value));
        assert_eq!(shown("20240229"), Err(ParseError::Form));
        let cut = read("2024-01-01 00:00:00.129999").map(|one| one.cut(2).text());
        assert_eq!(cut, Ok("2024-01-01 00:00:00.12".to_owned()));
    }
}
