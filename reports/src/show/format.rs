//! The table of output formats.
//!
//! One format is one file. A new format is a file and a line in [`FORMATS`]: a [`View`] of runs,
//! and of most also one of sweeps.

pub mod compare;
pub(crate) mod drawing;
pub(crate) mod exporters;
pub(crate) mod html;
pub(crate) mod text;

#[cfg(test)]
mod exporter_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wild_tests;

pub use super::view::{Detail, Page};

use super::view::View;
use crate::summary::report::Report;
use crate::summary::sweep::Sweep;
use std::io::{self, Write};

/// A way to write reports, and of most also a way to write sweep summaries. An entry of
/// [`FORMATS`].
#[derive(Clone, Copy)]
pub struct Format {
    about: &'static str,
    needs: Needs,
    runs: View<Report>,
    /// A trace of one run has no way to write many.
    sweeps: Option<Sweeps>,
}

/// A way to write sweep summaries.
#[derive(Clone, Copy)]
pub struct Sweeps {
    view: View<Sweep>,
    /// Whether a sweep is written with how it compares with its baseline.
    tells_of_baselines: bool,
}

impl Format {
    /// What `--format` takes.
    pub fn name(&self) -> &'static str {
        self.runs.name
    }

    /// One line for people.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// What a report must hold to be written in full.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// Writes what one seed showed.
    pub fn write_run(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.runs.write_in(Page::default(), report, out)
    }

    /// The same, for a reader who sees it in a page of this shape. Only text heeds it.
    pub fn write_run_in(&self, page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.runs.write_in(page, report, out)
    }

    /// The format as a way to write sweeps; `None` if it has none.
    pub fn of_sweeps(&self) -> Option<Sweeps> {
        self.sweeps
    }
}

impl Sweeps {
    /// What `--format` takes.
    pub fn name(&self) -> &'static str {
        self.view.name
    }

    /// Whether a sweep is written with how it compares with its baseline.
    pub fn tells_of_baselines(&self) -> bool {
        self.tells_of_baselines
    }

    /// Writes what many seeds showed.
    pub fn write(&self, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
        self.view.write_in(Page::default(), sweep, out)
    }
}

/// How much of a run a format shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Needs {
    /// What every report holds.
    Findings,
    /// The whole history too.
    History,
    /// The history and the messages on the wire.
    Wire,
}

/// Lines for people.
pub static TEXT: Format = text::FORMAT;
/// The published JSON, which has escapes of its own.
pub static JSON: Format = exporters::json::FORMAT;
/// One self-contained page.
pub static HTML: Format = html::FORMAT;

/// Every format, in the order in which they are listed.
pub static FORMATS: &[Format] = &[
    TEXT,
    JSON,
    HTML,
    drawing::svg::FORMAT,
    exporters::markdown::FORMAT,
    exporters::mermaid::FORMAT,
    exporters::perfetto::FORMAT,
    exporters::edn::FORMAT,
    exporters::porcupine::FORMAT,
    exporters::shiviz::FORMAT,
    exporters::junit::FORMAT,
    exporters::github::FORMAT,
];

/// The format of a name.
pub fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name() == name)
}
