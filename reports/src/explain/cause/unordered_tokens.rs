//! Servers without a common counter issued the tokens.

use super::entry::Entry;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    between: Some(|_| {
        "The tokens are not drawn from one counter, so that their order is not that of the grants."
            .to_owned()
    }),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The tokens come from servers that share no counter, so their order says nothing.",
    how: "Random owner values, or a counter on each of several masters, were used as fencing \
          tokens.",
    helps: "Take tokens from one counter that is never lost.",
};
