//! The table of checkers.
//!
//! One invariant is one file. A new checker is a file and a line in [`CHECKERS`]; if no checker had
//! its rule yet, the file says what that means, and a line of [`meaning`] which file does.

mod deadlock;
mod duplicate_number;
mod fenced_out;
mod foreign_release;
mod held_forever;
mod lost_update;
mod overlap;
mod oversold;
mod stale_write;
mod starved;
pub(crate) mod stuck;
mod token_missing;
mod token_regression;
mod unavailable;
mod wrong_answer;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod second_opinion;

use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::Timeline;

/// One invariant and the function that judges it.
#[derive(Clone, Copy, Debug)]
pub struct Checker {
    /// The name of the invariant, as `kind` names its violation.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Everything that breaks the invariant, in order of time.
    pub check: fn(&Timeline<'_>) -> Vec<Finding>,
}

/// Every checker, in the order in which they judge.
pub const CHECKERS: &[Checker] = &[
    overlap::CHECKER,
    stale_write::CHECKER,
    lost_update::CHECKER,
    oversold::CHECKER,
    duplicate_number::CHECKER,
    token_regression::CHECKER,
    token_missing::CHECKER,
    fenced_out::CHECKER,
    foreign_release::CHECKER,
    wrong_answer::CHECKER,
    stuck::CHECKER,
    deadlock::CHECKER,
    starved::CHECKER,
    held_forever::CHECKER,
    unavailable::CHECKER,
];

/// What it means that this rule was broken.
pub fn meaning(kind: Kind) -> Meaning {
    match kind {
        Kind::Overlap => overlap::MEANING,
        Kind::StaleWrite => stale_write::MEANING,
        Kind::LostUpdate => lost_update::MEANING,
        Kind::Oversold => oversold::MEANING,
        Kind::DuplicateNumber => duplicate_number::MEANING,
        Kind::NumberRegression => duplicate_number::NUMBER_REGRESSION,
        Kind::TokenRegression => token_regression::MEANING,
        Kind::TokenMissing => token_missing::MEANING,
        Kind::FencedOut => fenced_out::MEANING,
        Kind::ForeignRelease => foreign_release::MEANING,
        Kind::WrongAnswer => wrong_answer::MEANING,
        Kind::Stuck => stuck::MEANING,
        Kind::Deadlock => deadlock::MEANING,
        Kind::Starved => starved::MEANING,
        Kind::HeldForever => held_forever::MEANING,
        Kind::Unavailable => unavailable::MEANING,
    }
}

/// The deciding grants of two acquisitions, as indices into the history.
fn grants_of(timeline: &Timeline<'_>, clash: Option<Clash>) -> Vec<usize> {
    let both = clash.iter().flat_map(|clash| [clash.earlier, clash.later]);
    both.filter_map(|index| Some(timeline.acquisitions[index].grant.as_ref()?.moment.index))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_meaning_is_sentences_and_no_two_rules_have_the_same() {
        let mut seen = Vec::new();
        for kind in Kind::ALL {
            let meaning = meaning(*kind);
            for said in [meaning.what, meaning.how, meaning.helps] {
                assert!(said.ends_with('.') && !said.contains("  "), "{kind}: {said}");
            }
            assert!(!seen.contains(&meaning.what), "{kind}: {}", meaning.what);
            seen.push(meaning.what);
        }
    }

    #[test]
    fn a_checker_has_the_name_of_a_rule_and_no_other_has_it() {
        for checker in CHECKERS {
            let named = CHECKERS.iter().filter(|other| other.name == checker.name);
            assert_eq!(named.count(), 1, "{}", checker.name);
            assert!(Kind::ALL.iter().any(|kind| kind.name() == checker.name), "{}", checker.name);
            assert!(!checker.about.ends_with('.'), "{}: a line, no sentence", checker.name);
        }
    }
}
