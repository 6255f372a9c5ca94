//! Cause `unexplained`: the recorded events do not show the reason.

use super::entry::Entry;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    between: Some(|_| SAID.to_owned()),
    alone: Some(|_| SAID.to_owned()),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The recorded events do not show the reason.",
    how: "fencepost has rules for the other causes and never guesses.",
    helps: "Check the evidence with --verbose or in the page, and please report the seed: a rule \
            is missing.",
};

const SAID: &str = "The recorded events do not show the reason.";
