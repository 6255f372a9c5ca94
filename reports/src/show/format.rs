//! The table of output formats.

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

/// A way to write reports, and usually also sweep summaries.
#[derive(Clone, Copy)]
pub struct Format {
    about: &'static str,
    needs: Needs,
    runs: View<Report>,
    /// `None` for traces of a single run.
    sweeps: Option<Sweeps>,
}

/// A way to write sweep summaries.
#[derive(Clone, Copy)]
pub struct Sweeps {
    view: View<Sweep>,
    has_baselines: bool,
}

impl Format {
    /// Its value for `--format`.
    pub fn name(&self) -> &'static str {
        self.runs.name
    }

    /// A one-line description.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// The parts of a report that the full output needs.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// Writes the result of one seed.
    pub fn write_run(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.runs.write_in(Page::default(), report, out)
    }

    /// The same for a page of this shape.
    pub fn write_run_in(&self, page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.runs.write_in(page, report, out)
    }

    /// Its sweep writer; `None` if it has none.
    pub fn of_sweeps(&self) -> Option<Sweeps> {
        self.sweeps
    }
}

impl Sweeps {
    /// Its value for `--format`.
    pub fn name(&self) -> &'static str {
        self.view.name
    }

    /// Returns whether the output compares a sweep with its baseline.
    pub fn has_baselines(&self) -> bool {
        self.has_baselines
    }

    /// Writes the result of many seeds.
    pub fn write(&self, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
        self.view.write_in(Page::default(), sweep, out)
    }
}

/// The parts of a run that a format shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Needs {
    /// The parts of every report.
    Findings,
    /// The parts of every report, and the whole history.
    History,
    /// The history and the messages.
    Wire,
}

/// Text for people.
pub static TEXT: Format = text::FORMAT;
/// The published JSON, which escapes names itself.
pub static JSON: Format = exporters::json::FORMAT;
/// A self-contained page.
pub static HTML: Format = html::FORMAT;

/// Every format, in display order.
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
    exporters::sarif::FORMAT,
];

/// The format with this name.
pub fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name() == name)
}
