//! The `fencepost.reality` format: simulated violations replayed on real servers.

mod html;
mod timelines;

use crate::explain::cause::Cause;
use crate::judge::finding::Kind;
use crate::show::view::View;
use crate::summary::report::{TimelineEntry, Tool};
use fencepost_faults::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

pub const FORMAT: &str = "fencepost.reality";
pub const VERSION: u32 = 2;
pub static VIEWS: &[View<Reality>] = &[
    View::new("text", text),
    View::new("markdown", markdown),
    View::new("html", html::html),
    View::JSON,
];

/// Results of violations on simulated servers, repeated on real servers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Reality {
    /// Name of the format, always `fencepost.reality`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format, always 2.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// Name and version of the program that wrote the document.
    pub tool: Tool,
    /// Real servers, by coordinator name.
    pub servers: BTreeMap<String, RealServer>,
    /// Results, one row for each violation.
    pub rows: Vec<Row>,
    /// Numbers of rows by result.
    pub counts: Counts,
}

/// Name and version of a real server.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RealServer {
    /// Name of the server, such as `Redis` or `Valkey`.
    pub name: String,
    /// Version that the server reports.
    pub version: String,
}

/// Result of one violation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Gallery page that shows the run; `null` if the run is not from a page.
    pub page: Option<String>,
    /// Name of the lock, as in `--client`.
    pub client: String,
    /// Fault family, or families joined by `+`, as in `--fault`.
    pub fault: String,
    /// Seed of the run from which the plan was minimized.
    pub seed: Seed,
    /// Rule that the lock breaks with the simulated servers.
    pub kind: Kind,
    /// Cause of the violation with the simulated servers.
    pub cause: Cause,
    /// Number of faults in the minimal plan.
    pub faults: u64,
    /// Result with the real servers.
    pub real: Outcome,
    /// Events of the minimal plan on both kinds of servers. If the real servers show the same
    /// violation, the row has timelines only if `--page` named its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timelines: Option<Timelines>,
}

/// Events around the violation, from the run of the plan on simulated servers and from its run on
/// real servers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Timelines {
    /// Events with the simulated servers.
    pub simulated: Vec<TimelineEntry>,
    /// Events with the real servers in the same period.
    pub real: Vec<TimelineEntry>,
}

/// Result of repeating a violation on real servers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// The lock breaks the same rule for the same cause.
    Same,
    /// The lock breaks the same rule for the same cause, but only in the complete run of the seed
    /// with all its faults, processes and cycles.
    SameInWholeRun,
    /// The lock breaks another rule, or the same rule for another cause.
    Another {
        /// Rule that the lock breaks with the real servers.
        kind: Kind,
        /// Cause of the violation with the real servers.
        cause: Cause,
    },
    /// The run exercises the lock, and the lock keeps every rule.
    None,
    /// The plan cannot be run with the real servers, or its run is inconclusive.
    CannotBePlayed {
        /// Reason, such as a server that is not installed or that fails.
        why: String,
    },
}

/// Numbers of rows by result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Number of rows with the same violation on the real servers.
    pub same: u64,
    /// Number of rows with the same violation only in the complete run of the seed.
    pub same_in_whole_run: u64,
    /// Number of rows with another violation on the real servers.
    pub another: u64,
    /// Number of rows without a violation on the real servers.
    pub none: u64,
    /// Number of rows whose plan cannot be run with the real servers, or whose run is inconclusive.
    pub cannot_be_played: u64,
}

impl Reality {
    pub fn new(tool: Tool, servers: BTreeMap<String, RealServer>, rows: Vec<Row>) -> Reality {
        let mut counts = Counts::default();
        for row in &rows {
            *match row.real {
                Outcome::Same => &mut counts.same,
                Outcome::SameInWholeRun => &mut counts.same_in_whole_run,
                Outcome::Another { .. } => &mut counts.another,
                Outcome::None => &mut counts.none,
                Outcome::CannotBePlayed { .. } => &mut counts.cannot_be_played,
            } += 1;
        }
        Reality { format: FORMAT.to_owned(), version: VERSION, tool, servers, rows, counts }
    }
}

impl Outcome {
    pub fn is_same(&self) -> bool {
        matches!(self, Outcome::Same | Outcome::SameInWholeRun)
    }

