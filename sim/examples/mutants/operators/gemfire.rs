use super::operator::{Operator, constructors};
use super::rule::line::{Rule, changed, tenth};

constructors!(GemFire, by = lock(Line: Rule), on = server(Line: Rule));

pub(crate) const TABLE: &[Operator] = &[
    by(
        "gf-timeout-read-as-grant",
        "reads the end of its wait as a grant",
        Rule::Hears(|_, answer| (answer == ["timeout"]).then(|| "granted 0".to_owned())),
    ),
    by("gf-unlock-unsent", "does not unlock", Rule::Unsent("unlock", "unlocked")),
    by(
        "gf-unlock-of-another",
        "unlocks another lock",
        Rule::Asks(|words| changed(words, "unlock", 3, |lock| format!("{lock}x"))),
    ),
    by(
        "gf-lease-tenth",
        "requests a tenth of the lease",
        Rule::Asks(|words| changed(words, "lock", 6, tenth)),
    ),
    by(
        "gf-held-untold",
        "does not report its locks to a new grantor",
        Rule::Asks(|words| {
            let is_it = words[0] == "alive" && words.len() > 4;
            words.truncate(if is_it { 4 } else { words.len() });
            is_it
        }),
    ),
    by(
        "gf-not-held-unheard",
        "reports a lost lock as released",
        Rule::Hears(|_, answer| (answer == ["not-held"]).then(|| "unlocked".to_owned())),
    ),
    by(
        "gf-same-token",
        "reads its counter as zero each time",
        Rule::Hears(|asked, answer| {
            let is_it =
                asked == "get" && answer.first() == Some(&"value") && answer != ["value", "0"];
            is_it.then(|| "value 0".to_owned())
        }),
    ),
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
