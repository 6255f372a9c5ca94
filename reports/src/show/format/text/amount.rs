use super::layout::counted;
use crate::judge::finding::Kind;
use fencepost_faults::Micros;

/// Avoids the word "unavailable", because another process may still acquire the lock.
pub(crate) const DEADLOCK: &str = "deadlock: no pending event can wake the waiting processes";

/// Describes the violations of one kind, as in `8 stale writes` or `stuck (2x, 14.8s)`.
pub(crate) fn count_phrase(kind: Kind, count: u64, total: Micros) -> String {
    let name = kind.name().replace('-', " ");
    match kind {
        Kind::Stuck => format!("stuck ({count}x, {})", about(total)),
        Kind::Oversold => format!("{} too many", counted(count, "sale")),
        Kind::Deadlock => DEADLOCK.to_owned(),
        Kind::FencedOut | Kind::HeldForever | Kind::Starved => format!("{name} ({count}x)"),
        Kind::Unavailable => format!("{name} ({count}x, {})", about(total)),
        _ => counted(count, &name),
    }
}

/// Rounds a duration to about three digits, as in `74.9ms` or `14.8s`.
pub(crate) fn about(span: Micros) -> String {
    let us = span.as_micros();
    let (value, unit) =
        if us < 1_000_000 { (us as f64 / 1e3, "ms") } else { (us as f64 / 1e6, "s") };
    let digits = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    let text = format!("{value:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_three_digits_and_their_unit() {
        let told =
            [400, 74_900, 999_000, 4_317_000, 14_815_700, 120_000_000].map(|us| about(Micros(us)));
        assert_eq!(told, ["0.4ms", "74.9ms", "999ms", "4.32s", "14.8s", "120s"]);
    }
}
