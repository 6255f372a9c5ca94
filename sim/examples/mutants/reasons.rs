//! Why mutants that make a difference break no rule.

use crate::fate::Outcome;

/// A reason.
struct Reason {
    /// Of mutants by these operators.
    operators: &'static [&'static str],
    /// Of these locks; of all, if there are none.
    locks: &'static [&'static str],
    /// The reason.
    why: &'static str,
}

const REASONS: &[Reason] = &[
    Reason {
        operators: &[
            "not-held-read-as-released",
            "mc-not-found-unheard",
            "no-node-unheard",
            "none-deleted-read-as-one",
        ],
        locks: &[],
        why: "nothing of the lock stands after such a release, so that the answer does no harm; \
              the rule is about locks that stand on",
    },
    Reason {
        operators: &["switch-unheard", "switch-not-told"],
        locks: &[],
        why: "the old primary closes its connections when it is demoted, and the client asks the \
              Sentinels then",
    },
];

/// Why a mutant that survived breaks no rule, if that is known.
pub(crate) fn reason(outcome: &Outcome) -> Option<&'static str> {
    let is_its = |reason: &&Reason| {
        reason.operators.contains(&outcome.operator.as_str())
            && (reason.locks.is_empty() || reason.locks.contains(&outcome.lock.as_str()))
    };
    REASONS.iter().find(is_its).map(|reason| reason.why)
}
