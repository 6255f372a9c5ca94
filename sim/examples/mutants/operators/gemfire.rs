use super::operator::{Operator, constructors};
use super::rule::line::{Rule, changed, tenth};

constructors!(
    GemFire,
    by = lock(Line: Rule),
    asks = lock(Line(Asks): fn(&mut Vec<String>) -> bool),
    hears = lock(Line(Hears): fn(&str, &[&str]) -> Option<String>),
    on = server(Line: Rule),
);

pub(crate) const TABLE: &[Operator] = &[
    hears("gf-timeout-read-as-grant", "reads the end of its wait as a grant", |_, answer| {
        (answer == ["timeout"]).then(|| "granted 0".to_owned())
    }),
    by("gf-unlock-unsent", "does not unlock", Rule::Unsent("unlock", "unlocked")),
    asks("gf-unlock-of-another", "unlocks another lock", |words| {
        changed(words, "unlock", 3, |lock| format!("{lock}x"))
    }),
    asks("gf-lease-tenth", "requests a tenth of the lease", |words| {
        changed(words, "lock", 6, tenth)
    }),
    asks("gf-held-untold", "does not report its locks to a new grantor", |words| {
        let is_it = words[0] == "alive" && words.len() > 4;
        words.truncate(if is_it { 4 } else { words.len() });
        is_it
    }),
    hears("gf-not-held-unheard", "reports a lost lock as released", |_, answer| {
        (answer == ["not-held"]).then(|| "unlocked".to_owned())
    }),
    hears("gf-same-token", "reads its counter as zero each time", |asked, answer| {
        let is_it = asked == "get" && answer.first() == Some(&"value") && answer != ["value", "0"];
        is_it.then(|| "value 0".to_owned())
    }),
    by("gf-put-unsent", "does not store its counter", Rule::Unsent("put", "done")),
    on(
        "gf-recovery-grants",
        "a grantor that still recovers grants every lock",
        Rule::Hears(|asked, answer| {
            (asked == "lock" && answer == ["busy"]).then(|| "granted 0".to_owned())
        }),
    ),
    on(
        "gf-departure-untold",
        "tells a member that has departed to try again later",
        Rule::Hears(|_, answer| (answer == ["departed"]).then(|| "later".to_owned())),
    ),
];
