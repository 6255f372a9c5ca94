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

#[derive(Clone, Copy)]
pub struct Format {
    about: &'static str,
    needs: Needs,
    runs: View<Report>,
    sweeps: Option<Sweeps>,
}

#[derive(Clone, Copy)]
pub struct Sweeps {
    view: View<Sweep>,
    has_baselines: bool,
}

impl Format {
    pub fn name(&self) -> &'static str {
        self.runs.name
    }

    pub fn about(&self) -> &'static str {
        self.about
    }

    pub fn needs(&self) -> Needs {
        self.needs
    }

    pub fn write_run(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.runs.write_in(Page::default(), report, out)
    }

    pub fn write_run_in(&self, page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.runs.write_in(page, report, out)
    }

    pub fn of_sweeps(&self) -> Option<Sweeps> {
        self.sweeps
    }
}

impl Sweeps {
    pub fn name(&self) -> &'static str {
        self.view.name
    }

    pub fn has_baselines(&self) -> bool {
        self.has_baselines
    }

    pub fn write(&self, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
        self.view.write_in(Page::default(), sweep, out)
    }
}

/// Parts of a run that a format needs. Each variant includes the parts of the variants above it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Needs {
    Findings,
    History,
    /// The messages on the network.
    Wire,
}

pub static TEXT: Format = text::FORMAT;
/// Writes invisible characters as JSON escapes, so that a parser reads each name unchanged.
pub static JSON: Format = exporters::json::FORMAT;
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

pub fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name() == name)
}
