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

use crate::record::visible::visible_in;
use crate::summary::report::Report;
use crate::summary::sweep::Sweep;
use std::io::{self, Write};

/// A way to write reports and sweep summaries.
pub trait Format: Sync {
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

    /// Whether it has a way to write sweeps: a trace of one run has not.
    fn tells_of_sweeps(&self) -> bool {
        true
    }

    /// Whether a sweep is written with how it compares with its baseline.
    fn tells_of_baselines(&self) -> bool {
        false
    }

    /// Writes what many seeds showed; an error of a format that does not tell of sweeps.
    fn write_sweep(&self, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()>;
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

/// Every format, in the order in which they are listed. Those for people and for tools that read
/// lines are [`Shown`]; JSON has escapes of its own.
pub const FORMATS: &[&dyn Format] = &[
    &Shown(text::Text),
    &json::Json,
    &Shown(html::Html),
    &Shown(svg::Svg),
    &Shown(markdown::Markdown),
    &Shown(mermaid::Mermaid),
    &Shown(perfetto::Perfetto),
    &Shown(edn::Edn),
    &Shown(porcupine::Porcupine),
    &Shown(shiviz::Shiviz),
    &Shown(junit::Junit),
    &Shown(github::Github),
];

/// A format that is given visible text only: no name in a report can begin a line or reach the
/// terminal as an escape sequence.
struct Shown<F>(F);

impl<F: Format> Format for Shown<F> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn about(&self) -> &'static str {
        self.0.about()
    }

    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn write_run(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.0.write_run(&*visible_in(report)?, out)
    }

    fn write_run_in(&self, page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.0.write_run_in(page, &*visible_in(report)?, out)
    }

    fn tells_of_sweeps(&self) -> bool {
        self.0.tells_of_sweeps()
    }

    fn tells_of_baselines(&self) -> bool {
        self.0.tells_of_baselines()
    }

    fn write_sweep(&self, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
        self.0.write_sweep(&*visible_in(sweep)?, out)
    }
}

/// The format of a name.
pub fn format_named(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}
