use super::{SweepSpec, config};
use crate::run::verdicts::tool;
use fencepost_reports::Sweep;
use fencepost_reports::record::checksum::{Damaged, Protection, Uncovered, checksum, verify};
use fencepost_reports::summary::sweep::{Impossible, SeedRange, differing};
use serde::{Deserialize, Serialize};

const FORMAT: &str = "fencepost.checkpoint";
/// Never changes, because only the version of fencepost that wrote a checkpoint can resume it.
const VERSION: u32 = 1;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    format: String,
    version: u32,
    asked: SeedRange,
    sum: Sweep,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidCheckpoint {
    #[error("not a valid checkpoint: {0}")]
    NotOne(String),
    #[error(
        "the checkpoint belongs to another sweep, whose {what} is {found}, not {asked}: use the \
         options of that sweep, or start over without --resume"
    )]
    Other { what: &'static str, found: String, asked: String },
    #[error(
        "the checkpoint belongs to another sweep, with other settings ({0}): use the options of \
         that sweep, or start over without --resume"
    )]
    Settings(String),
    #[error(
        "the checksum does not match the content: the file was damaged or edited, so start over \
         without --resume"
    )]
    Damaged,
    #[error("the contents are inconsistent: {0}")]
    Impossible(#[from] Impossible),
}

impl Checkpoint {
    pub fn new(spec: &SweepSpec, sum: Sweep) -> serde_json::Result<Checkpoint> {
        let (format, version) = (FORMAT.to_owned(), VERSION);
        let open = Checkpoint { format, version, asked: spec.seeds, sum, checksum: None };
        let checksum = checksum(&serde_json::to_value(&open)?, Uncovered::Nothing);
        Ok(Checkpoint { checksum: Some(checksum), ..open })
    }

    /// Returns the finished part of the sweep. Fails if the checkpoint belongs to another sweep.
    pub fn sum_for(self, spec: &SweepSpec) -> Result<Sweep, InvalidCheckpoint> {
        self.check_same_spec(spec)?;
        self.sum.possible()?;
        Ok(self.sum)
    }

    /// Returns the seeds of the whole sweep; `None` if all seeds of the shard were run, and all
    /// anomalies were explained.
    pub fn asked_if_unfinished(&self) -> Option<SeedRange> {
        let sum = &self.sum;
        let mut anomalies = sum.cells.iter().flat_map(|cell| &cell.fingerprints);
        let is_unexplained =
            sum.config["explains"] == true && anomalies.any(|one| one.report.is_none());
        (!sum.complete || is_unexplained).then_some(self.asked)
    }

    pub fn sum_in(text: &str) -> Result<Sweep, InvalidCheckpoint> {
        Checkpoint::parse(text).map(|(read, _)| read.sum)
    }

    /// Also returns whether a checksum protected the checkpoint.
    pub fn parse(text: &str) -> Result<(Checkpoint, Protection), InvalidCheckpoint> {
        let not_one = |error: serde_json::Error| InvalidCheckpoint::NotOne(error.to_string());
        let document: serde_json::Value = serde_json::from_str(text).map_err(not_one)?;
        let protection = verify(&document, Uncovered::Nothing);
        let read: Checkpoint = serde_json::from_value(document).map_err(not_one)?;
        let protection = protection.map_err(|Damaged| InvalidCheckpoint::Damaged)?;
        if (read.format.as_str(), read.version) != (FORMAT, VERSION) {
            let found = format!("format {} version {}", read.format, read.version);
            return Err(InvalidCheckpoint::NotOne(found));
        }
        Ok((read, protection))
    }

    fn check_same_spec(&self, spec: &SweepSpec) -> Result<(), InvalidCheckpoint> {
        let sum = &self.sum;
        let names: Vec<String> =
            sum.cells.iter().map(|cell| format!("{} x {}", cell.client, cell.fault)).collect();
        let cells: Vec<String> = spec
            .cells
            .iter()
            .map(|(client, families)| format!("{} x {families}", client.name))
            .collect();
        let slice = |shard: fencepost_reports::summary::sweep::Shard| {
            format!("{}/{}", shard.index, shard.count)
        };
        let whole = |seeds: Option<SeedRange>| {
            seeds.map_or("not stated".to_owned(), |seeds| seeds.to_string())
        };
        let pairs = [
            ("tool", sum.tool.version.clone(), tool().version),
            ("seeds", self.asked.to_string(), spec.seeds.to_string()),
            ("the whole", whole(sum.whole), whole(Some(spec.seeds))),
            ("shard", slice(sum.shard), slice(spec.shard)),
            ("cells", names.join(", "), cells.join(", ")),
        ];
        if let Some((what, found, asked)) =
            pairs.into_iter().find(|(_, found, asked)| found != asked)
        {
            return Err(InvalidCheckpoint::Other { what, found, asked });
        }
        differing(&sum.config, &config(spec))
            .map_or(Ok(()), |settings| Err(InvalidCheckpoint::Settings(settings)))
    }
}
