//! Writes self-contained pages that also work with scripts disabled.

pub(crate) mod comparison;
pub(crate) mod measures;
pub(crate) mod page;
pub(crate) mod picture;
pub(crate) mod sweep;
pub(crate) mod tables;

use super::drawing::canvas::Extent;
use super::{Format, Needs, Page, Sweeps};
use crate::show::view::View;
use crate::summary::report::{Report, RunReport};
use crate::summary::sweep::Sweep;
use crate::summary::verdict::Verdict;
use maud::{Markup, html};
use page::{PageContent, heads, page};
use std::io::{self, Write};

const SIZE_MAX: usize = 1_000_000;
/// Possible contents of a page, the largest first. [`write_report`] uses the first content that
/// keeps the page below `SIZE_MAX` bytes, or else the last.
const FILLS: [PageContent; 5] = [
    PageContent { messages_max: 1_500, extent: Extent::Run, histories: true },
    PageContent { messages_max: 1_000, extent: Extent::Run, histories: false },
    PageContent { messages_max: 300, extent: Extent::Run, histories: false },
    PageContent { messages_max: 300, extent: Extent::Window, histories: false },
    PageContent { messages_max: 0, extent: Extent::Window, histories: false },
];

pub(super) const FORMAT: Format = Format {
    about: "a self-contained page with space-time diagrams; for a sweep, with the matrix",
    needs: Needs::Wire,
    runs: View::written("html", write_report),
    sweeps: Some(Sweeps { view: SWEEPS, has_baselines: true }),
};

const SWEEPS: View<Sweep> = View::written("html", write_sweep);

fn write_report(_: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut page = String::new();
    for fill in FILLS {
        page = page_of(report, fill)?;
        if page.len() < SIZE_MAX {
            break;
        }
    }
    out.write_all(page.as_bytes())
}

fn write_sweep(_: Page, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    sweep::write(sweep, out)
}

fn page_of(report: &Report, fill: PageContent) -> io::Result<String> {
    let (tool, faults) = (&report.tool, report.faults.join(", "));
    let title = format!("fencepost: seed {} under {faults}", report.seed);
    let body = html! {
        header.top {
            p.muted {
                (tool.name) " " (tool.version) " · seed " (report.seed) " · fault " (faults)
                " · engine " (report.engine)
            }
            (overview(report))
        }
        main {
            @for (index, run) in report.runs.iter().enumerate() { (section(run, index, fill)) }
        }
        (footer(fill))
    };
    Ok(page(&title, &body, &serde_json::to_string(&embedded(report, fill))?))
}

fn embedded(report: &Report, fill: PageContent) -> Report {
    let mut embedded = report.clone();
    for run in &mut embedded.runs {
        run.trace = None;
        if !fill.histories {
            run.drop_history();
        }
    }
    embedded
}

fn overview(report: &Report) -> Markup {
    if report.runs.len() < 2 {
        return Markup::default();
    }
    html! {
        div.scroll {
            table {
                caption { "Verdicts" }
                (heads(&["lock", "fault", "verdict", "broken rules"]))
                tbody {
                    @for (index, run) in report.runs.iter().enumerate() { (row(run, index)) }
                }
            }
        }
    }
}

fn row(run: &RunReport, index: usize) -> Markup {
    let kinds: Vec<&str> = run.violations.iter().map(|one| one.violation.kind.name()).collect();
    let verdict = run.verdict.name();
    html! {
        tr {
            td { a href={ "#run-" (index) } { (run.client) } }
            td { (run.fault) }
            td { b class=(verdict) { (verdict) } }
            td { (kinds.join(", ")) }
        }
    }
}

fn section(run: &RunReport, index: usize, fill: PageContent) -> Markup {
    html! {
        section.run id={ "run-" (index) } {
            @if index == 0 { h1 { (heading(run)) } } @else { h2 { (heading(run)) } }
            p.lead { (lead(run)) }
            @if let Some(first) = run.violations.first() { (replay(&first.replay)) }
            (picture::of(run, index, fill))
            (tables::violations(run, index))
            (tables::plans(run))
            (measures::of(run))
            (tables::facts(run))
            (tables::events(run, index))
        }
    }
}

fn heading(run: &RunReport) -> Markup {
    let verdict = run.verdict.name();
    html! { span.verdict.(verdict) { (verdict) } " " (run.client) " under " (run.fault) }
}

fn lead(run: &RunReport) -> String {
    match (&run.verdict, run.violations.first()) {
        (_, Some(first)) => first.violation.summary.clone(),
        (Verdict::Unknown { reason }, None) => format!("Unknown because {reason}."),
        _ => format!("Mutual exclusion held over {} acquisitions.", run.acquisitions),
    }
}

fn replay(command: &str) -> Markup {
    html! {
        div.replay {
            span { "Replay:" } " " code { (command) } " "
            button type="button" data-copy=(command) { "Copy" }
        }
    }
}

fn footer(fill: PageContent) -> Markup {
    html! {
        footer {
            p {
                "Times are true times of the simulation, from the start of the run. The report is \
                 in this page as JSON, in the element " code { "#report" } "."
                @if !fill.histories {
                    " The whole histories would make it too large; "
                    code { "--format json --with-history" } " prints them."
                }
                @if fill.extent == Extent::Window {
                    " The pictures show the window of the first violation only, to keep the page \
                     small."
                }
            }
        }
    }
}
