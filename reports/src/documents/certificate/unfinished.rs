//! The `fencepost.exploration` format, version 1: what was run where no certificate can be given.

use super::{LeftOut, Runs, StatedBounds, html};
use crate::show::view::View;
use crate::summary::report::Tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The `format` field.
pub const FORMAT: &str = "fencepost.exploration";
/// The version of the format that this build writes.
pub const VERSION: u32 = 1;
/// The ways to write it.
pub const VIEWS: &[View<Unfinished>] =
    &[View::new("text", text), View::JSON, View::new("html", html::unfinished)];

/// What was run before it was stopped, or without exercising anything.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Unfinished {
    /// Always `fencepost.exploration`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Always 1.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// What wrote it.
    pub tool: Tool,
    /// Always false.
    #[schemars(extend("const" = false))]
    pub is_certificate: bool,
    /// Why no certificate can be given.
    pub reason: String,
    /// What was to be enumerated, in numbers.
    pub bounds: StatedBounds,
    /// What the runs came to.
    pub runs: Runs,
    /// What was not run by a rule.
    pub left_out: LeftOut,
}

fn text(unfinished: &Unfinished) -> String {
    let (tool, bounds, runs) = (&unfinished.tool, &unfinished.bounds, &unfinished.runs);
    format!(
        "{} {}: {} under {}: no certificate: {}\n\
         {} runs: {} valid, {} unknown, {} violated; a fault was fired in {}\n",
        tool.name,
        tool.version,
        bounds.client,
        bounds.fault,
        unfinished.reason,
        runs.all,
        runs.valid,
        runs.unknown,
        runs.violated,
        runs.fired
    )
}
