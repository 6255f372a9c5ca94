use crate::config::OutputLimit;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Unread {
    pub(crate) bytes: usize,
    pub(crate) over_soft_since: Option<i64>,
}

impl Unread {
    pub(crate) fn breaks(&mut self, limit: OutputLimit, now: i64) -> bool {
        let exceeds = |bound: u64| bound > 0 && self.bytes as u64 >= bound;
        let (over_hard, over_soft) = (exceeds(limit.hard), exceeds(limit.soft));
        self.over_soft_since = over_soft.then(|| self.over_soft_since.unwrap_or(now));
        let for_too_long =
            self.over_soft_since.is_some_and(|since| now - since > limit.soft_seconds);
        over_hard || for_too_long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: OutputLimit = OutputLimit { hard: 1_000, soft: 100, soft_seconds: 5 };

    #[test]
    fn the_hard_limit_is_at_once_and_the_soft_one_after_its_time() {
        let mut unread = Unread { bytes: 99, over_soft_since: None };
        assert!(!unread.breaks(LIMIT, 0));
        unread.bytes = 100;
        assert!(!unread.breaks(LIMIT, 10));
        assert!(!unread.breaks(LIMIT, 15), "not longer than its time");
        assert!(unread.breaks(LIMIT, 16));
        assert!(Unread { bytes: 1_000, over_soft_since: None }.breaks(LIMIT, 0));
    }

    #[test]
    fn who_catches_up_in_between_begins_anew() {
        let mut unread = Unread { bytes: 500, over_soft_since: None };
        assert!(!unread.breaks(LIMIT, 10));
        unread.bytes = 50;
        assert!(!unread.breaks(LIMIT, 14));
        unread.bytes = 500;
        assert!(!unread.breaks(LIMIT, 16));
        assert!(!unread.breaks(LIMIT, 21));
        assert!(unread.breaks(LIMIT, 22));
    }

    #[test]
    fn without_limits_anything_may_wait() {
        let mut unread = Unread { bytes: usize::MAX, over_soft_since: None };
        assert!(!unread.breaks(OutputLimit::default(), 0));
        assert!(!unread.breaks(OutputLimit::default(), i64::MAX));
    }
}
