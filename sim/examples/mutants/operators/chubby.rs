use super::operator::{Operator, constructors};
use super::rule::line::{Rule, changed, tenth};

constructors!(
    Chubby,
    by = lock(Line: Rule),
    asks = lock(Line(Asks): fn(&mut Vec<String>) -> bool),
    hears = lock(Line(Hears): fn(&str, &[&str]) -> Option<String>),
    on = server(Line: Rule),
);

pub(crate) const TABLE: &[Operator] = &[
    hears("ch-waiting-read-as-acquired", "reads \"waiting\" as a grant", |asked, answer| {
        (asked == "acquire" && answer == ["waiting"]).then(|| "acquired 1".to_owned())
    }),
    by("ch-release-unsent", "does not release the lock", Rule::Unsent("release", "released")),
    asks("ch-release-of-another", "releases another lock", |words| {
        changed(words, "release", 3, |lock| format!("{lock}x"))
    }),
    asks("ch-delay-dropped", "requests no lock-delay", |words| {
        changed(words, "acquire", 5, |_| "0".to_owned())
    }),
    asks("ch-delay-tenth", "requests a tenth of the lock-delay", |words| {
        changed(words, "acquire", 5, tenth)
    }),
    hears("ch-jeopardy-unheard", "treats its session as safe for a minute longer", |_, answer| {
        match answer {
            ["alive", epoch, held, lease, rest @ ..] => {
                let lease = lease.parse::<u64>().ok()? + 60_000_000;
                Some(format!("alive {epoch} {held} {lease} {}", rest.join(" ")))
            }
            _ => None,
        }
    }),
    hears("ch-invalid-read-as-valid", "treats every sequencer as valid", |asked, answer| {
        let is_it = asked == "check" && matches!(answer, ["invalid" | "expired"]);
        is_it.then(|| "valid".to_owned())
    }),
    hears("ch-same-sequencer", "gets the same sequencer each time", |_, answer| match answer {
        ["acquired", generation] if *generation != "1" => Some("acquired 1".to_owned()),
        _ => None,
    }),
    on(
        "ch-expiry-untold",
        "does not tell a client that its session has ended",
        Rule::Hears(|asked, answer| {
            let is_it = asked == "keepalive" && answer == ["expired"];
            is_it.then(|| "alive 1 0 12000000 0".to_owned())
        }),
    ),
    on(
        "ch-events-untold",
        "does not tell a waiter that it has the lock",
        Rule::Hears(|_, answer| match answer {
            ["alive", epoch, held, lease, _, _, ..] => {
                Some(format!("alive {epoch} {held} {lease} 0"))
            }
            _ => None,
        }),
    ),
];
