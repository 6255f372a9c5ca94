//! The table of output formats.
//!
//! One format is one file. A new format is a file and a line in [`FORMATS`].

mod axis;
mod brief;
mod brief_remedies;
mod brief_story;
pub(crate) mod canvas;
pub mod compare;
mod edn;
mod github;
mod glyphs;
pub(crate) mod heat_map;
pub(crate) mod html;
mod html_measures;
mod html_picture;
mod html_sweep;
mod html_tables;
mod json;
mod junit;
mod lanes;
pub(crate) mod layout;
pub(crate) mod markdown;
mod mermaid;
mod messages;
mod operations;
mod perfetto;
pub(crate) mod plan_text;
pub(crate) mod plot;
mod porcupine;
mod rerun;
mod shiviz;
mod space_time;
mod svg;
mod text;
mod text_programs;
mod text_sweep;
pub(crate) mod text_timeline;

#[cfg(test)]
mod exporter_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wild_tests;

use crate::record::visible::visible_in;
use crate::summary::report::Report;
use crate::summary::sweep::Sweep;
use std::io::{self, Write};

/// A way to write reports, and of most also a way to write sweep summaries. An entry of
/// [`FORMATS`].
pub struct Format {
    runs: &'static dyn RunFormat,
    /// A trace of one run has no way to write many.
    sweeps: Option<&'static dyn SweepFormat>,
    /// Whether it has escapes of its own for whatever a name may hold. Those for people and for
    /// tools that read lines have not, and are given visible text only: no name in a report can
    /// begin a line or reach the terminal as an escape sequence.
    escapes: bool,
}

/// How a format writes reports.
trait RunFormat: Sync {
    /// What `--format` takes.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn about(&self) -> &'static str;

    /// What a report must hold to be written in full.
    fn needs(&self) -> Needs {
        Needs::Findings
    }

    /// Writes what one seed showed. Colour is written as ANSI sequences; whoever owns the terminal
    /// strips them where they are not wanted.
    fn write_run(&self, report: &Report, out: &mut dyn Write) -> io::Result<()>;

    /// The same, for a reader who sees it in a page of this shape. Only text heeds it.
    fn write_run_in(&self, page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let _ = page;
        self.write_run(report, out)
    }
}

/// How a format writes sweep summaries.
trait SweepFormat: Sync {
    /// Whether a sweep is written with how it compares with its baseline.
    fn tells_of_baselines(&self) -> bool {
        false
    }

    /// Writes what many seeds showed.
    fn write_sweep(&self, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()>;
}

impl Format {
    /// A format that writes reports only.
    const fn of_runs<F: RunFormat>(format: &'static F) -> Format {
        Format { runs: format, sweeps: None, escapes: false }
    }

    /// A format that writes reports and sweeps.
    const fn of_both<F: RunFormat + SweepFormat>(format: &'static F) -> Format {
        Format { runs: format, sweeps: Some(format), escapes: false }
    }

    /// What `--format` takes.
    pub fn name(&self) -> &'static str {
        self.runs.name()
    }

    /// One line for people.
    pub fn about(&self) -> &'static str {
        self.runs.about()
    }

    /// What a report must hold to be written in full.
    pub fn needs(&self) -> Needs {
        self.runs.needs()
    }

    /// Writes what one seed showed. Colour is written as ANSI sequences; whoever owns the terminal
    /// strips them where they are not wanted.
    pub fn write_run(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        match self.escapes {
            true => self.runs.write_run(report, out),
            false => self.runs.write_run(&*visible_in(report)?, out),
        }
    }

    /// The same, for a reader who sees it in a page of this shape.
    pub fn write_run_in(&self, page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        match self.escapes {
            true => self.runs.write_run_in(page, report, out),
            false => self.runs.write_run_in(page, &*visible_in(report)?, out),
        }
    }

    /// The format as a way to write sweeps; `None` if it has none.
    pub fn of_sweeps(&self) -> Option<OfSweeps> {
        let (name, escapes) = (self.name(), self.escapes);
        self.sweeps.map(|format| OfSweeps { name, format, escapes })
    }
}

/// A format as a way to write sweep summaries.
#[derive(Clone, Copy)]
pub struct OfSweeps {
    /// What `--format` takes.
    pub name: &'static str,
    format: &'static dyn SweepFormat,
    escapes: bool,
}

impl OfSweeps {
    /// Whether a sweep is written with how it compares with its baseline.
    pub fn tells_of_baselines(&self) -> bool {
        self.format.tells_of_baselines()
    }

    /// Writes what many seeds showed.
    pub fn write(&self, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
        match self.escapes {
            true => self.format.write_sweep(sweep, out),
            false => self.format.write_sweep(&*visible_in(sweep)?, out),
        }
    }
}

/// The shape of what a reader sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// In columns.
    pub width: usize,
    /// How much is told.
    pub detail: Detail,
}

impl Page {
    /// The narrowest and the widest page.
    pub const WIDTHS: std::ops::RangeInclusive<usize> = 60..=100;

    /// A page as wide as the columns allow.
    pub fn of_width(columns: usize, detail: Detail) -> Page {
        let (min, max) = (*Page::WIDTHS.start(), *Page::WIDTHS.end());
        Page { width: columns.clamp(min, max), detail }
    }
}

impl Default for Page {
    /// What is written to a pipe or a file.
    fn default() -> Page {
        Page { width: *Page::WIDTHS.end(), detail: Detail::Brief }
    }
}

/// How much of a report is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// The first screen: verdicts, and a story for each cause.
    Brief,
    /// Everything that the report holds about each violation.
    Full,
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
pub const TEXT: Format = Format::of_both(&text::Text);
/// The published JSON, which has escapes of its own.
pub const JSON: Format = Format { escapes: true, ..Format::of_both(&json::Json) };
/// One self-contained page.
pub const HTML: Format = Format::of_both(&html::Html);

/// Every format, in the order in which they are listed.
pub const FORMATS: &[Format] = &[
    TEXT,
    JSON,
    HTML,
    Format::of_both(&svg::Svg),
    Format::of_both(&markdown::Markdown),
    Format::of_both(&mermaid::Mermaid),
    Format::of_runs(&perfetto::Perfetto),
    Format::of_runs(&edn::Edn),
    Format::of_runs(&porcupine::Porcupine),
    Format::of_runs(&shiviz::Shiviz),
    Format::of_both(&junit::Junit),
    Format::of_both(&github::Github),
];

/// The format of a name.
pub fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name() == name)
}
