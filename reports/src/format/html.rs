//! One self-contained page: nothing is fetched, it opens from disk, and it stays below a megabyte.
//! Must never know what a browser did with it; what is in the page without its script is true
//! already.

use super::canvas::{Extent, escaped};
use super::{Format, Needs, html_picture, html_sweep, html_tables};
use crate::report::{Report, RunReport};
use crate::sweep::Sweep;
use crate::verdict::Verdict;
use crate::visible::visible_json;
use base64::prelude::{BASE64_STANDARD, Engine};
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// A page is kept below this many bytes.
const SIZE_MAX: usize = 1_000_000;
/// The script of every page.
const SCRIPT: &str = include_str!("page.js");
/// The look of every page.
const STYLE: &str = include_str!("page.css");

/// One self-contained page.
pub(super) struct Html;

/// How much of a report goes into a page.
#[derive(Clone, Copy)]
pub(super) struct Fill {
    /// How many messages are drawn for each run.
    pub(super) messages_max: usize,
    /// How much of each run is drawn.
    pub(super) extent: Extent,
    /// Whether the embedded JSON holds the histories.
    pub(super) histories: bool,
}

/// From all of it to the least that still tells the story.
const FILLS: [Fill; 5] = [
    Fill { messages_max: 1_500, extent: Extent::Run, histories: true },
    Fill { messages_max: 1_000, extent: Extent::Run, histories: false },
    Fill { messages_max: 300, extent: Extent::Run, histories: false },
    Fill { messages_max: 300, extent: Extent::Window, histories: false },
    Fill { messages_max: 0, extent: Extent::Window, histories: false },
];

impl Format for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn about(&self) -> &'static str {
        "one self-contained page with space-time pictures; of a sweep, the matrix"
    }

    fn needs(&self) -> Needs {
        Needs::Wire
    }

    fn write_run(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let mut page = String::new();
        for fill in FILLS {
            page = page_of(report, fill)?;
            if page.len() < SIZE_MAX {
                break;
            }
        }
        out.write_all(page.as_bytes())
    }

    fn write_sweep(&self, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
        html_sweep::write(sweep, out)
    }
}

/// A page around what is in it.
pub(crate) fn page(title: &str, body: &str, json: &str) -> String {
    let picture_style = super::svg::STYLE;
    // Inside a script element only `</` and `<!--` could end or change it.
    let json = visible_json(json).replace('<', "\\u003c");
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta \
         http-equiv=\"Content-Security-Policy\" content=\"{policy}\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><meta name=\"color-scheme\" \
         content=\"light dark\"><link rel=\"icon\" \
         href=\"data:,\"><title>{title}</title><style>{picture_style}{STYLE}</style></head>\n<body>{body}\n<script type=\"application/json\" id=\"report\">{json}</script>\n<script>{SCRIPT}</script></body></html>\n",
        title = escaped(title),
        policy = policy()
    )
}

/// What a page may do, should an escape ever be forgotten: its own script runs and no other, and
/// nothing is fetched or sent.
fn policy() -> String {
    let script = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'unsafe-inline'; img-src \
         data:; base-uri 'none'; form-action 'none'"
    )
}

fn page_of(report: &Report, fill: Fill) -> io::Result<String> {
    let (tool, faults) = (&report.tool, report.faults.join(", "));
    let title = format!("fencepost: seed {} under {faults}", report.seed);
    let mut body = format!(
        "<header class=\"top\"><p class=\"muted\">{} {} · seed {} · fault {} · engine \
         {}</p>{}</header><main>",
        escaped(&tool.name),
        escaped(&tool.version),
        report.seed,
        escaped(&faults),
        escaped(&report.engine),
        overview(report)
    );
    for (index, run) in report.runs.iter().enumerate() {
        body.push_str(&section(run, index, fill));
    }
    let embedded = embedded(report, fill);
    let json = serde_json::to_string(&embedded)?;
    body.push_str("</main>");
    body.push_str(&footer(fill));
    Ok(page(&title, &body, &json))
}

/// The report as it is embedded: the messages are in the picture, and histories may not fit.
fn embedded(report: &Report, fill: Fill) -> Report {
    let mut embedded = report.clone();
    for run in &mut embedded.runs {
        run.trace = None;
        if !fill.histories {
            run.drop_history();
        }
    }
    embedded
}

/// With several runs, the verdict of each.
fn overview(report: &Report) -> String {
    if report.runs.len() < 2 {
        return String::new();
    }
    let rows: Vec<String> = report
        .runs
        .iter()
        .enumerate()
        .map(|(index, run)| {
            let name = run.verdict.name();
            let kinds: Vec<String> =
                run.violations.iter().map(|one| one.violation.kind.to_string()).collect();
            format!(
                "<tr><td><a href=\"#run-{index}\">{}</a></td><td>{}</td><td><b \
                 class=\"{name}\">{name}</b></td><td>{}</td></tr>",
                escaped(&run.client),
                escaped(&run.fault),
                kinds.join(", ")
            )
        })
        .collect();
    format!(
        "<div class=\"scroll\"><table><caption>Verdicts</caption><thead><tr><th \
         scope=\"col\">lock</th><th scope=\"col\">fault</th><th scope=\"col\">verdict</th><th \
         scope=\"col\">what was broken</th></tr></thead><tbody>{}</tbody></table></div>",
        rows.concat()
    )
}

fn section(run: &RunReport, index: usize, fill: Fill) -> String {
    let name = run.verdict.name();
    let level = if index == 0 { "h1" } else { "h2" };
    let mut section = format!(
        "<section class=\"run\" id=\"run-{index}\"><{level}><span class=\"verdict \
         {name}\">{name}</span> {} under {}</{level}><p class=\"lead\">{}</p>",
        escaped(&run.client),
        escaped(&run.fault),
        escaped(&lead(run))
    );
    if let Some(first) = run.violations.first() {
        section.push_str(&replay(&first.replay));
    }
    section.push_str(&html_picture::of(run, index, fill));
    section.push_str(&html_tables::violations(run, index));
    section.push_str(&html_tables::plans(run));
    section.push_str(&html_tables::facts(run));
    section.push_str(&html_tables::events(run, index));
    section.push_str("</section>");
    section
}

/// What a reader must know first.
fn lead(run: &RunReport) -> String {
    match (&run.verdict, run.violations.first()) {
        (_, Some(first)) => first.violation.summary.clone(),
        (Verdict::Unknown { reason }, None) => format!("Not known because {reason}."),
        _ => format!("Mutual exclusion held over {} acquisitions.", run.acquisitions),
    }
}

fn replay(command: &str) -> String {
    let command = escaped(command);
    format!(
        "<div class=\"replay\"><span>Replay:</span> <code>{command}</code> <button \
         type=\"button\" data-copy=\"{command}\">Copy</button></div>"
    )
}

fn footer(fill: Fill) -> String {
    let histories = if fill.histories {
        ""
    } else {
        " The whole histories would make it too large; <code>--format json --with-history</code> \
         prints them."
    };
    let pictures = match fill.extent {
        Extent::Run => "",
        Extent::Window => {
            " The pictures show the window of the first violation only, to keep the page small."
        }
    };
    format!(
        "<footer><p>Times are true times of the simulation, from the start of the run. The report \
         is in this page as JSON, in the element \
         <code>#report</code>.{histories}{pictures}</p></footer>"
    )
}
