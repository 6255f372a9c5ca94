//! Intervals, as separate numbers of months, days and microseconds.

use super::timestamp::{self, ParseError};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Interval {
    pub(crate) months: i64,
    pub(crate) days: i64,
    pub(crate) micros: i64,
}

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

impl Interval {
    pub(crate) fn of_micros(micros: i64) -> Interval {
        Interval { months: 0, days: 0, micros }
    }

    pub(crate) fn between(later: i64, earlier: i64) -> Option<Interval> {
        let span = later.checked_sub(earlier)?;
        Some(Interval { months: 0, days: span / DAY, micros: span % DAY })
    }

    pub(crate) fn negated(self) -> Interval {
        Interval { months: -self.months, days: -self.days, micros: -self.micros }
    }

    pub(crate) fn plus(self, other: Interval) -> Option<Interval> {
        Some(Interval {
            months: self.months.checked_add(other.months)?,
            days: self.days.checked_add(other.days)?,
            micros: self.micros.checked_add(other.micros)?,
        })
    }

    pub(crate) fn times(self, factor: i64) -> Option<Interval> {
        Some(Interval {
            months: self.months.checked_mul(factor)?,
            days: self.days.checked_mul(factor)?,
            micros: self.micros.checked_mul(factor)?,
        })
    }

    pub(crate) fn after(self, at: i64) -> Option<i64> {
        if at == timestamp::MAX || at == timestamp::MIN {
            return Some(at);
        }
        let at = if self.months == 0 { at } else { timestamp::plus_months(at, self.months)? };
        at.checked_add(self.days.checked_mul(DAY)?)?.checked_add(self.micros)
    }

    pub(crate) fn measure(self) -> i128 {
        let days = i128::from(self.months) * 30 + i128::from(self.days);
        days * i128::from(DAY) + i128::from(self.micros)
    }

    pub(crate) fn text(self) -> String {
        let mut words = Vec::new();
        let mut count = |number: i64, unit: &str| {
            if number != 0 {
                let plural = if number == 1 { "" } else { "s" };
                words.push(format!("{number} {unit}{plural}"));
            }
        };
        count(self.months / 12, "year");
        count(self.months % 12, "mon");
        count(self.days, "day");
        if self.micros != 0 || words.is_empty() {
            let sign = if self.micros < 0 { "-" } else { "" };
            words.push(format!("{sign}{}", timestamp::time_text(self.micros.abs())));
        }
        words.join(" ")
    }

    /// Parses forms such as `10 seconds`, `1 day 00:00:05`, `-5 minutes` and `10`.
    pub(crate) fn read(text: &str) -> Result<Interval, ParseError> {
        let text = text.trim().to_ascii_lowercase();
        let spaced = spaced(&text);
        let mut words = spaced.split_ascii_whitespace().peekable();
        let (mut total, mut any) = (Interval::default(), false);
        while let Some(word) = words.next() {
            if word == "ago" && any && words.peek().is_none() {
                return Ok(total.negated());
            }
            any = true;
            let (sign, digits) = match word.strip_prefix('-') {
                Some(digits) => (-1, digits),
                None => (1, word.strip_prefix('+').unwrap_or(word)),
            };
            let part = if digits.contains(':') {
                Interval::of_micros(timestamp::time_of(digits)?)
            } else {
                let unit = words.next_if(|word| *word != "ago").unwrap_or("second");
                one(digits, unit)?
            };
            total =
                total.plus(part.times(sign).ok_or(ParseError::Range)?).ok_or(ParseError::Range)?;
        }
        if any { Ok(total) } else { Err(ParseError::Syntax) }
    }
}

fn spaced(text: &str) -> String {
    let mut spaced = String::new();
    let mut before = ' ';
    for c in text.chars() {
        if c.is_alphabetic() && (before.is_ascii_digit() || before == '.') {
            spaced.push(' ');
        }
        spaced.push(c);
        before = c;
    }
    spaced
}

fn one(digits: &str, unit: &str) -> Result<Interval, ParseError> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = !digits.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(ParseError::Syntax);
    }
    let count: i64 =
        if whole.is_empty() { 0 } else { whole.parse().map_err(|_| ParseError::Range)? };
    let millionths = timestamp::micros_of(fraction)?;
    let of = |micros: i64| {
        let whole = count.checked_mul(micros)?;
        let part = i128::from(millionths) * i128::from(micros) / 1_000_000;
        whole.checked_add(part as i64).map(Interval::of_micros)
    };
    let plain = |interval: Option<Interval>| match interval {
        Some(interval) if millionths == 0 => Ok(interval),
        Some(_) => Err(ParseError::Syntax),
        None => Err(ParseError::Range),
    };
    let single = Interval { months: 1, ..Interval::default() };
    let day = Interval { days: 1, ..Interval::default() };
    match unit {
        "us" | "usec" | "usecs" | "microsecond" | "microseconds" => of(1).ok_or(ParseError::Range),
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => {
            of(1_000).ok_or(ParseError::Range)
        }
        "s" | "sec" | "secs" | "second" | "seconds" => of(SECOND).ok_or(ParseError::Range),
        "m" | "min" | "mins" | "minute" | "minutes" => of(60 * SECOND).ok_or(ParseError::Range),
        "h" | "hr" | "hrs" | "hour" | "hours" => of(3_600 * SECOND).ok_or(ParseError::Range),
        "d" | "day" | "days" => plain(day.times(count)),
        "w" | "week" | "weeks" => plain(day.times(7).and_then(|week| week.times(count))),
        "mon" | "mons" | "month" | "months" => plain(single.times(count)),
        "y" | "yr" | "yrs" | "year" | "years" => {
            plain(single.times(12).and_then(|year| year.times(count)))
        }
        _ => Err(ParseError::Syntax),
    }
}
