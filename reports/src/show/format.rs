//! The output formats of reports and sweeps.

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

/// An output format for reports and, in most cases, for sweeps.
#[derive(Clone, Copy)]
pub struct Format {
    about: &'static str,
    needs: Needs,
    runs: View<Report>,
    sweeps: Option<Sweeps>,
}

/// The part of a format that writes sweeps.
#[derive(Clone, Copy)]
pub struct Sweeps {
    view: View<Sweep>,
    has_baselines: bool,
}

impl Format {
    /// Returns the format's value for `--format`.
    pub fn name(&self) -> &'static str {
        self.runs.name
    }

    /// Returns a one-line description of the format.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Returns the parts of a report that the format needs.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// Writes the report of one seed.
    pub fn write_run(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.runs.write_in(Page::default(), report, out)
    }

    /// Writes the report of one seed for a page of the given width and detail.
    pub fn write_run_in(&self, page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.runs.write_in(page, report, out)
    }

    /// Returns the part of the format that writes sweeps; `None` if there is none.
    pub fn of_sweeps(&self) -> Option<Sweeps> {
        self.sweeps
    }
}

impl Sweeps {
    /// Returns the format's value for `--format`.
    pub fn name(&self) -> &'static str {
        self.view.name
    }

    /// Returns whether the output compares the sweep with a baseline.
    pub fn has_baselines(&self) -> bool {
        self.has_baselines
    }

    /// Writes the sweep.
    pub fn write(&self, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
        self.view.write_in(Page::default(), sweep, out)
    }
}

/// The parts of a run that a format shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Needs {
    /// The parts that every report has.
    Findings,
    /// The whole history, in addition to the parts that every report has.
    History,
    /// The whole history and the messages, in addition to the parts that every report has.
    Wire,
}

/// The format that writes text for people.
pub static TEXT: Format = text::FORMAT;
/// The format that writes the published JSON. It does not replace invisible characters in names,
/// because JSON escapes them.
pub static JSON: Format = exporters::json::FORMAT;
/// The format that writes a self-contained HTML page.
pub static HTML: Format = html::FORMAT;

/// All formats, in display order.
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

/// Returns the format with this name; `None` if there is none.
pub fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name() == name)
}
