//! The size of a plan: how many faults and how many delayed messages it has.

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Added {
    Delay,
    Fault,
}

impl Added {
    pub(crate) const ALL: [Added; 2] = [Added::Delay, Added::Fault];
}

/// Ordered by the number of faults, then by the number of delays. Both numbers are at most 2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Level {
    pub faults: u8,
    pub delays: u8,
}

impl Level {
    pub fn depth(self) -> usize {
        usize::from(self.faults) + usize::from(self.delays)
    }

    pub(crate) fn without(self, kind: Added) -> Option<Level> {
        match kind {
            Added::Fault => {
                let faults = self.faults.checked_sub(1)?;
                Some(Level { faults, ..self })
            }
            Added::Delay => {
                let delays = self.delays.checked_sub(1)?;
                Some(Level { delays, ..self })
            }
        }
    }

    pub(crate) fn with(self, kind: Added) -> Level {
        match kind {
            Added::Fault => Level { faults: self.faults + 1, ..self },
            Added::Delay => Level { delays: self.delays + 1, ..self },
        }
    }

    pub(crate) fn kinds(self) -> impl Iterator<Item = (Added, Level)> {
        Added::ALL.into_iter().filter_map(move |kind| Some((kind, self.without(kind)?)))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.faults {
            0 => f.write_str("no fault")?,
            1 => f.write_str("1 fault")?,
            count => write!(f, "{count} faults")?,
        }
        match self.delays {
            0 => Ok(()),
            1 => f.write_str(" and 1 delayed message"),
            count => write!(f, " and {count} delayed messages"),
        }
    }
}

pub(crate) fn up_to(most: Level) -> Vec<Level> {
    let of = |faults| (0..=most.delays).map(move |delays| Level { faults, delays });
    (0..=most.faults).flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_with_fewer_faults_come_first() {
        let levels = up_to(Level { faults: 1, delays: 2 });
        let pairs: Vec<_> = levels.iter().map(|level| (level.faults, level.delays)).collect();
        assert_eq!(pairs, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
        assert!(levels.is_sorted());
    }

    #[test]
    fn what_is_left_to_add_is_less() {
        let level = Level { faults: 1, delays: 0 };
        assert_eq!(level.kinds().collect::<Vec<_>>(), [(Added::Fault, Level::default())]);
        assert_eq!(Level::default().kinds().count(), 0);
        assert_eq!(Level { faults: 1, delays: 2 }.kinds().count(), 2);
    }
}
