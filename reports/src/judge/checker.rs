//! The table of checkers. A checker checks one rule, or several related rules.

mod deadlock;
mod duplicate_number;
mod fenced_out;
mod foreign_release;
mod held_forever;
pub(crate) mod lost_update;
mod overlap;
mod oversold;
mod repeated_job;
pub(crate) mod stale_write;
mod starved;
pub(crate) mod stuck;
mod token_missing;
mod token_regression;
mod unavailable;
pub(crate) mod wrong_answer;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod second_opinion;

use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::Timeline;

#[derive(Clone, Copy, Debug)]
pub struct Checker {
    /// Name of the checked rule. The checker `duplicate-number` also reports `number-regression`.
    pub name: &'static str,
    pub check: fn(&Timeline<'_>) -> Vec<Finding>,
}

macro_rules! checkers {
    ($($file:ident $(: $($kind:ident = $meaning:ident),+)?;)*) => {
        pub const CHECKERS: &[Checker] = &[$($file::CHECKER,)*];

        pub fn meaning(kind: Kind) -> Meaning {
            match kind {
                $($($(Kind::$kind => $file::$meaning,)+)?)*
            }
        }
    };
}

checkers! {
    overlap: Overlap = MEANING;
    stale_write: StaleWrite = MEANING;
    lost_update: LostUpdate = MEANING;
    oversold: Oversold = MEANING;
    duplicate_number: DuplicateNumber = MEANING, NumberRegression = NUMBER_REGRESSION;
    repeated_job: RepeatedJob = MEANING;
    token_regression: TokenRegression = MEANING;
    token_missing: TokenMissing = MEANING;
    fenced_out: FencedOut = MEANING;
    foreign_release: ForeignRelease = MEANING;
    wrong_answer: WrongAnswer = MEANING;
    stuck: Stuck = MEANING;
    deadlock: Deadlock = MEANING;
    starved: Starved = MEANING;
    held_forever: HeldForever = MEANING;
    unavailable: Unavailable = MEANING;
}

fn grants_of(timeline: &Timeline<'_>, clash: Option<Clash>) -> Vec<usize> {
    let both = clash.iter().flat_map(|clash| [clash.earlier, clash.later]);
    both.filter_map(|index| Some(timeline.acquisitions[index].grant.as_ref()?.moment.index))
        .collect()
}

/// Sorts the event indices of a witness and removes duplicates.
fn sorted(mut witness: Vec<usize>) -> Vec<usize> {
    witness.sort_unstable();
    witness.dedup();
    witness
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_meaning_is_sentences_and_no_two_rules_have_the_same() {
        let mut seen = Vec::new();
        for kind in Kind::ALL {
            let meaning = meaning(*kind);
            for said in [kind.what(), meaning.how, meaning.helps] {
                assert!(said.ends_with('.') && !said.contains("  "), "{kind}: {said}");
            }
            assert!(!seen.contains(&kind.what()), "{kind}: {}", kind.what());
            seen.push(kind.what());
        }
    }

    #[test]
    fn a_checker_has_the_name_of_a_rule_and_no_other_has_it() {
        for checker in CHECKERS {
            let named = CHECKERS.iter().filter(|other| other.name == checker.name);
            assert_eq!(named.count(), 1, "{}", checker.name);
            assert!(Kind::ALL.iter().any(|kind| kind.name() == checker.name), "{}", checker.name);
        }
    }
}
