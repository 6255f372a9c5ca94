use super::entry::Entry;

pub(super) static ENTRY: Entry = Entry {
    how: "Random owner values, times, or a separate counter on each master were used as fencing \
          tokens.",
    helps: "Take tokens from one durable counter.",
    between: Some(|_| {
        "The tokens do not come from one counter, so their order is not that of the grants."
            .to_owned()
    }),
    ..Entry::PLAIN
};
