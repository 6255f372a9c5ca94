//! The `fencepost.certificate` format: the result of a complete exploration without a violation.

mod diff;
mod html;
mod read;
mod text;
pub mod unfinished;

pub use diff::{changed_values, diff};
pub use read::{InvalidCertificate, read, read_unfinished};

use crate::record::checksum::{Uncovered, checksum};
use crate::show::view::View;
use crate::summary::report::Tool;
use fencepost_faults::{Micros, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const FORMAT: &str = "fencepost.certificate";
pub const VERSION: u32 = 1;
pub const VERSION_WITH_DELAYS: u32 = 2;
pub static VIEWS: &[View<Certificate>] = &[View::new("text", text::text), View::JSON, HTML];

pub static HTML: View<Certificate> = View::new("html", html::html);

/// Result of a complete exploration in which no run broke a rule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Certificate {
    /// Name of the format, always `fencepost.certificate`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format: 1, or 2 if plans delay messages.
    #[schemars(extend("enum" = [VERSION, VERSION_WITH_DELAYS]))]
    pub version: u32,
    /// Name and version of the program that wrote the document.
    pub tool: Tool,
    /// SHA-256 of the rest of the document in canonical form, in hex.
    pub checksum: Option<String>,
    /// Claim of the certificate, in words.
    pub claim: String,
    /// Limits of the claim, in one sentence.
    pub not_covered: String,
    /// Bounds of the exploration.
    pub bounds: StatedBounds,
    /// Run counts, in total and by kind.
    pub runs: Runs,
    /// Numbers of start times and plans that were skipped or not extended, by reason.
    pub left_out: LeftOut,
    /// SHA-256, in hex, of the concatenated digests of all slices, in order.
    pub digest: String,
    /// Slices of the enumeration, in order. Each slice can be run again separately.
    pub slices: Vec<Slice>,
}

/// Bounds of an enumeration of fault plans.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatedBounds {
    /// Name of the lock, as in `--client`.
    pub client: String,
    /// Fault family, or families joined by `+`, as in `--fault`.
    pub fault: String,
    /// Maximum number of faults in a plan.
    pub faults: u8,
    /// Maximum number of delayed messages in a plan; absent if no plan delays messages.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delays: u8,
    /// Longest duration, added latency and clock step that a fault may have, in microseconds;
    /// restarts, failovers and permanent crashes may last longer.
    pub longest_us: Micros,
    /// Density of the durations tried: `fine` or `coarse`, as in `--grain`.
    pub grain: String,
    /// Active pruning rules: any of `gap`, `idle` and `order`.
    pub rules: Vec<String>,
    /// Seed of the remaining random values, such as owner names.
    pub seed: Seed,
    /// Conditions of each base run, in words.
    pub conditions: Vec<String>,
    /// Settings of the deployment and the workload, before the conditions vary them.
    pub scenario: serde_json::Value,
}

/// Run counts, in total and by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Runs {
    /// Total number of runs: `valid`, `unknown` and `violated` together.
    pub all: u64,
    /// Numbers of runs whose plans have no fault, one fault, and two faults.
    pub by_faults: [u64; 3],
    /// Numbers of runs whose plans delay zero, one and two messages; absent if no plan delays
    /// messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_delays: Option<[u64; 3]>,
    /// Number of conclusive runs that kept every rule.
    pub valid: u64,
    /// Number of inconclusive runs, such as those that did not exercise the lock.
    pub unknown: u64,
    /// Number of runs that broke a rule; 0 in a certificate.
    pub violated: u64,
    /// Number of runs in which a fault began or a message was delayed.
    pub fired: u64,
    /// Number of runs in which at least two processes acquired the lock.
    pub contended: u64,
}

/// Numbers of start times and plans that were skipped or not extended, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Number of skipped start times, at which a fault would have no effect, or the same effect as
    /// at another start time.
    pub gap_places: u64,
    /// Number of plans that were not run because their last fault has no effect.
    pub idle_plans: u64,
    /// Number of impossible plans, in which two faults would have the same effect on one target at
    /// the same time.
    pub colliding_plans: u64,
    /// Number of plans with a delayed message to which no fault or delay was added, because another
    /// plan has the same order of messages; absent if no plan delays messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_order_plans: Option<u64>,
}

