//! The page of a sweep: the matrix, and below it each cell with its distinct anomalies. Must never
//! know single runs.

use super::canvas::escaped;
use super::heat_map::{axes, heat, words};
use super::html;
use super::html_tables;
use crate::sweep::{Cell, Sweep};
use std::io::{self, Write};

/// Writes the page.
pub(super) fn write(sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    let title = format!("fencepost: seeds {}", sweep.seeds);
    let complete = if sweep.complete { "" } else { " · not all seeds were run" };
    let mut body = format!(
        "<header class=\"top\"><p class=\"muted\">{} {} · seeds {}{complete}</p><h1>Which locks \
         broke under which faults</h1><p class=\"lead\">Each cell counts the runs that were \
         violated among those that exercised the lock. Choose one for its distinct \
         anomalies.</p></header><main>{}",
        escaped(&sweep.tool.name),
        escaped(&sweep.tool.version),
        sweep.seeds,
        matrix(sweep)
    );
    for cell in &sweep.cells {
        body.push_str(&section(sweep, cell));
    }
    body.push_str(
        "</main><footer><p>The summary is in this page as JSON, in the element \
         <code>#report</code>.</p></footer>",
    );
    out.write_all(html::page(&title, &body, &serde_json::to_string(&sweep.sealed()?)?).as_bytes())
}

fn matrix(sweep: &Sweep) -> String {
    let (rows, columns) = axes(sweep);
    let heads: String =
        columns.iter().map(|fault| format!("<th scope=\"col\">{}</th>", escaped(fault))).collect();
    let body: String = rows
        .iter()
        .map(|client| {
            let cells: String = columns
                .iter()
                .map(|fault| {
                    let cell = sweep
                        .cells
                        .iter()
                        .find(|cell| cell.client == *client && cell.fault == *fault);
                    cell.map_or("<td></td>".to_owned(), |cell| format!("<td>{}</td>", link(cell)))
                })
                .collect();
            format!("<tr><th scope=\"row\">{}</th>{cells}</tr>", escaped(client))
        })
        .collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Matrix\"><table \
         class=\"matrix\"><caption>Runs violated, of those \
         exercised</caption><thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )
}

fn link(cell: &Cell) -> String {
    let kinds: Vec<String> =
        cell.violations_by_kind.iter().map(|(kind, runs)| format!("{kind} {runs}")).collect();
    format!(
        "<a class=\"{}\" href=\"#{}\"><b>{}</b><small>{}</small></a>",
        heat(cell),
        anchor(cell),
        words(cell),
        kinds.join(", ")
    )
}

/// The name of a cell's section, as an attribute holds it: letters, digits and dashes, pluses turned
/// to dots.
fn anchor(cell: &Cell) -> String {
    escaped(&format!("{}.{}", cell.client, cell.fault).replace('+', "."))
}

fn section(sweep: &Sweep, cell: &Cell) -> String {
    let rows: String = cell
        .fingerprints
        .iter()
        .map(|one| {
            let seed = one.smallest.seed;
            let command = sweep.replay(cell, seed);
            let confirmed = if one.smallest.confirmed_under_turmoil { "yes" } else { "no" };
            format!(
                "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{confirmed}</td><td><code>{} --format html</code></td></tr>",
                escaped(&one.id),
                one.kind,
                one.cause,
                one.runs,
                one.smallest.faults,
                escaped(&command)
            )
        })
        .collect();
    let table = match rows.is_empty() {
        true => "<p>No violation.</p>".to_owned(),
        false => format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" \
             aria-label=\"Anomalies\"><table><caption>Distinct anomalies</caption><thead><tr><th \
             scope=\"col\">fingerprint</th><th scope=\"col\">rule</th><th \
             scope=\"col\">cause</th><th scope=\"col\">runs</th><th scope=\"col\">faults at \
             least</th><th scope=\"col\">seen under turmoil</th><th scope=\"col\">its \
             page</th></tr></thead><tbody>{rows}</tbody></table></div>"
        ),
    };
    let minimal: String = cell
        .fingerprints
        .iter()
        .filter_map(|one| one.report.as_deref())
        .map(html_tables::minimal)
        .collect();
    format!(
        "<section class=\"cell\" id=\"{}\"><h2>{} under {}</h2><p>{} runs: {} valid, {} violated, \
         {} exercised nothing.</p>{table}{minimal}</section>",
        anchor(cell),
        escaped(&cell.client),
        escaped(&cell.fault),
        cell.runs,
        cell.valid,
        cell.violated,
        cell.unknown
    )
}
