//! The `fencepost.exploration` format: the result of an exploration without a certificate.

use super::html::{conditions, runs};
use super::text::fired;
use super::{LeftOut, Runs, Slice, StatedBounds, VERSION, VERSION_WITH_DELAYS, is_zero};
use crate::record::checksum::{Uncovered, checksum};
use crate::show::format::html::page::page as page_of;
use crate::show::view::View;
use crate::summary::report::Tool;
use crate::summary::sweep::Shard;
use maud::html;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const FORMAT: &str = "fencepost.exploration";
pub static VIEWS: &[View<Unfinished>] =
    &[View::new("text", text), View::JSON, View::new("html", page)];

/// Result of an exploration that found no violation but gives no certificate, because units are
/// missing or no run was conclusive.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Unfinished {
    /// Name of the format, always `fencepost.exploration`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format: 1, or 2 if plans delay messages.
    #[schemars(extend("enum" = [VERSION, VERSION_WITH_DELAYS]))]
    pub version: u32,
    /// Name and version of the program that wrote the document.
    pub tool: Tool,
    /// SHA-256 of the rest of the document in canonical form, in hex.
    pub checksum: Option<String>,
    /// Always `false`, because this document is not a certificate.
    #[schemars(extend("const" = false))]
    pub is_certificate: bool,
    /// Reason why there is no certificate, in words.
    pub reason: String,
    /// Requested bounds of the exploration.
    pub bounds: StatedBounds,
    /// Requested part of the enumeration. Shard 1 of 1 contains every plan.
    pub shard: Shard,
    /// Numbers of units in all shards for plans with 0, 1 and 2 faults, as far as counted. If plans
    /// delay messages, each number of faults has one entry for each number of delays, ascending.
    pub units: Vec<u64>,
    /// Numbers of runs, in total and by kind.
    pub runs: Runs,
    /// Numbers of start times and plans that were skipped or not extended, by reason.
    pub left_out: LeftOut,
    /// Slices whose units were all run, in order.
    pub slices: Vec<Slice>,
    /// Finished units of unfinished slices, in order.
    pub loose: Vec<LooseUnit>,
}

/// Result of a finished unit whose slice is unfinished.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LooseUnit {
    /// Number of faults in each plan of the unit.
    pub faults: u8,
    /// Number of delayed messages in each plan of the unit; absent if the plans delay no messages.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delays: u8,
    /// Number of the unit among all units with these numbers of faults and delays, counted from 0.
    /// A unit is a base run, a kind and target in it, or a first fault or delay.
    pub unit: u64,
    /// Number of runs in the unit.
    pub runs: u64,
    /// SHA-256, in hex, of the history digests and verdicts of the unit's runs, in order.
    pub digest: String,
}

impl Unfinished {
    pub fn sealed(self) -> serde_json::Result<Unfinished> {
        let document = serde_json::to_value(&self)?;
        Ok(Unfinished { checksum: Some(checksum(&document, Uncovered::Nothing)), ..self })
    }

    fn units_done(&self) -> u64 {
        let slices = self.slices.iter().map(|slice| slice.to.saturating_sub(slice.from));
        slices.sum::<u64>() + self.loose.len() as u64
    }
}

pub fn is_exploration(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    serde_json::from_str::<Head>(text).is_ok_and(|head| head.format == FORMAT)
}

fn page(unfinished: &Unfinished) -> String {
    let json = serde_json::to_string(unfinished).unwrap_or_default();
    let (tool, bounds) = (&unfinished.tool, &unfinished.bounds);
    let body = html! {
        header.top {
            p.muted { (tool.name) " " (tool.version) " · no certificate" }
            h1 { (bounds.client) " under " (bounds.fault) }
            p.lead { "No certificate: " (unfinished.reason) }
        }
        main {
            (runs(&unfinished.runs, &unfinished.left_out))
            (conditions(bounds))
        }
        footer {
            p { "The exploration is in this page as JSON, in the element " code { "#report" } "." }
        }
    };
    let title = format!("fencepost: {} under {}, not certified", bounds.client, bounds.fault);
    page_of(&title, &body, &json)
}

fn text(unfinished: &Unfinished) -> String {
    let (tool, bounds, runs) = (&unfinished.tool, &unfinished.bounds, &unfinished.runs);
    format!(
        "{} {}: {} under {}: no certificate: {}\n\
         {} runs: {} valid, {} unknown, {} violated; {} in {}\n\
         shard {} of {}; {} of {} units\n",
        tool.name,
        tool.version,
        bounds.client,
        bounds.fault,
        unfinished.reason,
        runs.all,
        runs.valid,
        runs.unknown,
        runs.violated,
        fired(runs),
        runs.fired,
        unfinished.shard.index,
        unfinished.shard.count,
        unfinished.units_done(),
        unfinished.units.iter().sum::<u64>()
    )
}

#[cfg(test)]
pub(crate) fn sample() -> Unfinished {
    let certificate = super::sample();
    let digest = "0".repeat(64);
    let unfinished = Unfinished {
        format: FORMAT.to_owned(),
        version: VERSION,
        tool: certificate.tool,
        checksum: None,
        is_certificate: false,
        reason: "stopped after 8 of 9 runs".to_owned(),
        bounds: certificate.bounds,
        shard: Shard { index: 2, count: 3 },
        units: vec![1, 4, 0],
        runs: certificate.runs,
        left_out: certificate.left_out,
        slices: certificate.slices,
        loose: vec![LooseUnit { faults: 1, delays: 0, unit: 2, runs: 1, digest }],
    };
    unfinished.sealed().unwrap()
}

#[cfg(test)]
mod tests {
    use super::super::{read, read_unfinished};
    use super::*;
    use crate::documents::schema::schema;

    #[test]
    fn it_is_read_as_it_was_written_and_never_as_a_certificate() {
        let text = View::JSON.write(&sample()).unwrap();
        assert_eq!(read_unfinished(&text), Ok(sample()));
        assert!(is_exploration(&text) && !is_exploration("{}"));
        let validator = jsonschema::validator_for(&schema("exploration").unwrap()).unwrap();
        assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()));
        let said = read(&text).unwrap_err().to_string();
        assert_eq!(said, "format 'fencepost.exploration': expected fencepost.certificate");
        let edited = text.replace("\"unit\": 2", "\"unit\": 3");
        assert_ne!(edited, text);
        for bad in [edited, text.replace("exploration", "certificate"), text[..99].to_owned()] {
            assert!(read_unfinished(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_text_says_how_much_of_it_there_is() {
        let said = text(&sample());
        for part in ["no certificate: stopped after", "shard 2 of 3; 3 of 5 units"] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}