/// A contiguous part of the enumeration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// Number of faults in each plan of the slice.
    pub faults: u8,
    /// Number of delayed messages in each plan of the slice; absent if the plans delay no messages.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delays: u8,
    /// Number of the slice's first unit among all units with these numbers of faults and delays,
    /// counted from 0. A unit is a base run, a kind and target in it, or a first fault or delay.
    pub from: u64,
    /// Number of the unit after the last unit of the slice.
    pub to: u64,
    /// Number of runs in all units of the slice.
    pub runs: u64,
    /// SHA-256, in hex, of the concatenated digests of the slice's units, in order. The digest of a
    /// unit is the SHA-256 of one line for each run: the digest of its history and its verdict.
    pub digest: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(super) fn is_zero(number: &u8) -> bool {
    *number == 0
}

pub fn version_of(delays: u8) -> u32 {
    if delays == 0 { VERSION } else { VERSION_WITH_DELAYS }
}

impl Certificate {
    pub fn sealed(self) -> serde_json::Result<Certificate> {
        let document = serde_json::to_value(&self)?;
        Ok(Certificate { checksum: Some(checksum(&document, Uncovered::Nothing)), ..self })
    }
}

#[cfg(test)]
pub(crate) fn sample() -> Certificate {
    let bounds = StatedBounds {
        client: "single-node".to_owned(),
        fault: "lost-reply".to_owned(),
        faults: 1,
        delays: 0,
        longest_us: Micros::from_secs(15),
        grain: "fine".to_owned(),
        rules: vec!["gap".to_owned(), "idle".to_owned()],
        seed: Seed(0),
        conditions: vec!["every message takes 200us; all start at once".to_owned()],
        scenario: serde_json::json!({ "processes": 2 }),
    };
    let slice =
        |faults, runs| Slice { faults, delays: 0, from: 0, to: 1, runs, digest: "0".repeat(64) };
    let certificate = Certificate {
        format: FORMAT.to_owned(),
        version: VERSION,
        tool: Tool { name: "fencepost".to_owned(), version: "0.1.0".to_owned() },
        checksum: None,
        claim: "No plan breaks a rule.".to_owned(),
        not_covered: "Not covered: the rest.".to_owned(),
        bounds,
        runs: Runs { all: 8, by_faults: [1, 7, 0], valid: 6, unknown: 2, ..Runs::default() },
        left_out: LeftOut { gap_places: 3, idle_plans: 2, ..LeftOut::default() },
        digest: "0".repeat(64),
        slices: vec![slice(0, 1), slice(1, 7)],
    };
    certificate.sealed().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::schema::schema;

    fn json(certificate: &Certificate) -> String {
        View::JSON.write(certificate).unwrap()
    }

    #[test]
    fn accepts_what_it_wrote() {
        let text = json(&sample());
        assert_eq!(read(&text), Ok(sample()));
        let validator = jsonschema::validator_for(&schema("certificate").unwrap()).unwrap();
        assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()));
    }

    #[test]
    fn rejects_one_that_was_edited_or_cut_short() {
        let text = json(&sample());
        let edited = text.replace("\"faults\": 1", "\"faults\": 2");
        assert_ne!(edited, text);
        for (text, says) in [
            (edited, "damaged or edited"),
            (text.replace("\"checksum\"", "\"checksums\""), "checksum"),
            (text[..text.len() / 2].to_owned(), "invalid or truncated JSON"),
            (text.replace("fencepost.certificate", "fencepost.report"), "fencepost.report"),
            (text.replace("\"version\": 1", "\"version\": 9"), "version 9"),
        ] {
            let said = read(&text).unwrap_err().to_string();
            assert!(said.contains(says), "{said}");
            assert_eq!(said.lines().count(), 1);
        }
    }

    #[test]
    fn the_text_says_what_was_run_and_what_was_not() {
        let text = text::text(&sample());
        for part in ["No plan breaks a rule.", "Not covered: the rest.", "8 runs", "2 unknown"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(text.lines().find(|line| line.chars().count() > 100), None, "{text}");
    }
}
