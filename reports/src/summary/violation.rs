//! A published [`Violation`], with its finding, its cause, a description and a stable fingerprint.

use crate::explain::cause::Cause;
use crate::explain::narrative::Line;
use crate::judge::finding::{Kind, Severity};
use crate::record::history::Event;
use fencepost_faults::{Micros, Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A broken rule in one run, with all its occurrences of one cause; times and witness are those of
/// the first occurrence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The stable fingerprint of client, kind and cause: the same anomaly has the same id in every
    /// run.
    pub id: String,
    /// The rule that was broken.
    pub kind: Kind,
    /// Its severity.
    pub severity: Severity,
    /// The locked resource.
    pub resource: String,
    /// Its start, in true time.
    pub at_us: SimTime,
    /// Its duration; zero if it was instantaneous.
    pub duration_us: Micros,
    /// Number of occurrences in this run.
    pub occurrences: u64,
    /// Total duration of all occurrences.
    pub total_duration_us: Micros,
    /// The processes involved, the earlier holder first.
    pub processes: Vec<Node>,
    /// Its cause.
    pub cause: Cause,
    /// Two or three sentences for people.
    pub summary: String,
    /// The few events that convict, in their order.
    pub witness: Vec<Event>,
    /// The story, step by step, each step with its event.
    #[serde(default)]
    pub narrative: Vec<Line>,
}

/// Returns the fingerprint of a violation: twelve hex digits of a SHA-256 over the lock, kind and
/// cause, separated by line feeds.
pub fn fingerprint(client: &str, kind: Kind, cause: Cause) -> String {
    let text = format!("{client}\n{kind}\n{cause}");
    Sha256::digest(text.as_bytes())[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_stable_across_builds() {
        // Shell command: `printf 'redlock\noverlap\nholder-pause' | sha256sum | cut -c1-12`
        assert_eq!(fingerprint("redlock", Kind::Overlap, Cause::HolderPause), "2bab58c3e826");
    }

    #[test]
    fn names_are_those_of_the_json() {
        let json = |value: serde_json::Value| value.as_str().map(str::to_owned);
        for kind in Kind::ALL {
            assert_eq!(json(serde_json::to_value(kind).unwrap()).as_deref(), Some(kind.name()));
        }
        for cause in Cause::ALL {
            assert_eq!(json(serde_json::to_value(cause).unwrap()).as_deref(), Some(cause.name()));
        }
    }

    #[test]
    fn client_kind_and_cause_all_count() {
        let base = fingerprint("redlock", Kind::Overlap, Cause::HolderPause);
        assert_ne!(base, fingerprint("fencing", Kind::Overlap, Cause::HolderPause));
        assert_ne!(base, fingerprint("redlock", Kind::StaleWrite, Cause::HolderPause));
        assert_ne!(base, fingerprint("redlock", Kind::Overlap, Cause::ClockJump));
    }
}