    pub fn words(&self) -> String {
        match self {
            Outcome::Same => "the same violation".to_owned(),
            Outcome::SameInWholeRun => "the same violation in the whole run".to_owned(),
            Outcome::Another { kind, cause } => {
                format!("another: {} by {}", kind.name(), cause.name())
            }
            Outcome::None => "no violation".to_owned(),
            Outcome::CannotBePlayed { why } => format!("cannot be played ({why})"),
        }
    }
}

fn text(reality: &Reality) -> String {
    let mut text = format!("{}\n{}\n", table(reality, &|page| page.to_owned()), summary(reality));
    for (row, timelines) in with_timelines(reality) {
        let limit = limit(row).map_or_else(String::new, |limit| format!("{limit}\n\n"));
        let _ = write!(text, "\n{}\n\n{limit}{}", title(row), timelines::text(timelines));
    }
    text
}

fn with_timelines(reality: &Reality) -> impl Iterator<Item = (&Row, &Timelines)> {
    reality.rows.iter().filter_map(|row| Some((row, row.timelines.as_ref()?)))
}

/// Returns the reason, if known, why a gallery page has a different result on real servers.
fn limit(row: &Row) -> Option<&'static str> {
    let is_different = !row.real.is_same();
    match row.page.as_deref().filter(|_| is_different)? {
        "zookeeper-stale-read" => Some(
            "The violation needs a client to read between two commits: the removal of the previous \
             holder's node, and the end of the client's own session. In the whole run, these \
             commits reach a follower 1.6 to 1.9 ms apart on the simulated servers, and 0.3 to 1.0 \
             ms apart on the real ones, which is less than a read takes. In the minimal run, the \
             real servers resume granting the lock before any session ends.",
        ),
        "postgresql-failover" => Some(
            "To show this violation, the standby must lack the last grant when it is cut off; \
             otherwise it keeps that lock until the lease ends, and client-2 waits. On the \
             simulated primary, this plan cuts the standby off 0.5 ms after a grant; the real \
             primary grants at other times.",
        ),
        _ => None,
    }
}

fn title(row: &Row) -> String {
    let page = row.page.iter().map(|page| format!("{page}: "));
    let page: String = page.collect();
    format!("{page}{} under {}, seed {}", row.client, row.fault, row.seed)
}

fn table(reality: &Reality, page: &dyn Fn(&str) -> String) -> String {
    let mut table = String::from(
        "| page | lock | fault | seed | simulated servers | faults | real servers |\n\
         | --- | --- | --- | ---: | --- | ---: | --- |\n",
    );
    for row in &reality.rows {
        let _ = writeln!(table, "{}", line(row, page));
    }
    table
}

fn line(row: &Row, page: &dyn Fn(&str) -> String) -> String {
    let (client, fault, seed, faults) = (&row.client, &row.fault, row.seed, row.faults);
    let shown = format!("{} by {}", row.kind.name(), row.cause.name());
    let page = row.page.as_deref().map_or(String::new(), page);
    let real = row.real.words();
    format!("| {page} | {client} | {fault} | {seed} | {shown} | {faults} | {real} |")
}

fn summary(reality: &Reality) -> String {
    let Counts { same, same_in_whole_run, another, none, cannot_be_played } = reality.counts;
    let (shown, all) = (same + same_in_whole_run, reality.rows.len());
    format!(
        "Of {all} runs, {shown} show the same violation ({same_in_whole_run} only in the whole \
         run), {another} show another violation, {none} show none, and {cannot_be_played} failed \
         to play"
    )
}

