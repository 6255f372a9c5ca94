use super::protocol::{Kind, Parameter};
use std::time::Duration;

fn text(micros: i64) -> String {
    let (days, of_day) = (micros.div_euclid(86_400_000_000), micros.rem_euclid(86_400_000_000));
    let (year, month, day) = date(days);
    let (seconds, fraction) = (of_day / 1_000_000, of_day % 1_000_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{fraction:06}")
}

fn date(days: i64) -> (i64, i64, i64) {
    let since_march_0000 = days + 719_468;
    let (era, day_of_era) =
        (since_march_0000.div_euclid(146_097), since_march_0000.rem_euclid(146_097));
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = month_from_march + if month_from_march < 10 { 3 } else { -9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// Truncates a time in microseconds to a `java.util.Date`, which has whole milliseconds.
pub(super) fn date_time(micros: i64) -> Parameter {
    let millis = micros.div_euclid(1_000) * 1_000;
    Parameter { kind: Kind::Unspecified, text: format!("{}+00", text(millis)) }
}

pub(super) fn local_date_time(micros: i64) -> Parameter {
    Parameter { kind: Kind::Timestamp, text: text(micros) }
}

pub(super) fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_the_gregorian_calendar() {
        assert_eq!(text(0), "1970-01-01 00:00:00.000000");
        assert_eq!(text(-1), "1969-12-31 23:59:59.999999");
        assert_eq!(text(951_782_399_000_001), "2000-02-28 23:59:59.000001");
        assert_eq!(text(951_782_400_000_000), "2000-02-29 00:00:00.000000");
        assert_eq!(text(1_700_000_000_123_456), "2023-11-14 22:13:20.123456");
        assert_eq!(text(4_107_542_400_000_000), "2100-03-01 00:00:00.000000");
    }

    #[test]
    fn a_date_has_milliseconds_and_a_local_date_time_microseconds() {
        assert_eq!(date_time(1_500).text, "1970-01-01 00:00:00.001000+00");
        assert_eq!(local_date_time(1_500).text, "1970-01-01 00:00:00.001500");
    }
}
