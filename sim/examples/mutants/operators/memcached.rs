use super::operator::{Operator, constructors};
use super::rule::memcached::Rule;

constructors!(
    Memcached,
    by = lock(Memcached: Rule),
    asks = lock(Memcached(Words): fn(&mut Vec<String>) -> bool),
    unsent = lock(Memcached(Unsent): fn(&[String]) -> Option<&'static str>),
    hears = lock(Memcached(Heard): fn(&str, &str) -> Option<&'static str>),
    on = server(Memcached: Rule),
);

pub(crate) const TABLE: &[Operator] = &[
    asks("add-is-set", "takes the lock even if another process has it", |words| {
        renamed(words, "add", "set")
    }),
    asks("cas-dropped", "changes the lock even if another process has it", |words| {
        let is_cas = renamed(words, "cas", "set");
        if is_cas {
            words.remove(5);
        }
        is_cas
    }),
    asks("mc-ttl-tenfold", "takes the lock for ten times the ttl", |words| {
        lasts(words, |seconds| seconds * 10)
    }),
    asks("mc-ttl-tenth", "takes the lock for a tenth of the ttl", |words| {
        lasts(words, |seconds| (seconds / 10).max(1))
    }),
    asks("mc-ttl-short", "relies on the lease for 2 s longer than it lasts", |words| {
        lasts(words, |seconds| seconds.saturating_sub(2).max(1))
    }),
    asks("mc-ttl-dropped", "takes the lock without an expiry", |words| lasts(words, |_| 0)),
    by("mc-same-owner", "uses the same owner value as every other process", Rule::SameOwner),
    by("mc-owner-not-compared", "treats every owner that it reads as itself", Rule::OwnerIsMine),
    unsent("mc-delete-unsent", "does not release the lock", |words| {
        (words[0] == "delete").then_some("DELETED\r\n")
    }),
    asks("mc-wrong-key", "releases a different key", |words| {
        let is_it = words[0] == "delete";
        words[1].push_str(if is_it { "x" } else { "" });
        is_it
    }),
    unsent("mc-release-unsent", "does not release the lock by cas", |words| {
        (words[0] == "cas").then_some("STORED\r\n")
    }),
    hears("mc-refusal-read-as-grant", "reads a refusal as a grant", |_, answer| {
        (answer == "NOT_STORED\r\n").then_some("STORED\r\n")
    }),
    hears("mc-grant-read-as-refusal", "reads a grant as a refusal", |name, answer| {
        (name == "add" && answer == "STORED\r\n").then_some("NOT_STORED\r\n")
    }),
    hears("mc-exists-unheard", "does not notice that another process was faster", |_, answer| {
        (answer == "EXISTS\r\n").then_some("STORED\r\n")
    }),
    hears("mc-not-found-unheard", "reports a lost lock as released", |name, answer| {
        let done = if name == "delete" { "DELETED\r\n" } else { "STORED\r\n" };
        (answer == "NOT_FOUND\r\n").then_some(done)
    }),
    hears("mc-owner-unseen", "sees no owner where there is one", |_, answer| {
        answer.starts_with("VALUE ").then_some("END\r\n")
    }),
    on(
        "mc-add-is-set",
        "add stores even if the key exists",
        Rule::Words(|words| renamed(words, "add", "set")),
    ),
    on(
        "mc-expired-seen",
        "an expired item stays visible for 30 s",
        Rule::Words(|words| lasts(words, |seconds| seconds + 30)),
    ),
    on(
        "mc-delete-leaves",
        "delete answers but keeps the item",
        Rule::Unsent(|words| (words[0] == "delete").then_some("DELETED\r\n")),
    ),
    on(
        "mc-cas-is-set",
        "cas stores even if the id does not match",
        Rule::Words(|words| {
            let is_cas = renamed(words, "cas", "set");
            if is_cas {
                words.remove(5);
            }
            is_cas
        }),
    ),
];

fn renamed(words: &mut [String], from: &str, to: &str) -> bool {
    let is_it = words[0] == from;
    if is_it {
        words[0] = to.to_owned();
    }
    is_it
}

fn lasts(words: &mut [String], other: fn(u64) -> u64) -> bool {
    let is_store = matches!(words[0].as_str(), "add" | "set" | "cas");
    let seconds = words.get(3).filter(|_| is_store).and_then(|word| word.parse::<u64>().ok());
    let Some(seconds) = seconds.filter(|seconds| *seconds > 0) else { return false };
    words[3] = other(seconds).to_string();
    other(seconds) != seconds
}
