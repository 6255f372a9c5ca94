use super::entry::Entry;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    between: Some(|_| {
        "The tokens do not come from one counter, so their order is not that of the grants."
            .to_owned()
    }),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    how: "Random owner values, times, or a separate counter on each master were used as fencing \
          tokens.",
    helps: "Take tokens from one durable counter.",
};
