//! Histories, the checkers that judge them, verdicts, and output formats.
//!
//! This example judges a history in which two processes hold the lock at the same time:
//!
//! ```
//! use fencepost_reports::{History, Kind, judge, validate};
//!
//! let history: History = serde_json::from_str(r#"{
//! "format":"fencepost.history","version":2,"header":{"client":"my-lock","fault":"none","seed":"7",
//! "resource":"orders","ttl_us":100,"quorum":1,"has_tokens":false,"workload":"register",
//! "storage":"unchecked","progress_bound_us":200,"faults_planned":0},"events":[
//! {"sequence":0,"time_us":1,"node":"client-1","event":"invoke","operation":0,"action":"acquire"},
//! {"sequence":1,"time_us":3,"node":"client-1","event":"ok","operation":0},
//! {"sequence":2,"time_us":4,"node":"client-2","event":"invoke","operation":1,"action":"acquire"},
//! {"sequence":3,"time_us":6,"node":"client-2","event":"ok","operation":1}],
//! "ended":{"at_us":9,"why":"time-limit"}}"#)?;
//! validate(&history)?;
//! assert_eq!(judge(&history).violations[0].kind, Kind::Overlap);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A run passes through the modules in this order: [`record`] contains the recording,
//! [`judge`](mod@judge) finds violations, [`explain`] finds their causes, [`summary`] is the
//! published form of the run, and [`show`] writes the summary in a format. [`documents`] contains
//! the other published files. Apart from tests, no module uses a later module.
//!
//! [`judge()`](judge()) returns the verdict and the violations of a [`History`], and [`judge_by`]
//! does the same with given checkers. A [`RunReport`] is made from its [`Stages`], such as
//! [`RunFacts`], [`Diagnosis`] and [`Recordings`]. The [`FORMATS`](show::format::FORMATS) write a
//! [`Report`] or a [`Sweep`]. [`expected`] returns the literature's prediction. [`validate`] checks
//! a history from a file, and [`digest`] returns a hash of its events. The crate has no Cargo
//! features.

#![forbid(unsafe_code)]

pub mod record;

pub mod judge;

pub mod explain;

pub mod summary;

pub mod show;

pub mod documents;

#[cfg(test)]
mod samples;

pub use explain::cause::Cause;
pub use explain::literature::{Conditions, Expected, expected};
pub use judge::finding::{Kind, Severity};
pub use record::digest::{digest, sha256};
pub use record::history::{
    Access, Action, Availability, Change, Ended, Event, GivingUp, Header, History, Keeping,
    StorageRule, Turn, What, WhyEnded, Workload,
};
pub use record::listed::listed;
pub use record::trace::{Trace, WireMessage};
pub use record::validate::{InvalidHistory, validate};
pub use summary::facts::{RunContext, RunFacts};
pub use summary::report::{Report, RunReport, Tool, ViolationReport};
pub use summary::stages::{Diagnosis, Recordings, Stages, ViolationDiagnosis};
pub use summary::sweep::{Cell, RunSummary, Sweep};
pub use summary::verdict::{Judgement, Verdict, judge, judge_by};
pub use summary::violation::Violation;
