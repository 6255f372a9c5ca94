//! Histories, the checkers that judge them, verdicts, and every output format.
//!
//! Owns [`History`] and all that is derived from it.

#![forbid(unsafe_code)]

pub mod arithmetic;
pub mod boundary;
pub mod cause;
pub mod certificate;
pub mod checker;
pub mod checksum;
pub mod digest;
pub mod expectation;
pub mod expected;
mod explain;
pub mod finding;
pub mod format;
pub mod gallery;
pub mod history;
pub mod load;
pub mod matrix;
pub mod meaning;
mod narrate;
pub mod narrative;
pub mod order;
pub mod phases;
mod picture;
pub mod programs;
pub mod read;
pub mod report;
mod run_report;
pub mod schema;
pub mod sweep;
pub mod timeline;
pub mod trace;
pub mod validate;
pub mod verdict;
pub mod view;
pub mod violation;
pub mod visible;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod story;

pub use cause::Cause;
pub use digest::{digest, sha256};
pub use expected::{Conditions, Expected, expected};
pub use finding::{Kind, Severity};
pub use history::{
    Access, Action, Change, Event, Header, History, Keeping, StorageRule, What, Workload,
};
pub use report::{Report, RunReport, Tool, ViolationReport};
pub use run_report::RunFacts;
pub use sweep::{Cell, RunSummary, Sweep};
pub use trace::{Trace, WireMessage};
pub use validate::{InvalidHistory, validate};
pub use verdict::{Judgement, Verdict, judge};
pub use violation::Violation;