fn markdown(reality: &Reality) -> String {
    let mut text = String::from(
        "# Simulated and real servers\n\n\
         Each row is a violation on simulated servers. On the simulated servers, fencepost\n\
         minimized its faults, processes and cycles. It then played the minimal run against real\n\
         servers with the same lock, clients, network and judge. If the minimal run does not\n\
         break the same rule for the same cause, fencepost also plays the whole run of the seed.\n\
         `fencepost reality --gallery --format markdown` makes this page; [Real\n\
         servers](real-servers.md) explains the differences.\n\n",
    );
    let servers = reality.servers.iter().map(|(coordinator, server)| {
        format!("- {coordinator}: {} {}\n", server.name, server.version)
    });
    text.extend(servers);
    let link = |page: &str| format!("[{page}](gallery/{page}.md)");
    let _ = writeln!(text, "\n{}\n{}.", table(reality, &link), summary(reality));
    if with_timelines(reality).next().is_some() {
        text.push_str(
            "\n## Timelines\n\nEach line is an event of the minimal run, with its time on the \
             simulated and on the\nreal servers. A dash means that the event did not happen there \
             within a second of that\ntime.\n",
        );
    }
    for (row, timelines) in with_timelines(reality) {
        let limit = limit(row).map_or_else(String::new, |limit| format!("{limit}\n\n"));
        let drawn = timelines::text(timelines);
        let _ = write!(text, "\n### {}\n\n{limit}```text\n{drawn}```\n", title(row));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::schema::schema;
    use crate::record::story::Story;
    use crate::samples;

    fn reality() -> Reality {
        let row = |real| Row {
            page: Some("overlap-by-pause".to_owned()),
            client: "single-node".to_owned(),
            fault: "pause".to_owned(),
            seed: Seed(15),
            kind: Kind::Overlap,
            cause: Cause::HolderPause,
            faults: 1,
            real,
            timelines: None,
        };
        let another = Outcome::Another { kind: Kind::Overlap, cause: Cause::ClockJump };
        let rows = [Outcome::Same, Outcome::SameInWholeRun, another, Outcome::None].map(row);
        let tool = Tool { name: "fencepost".to_owned(), version: "0".to_owned() };
        let server = RealServer { name: "Redis".to_owned(), version: "7.0.15".to_owned() };
        Reality::new(tool, BTreeMap::from([("redis".to_owned(), server)]), rows.into())
    }

    #[test]
    fn outcomes_are_counted_and_told() {
        let reality = reality();
        assert_eq!((reality.counts.same, reality.counts.another, reality.counts.none), (1, 1, 1));
        let told = text(&reality);
        assert!(told.contains("| single-node | pause | 15 | overlap by holder-pause | 1 |"));
        assert!(told.contains("another: overlap by clock-jump"), "{told}");
        let page = markdown(&reality);
        assert!(page.contains("[overlap-by-pause](gallery/overlap-by-pause.md)"), "{page}");
        let counts =
            "Of 4 runs, 2 show the same violation (1 only in the whole run), 1 show another";
        assert!(page.contains(counts), "{page}");
    }

    fn with_timelines() -> Reality {
        let timeline = |story: Story| samples::run(story).timeline;
        let mut reality = reality();
        let (simulated, real) = (timeline(samples::paused_holder()), timeline(samples::failover()));
        reality.rows[3].timelines = Some(Timelines { simulated, real });
        reality
    }

    #[test]
    fn a_page_with_a_known_difference_states_its_reason() {
        let mut reality = with_timelines();
        assert!(!markdown(&reality).contains("the real primary grants"));
        reality.rows[3].page = Some("postgresql-failover".to_owned());
        for told in [text(&reality), markdown(&reality)] {
            assert!(told.contains("the real primary grants"), "{told}");
        }
        reality.rows[3].real = Outcome::Same;
        assert!(!markdown(&reality).contains("the real primary grants"));
    }

    #[test]
    fn a_row_with_timelines_shows_both_in_every_format() {
        for view in VIEWS {
            let written = view.write(&with_timelines()).unwrap();
            let times = match view.name {
                "json" => ["4800000", "14005000"],
                _ => ["4.800000s", "14.005000s"],
            };
            for wanted in ["pause on client-1"].into_iter().chain(times) {
                assert!(written.contains(wanted), "{}: {wanted}: {written}", view.name);
            }
            let without = view.write(&reality()).unwrap();
            assert!(!without.contains(times[1]), "{}: {without}", view.name);
        }
    }

    #[test]
    fn the_schema_accepts_it() {
        let validator = jsonschema::validator_for(&schema("reality").unwrap()).unwrap();
        for reality in [reality(), with_timelines()] {
            assert!(validator.is_valid(&serde_json::to_value(reality).unwrap()));
        }
    }
}
