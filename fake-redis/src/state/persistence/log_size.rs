//! The sizes of the append-only files, and when to rewrite them (`aof_rewrite_base_size`).

use crate::config::NodeConfig;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LogSize {
    pub(crate) base: usize,
    pub(crate) appended: usize,
}

impl LogSize {
    pub(crate) fn total(self) -> usize {
        self.base.saturating_add(self.appended)
    }

    pub(crate) fn is_to_be_rewritten(self, config: &NodeConfig) -> bool {
        let percentage = u128::from(config.aof_rewrite_percentage);
        let (total, base) = (self.total() as u128, self.base.max(1) as u128);
        percentage > 0
            && total > u128::from(config.aof_rewrite_min_size)
            && (total * 100 / base).saturating_sub(100) >= percentage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_rewritten_once_it_is_large_and_has_grown() {
        let config = |aof_rewrite_percentage, aof_rewrite_min_size| NodeConfig {
            aof_rewrite_percentage,
            aof_rewrite_min_size,
            ..NodeConfig::default()
        };
        let size = LogSize { base: 1_000, appended: 999 };
        assert!(!size.is_to_be_rewritten(&config(100, 0)));
        let size = LogSize { appended: 1_000, ..size };
        assert!(size.is_to_be_rewritten(&config(100, 0)));
        assert!(size.is_to_be_rewritten(&config(100, 1_999)));
        assert!(!size.is_to_be_rewritten(&config(100, 2_000)), "it is too small");
        assert!(!size.is_to_be_rewritten(&config(0, 0)), "0 switches it off");
        assert!(LogSize { base: 0, appended: 9 }.is_to_be_rewritten(&config(100, 0)));
    }
}
