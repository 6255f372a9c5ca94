use crate::explain::cause::Cause;
use crate::explain::narrative::Line;
use crate::judge::finding::{Kind, Severity};
use crate::record::history::Event;
use fencepost_faults::{Micros, Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A broken rule in one run, with all its occurrences that have the same cause. Times and evidence
/// are those of the first occurrence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// Stable fingerprint of the lock, the broken rule and the cause. The same anomaly has the same
    /// id in every run.
    pub id: String,
    /// Rule that the run broke.
    pub kind: Kind,
    /// `harm` if data was damaged or progress was lost, otherwise `hazard`.
    pub severity: Severity,
    /// Locked resource. Its name is also the lock's key on the servers.
    pub resource: String,
    /// Virtual time in microseconds at which the first occurrence began.
    pub at_us: SimTime,
    /// Duration of the first occurrence in microseconds; 0 if it was instantaneous.
    pub duration_us: Micros,
    /// Number of occurrences in this run with the same cause.
    pub occurrences: u64,
    /// `sequence` of the event that broke the rule, one for each occurrence with such an event.
    #[serde(default)]
    pub at_events: Vec<u64>,
    /// Total duration of all occurrences, in microseconds.
    pub total_duration_us: Micros,
    /// Processes involved in the first occurrence; of two conflicting holders, the earlier first.
    pub processes: Vec<Node>,
    /// Cause of the violation; `unexplained` if the evidence does not show the cause.
    pub cause: Cause,
    /// Description of the violation in two or three sentences.
    pub summary: String,
    /// A few events that prove the violation, in order.
    pub witness: Vec<Event>,
    /// Steps that led to the violation, each with its supporting event.
    #[serde(default)]
    pub narrative: Vec<Line>,
}

/// Returns the first twelve hex digits of the SHA-256 of lock, kind and cause on separate lines.
pub fn fingerprint(client: &str, kind: Kind, cause: Cause) -> String {
    let text = format!("{client}\n{kind}\n{cause}");
    Sha256::digest(text.as_bytes())[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_stable_across_builds() {
        // Computed by `printf 'redlock\noverlap\nholder-pause' | sha256sum | cut -c1-12`
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
