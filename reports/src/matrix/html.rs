//! The matrix as a self-contained page. Must never know a browser.

use super::{CellVerdict, Matrix, MatrixCell, kinds, literature};
use crate::format::canvas::escaped;
use crate::format::html::page;
use crate::format::plot::percent;
use std::fmt::Write;

/// The page.
pub fn html(matrix: &Matrix) -> String {
    let (tool, seeds) = (&matrix.tool, matrix.seeds);
    let mut body = format!(
        "<header class=\"top\"><p class=\"muted\">{} {} · seeds {seeds}</p><h1>Every lock under \
         every fault</h1><p class=\"lead\">The share of runs that broke a rule, among those that \
         exercised the lock. Below, each lock with what the literature says.</p></header><main>{}",
        escaped(&tool.name),
        escaped(&tool.version),
        overview(matrix)
    );
    for client in matrix.clients() {
        body.push_str(&one(matrix, client));
    }
    body.push_str(
        "</main><footer><p>The matrix is in this page as JSON, in the element \
         <code>#report</code>.</p></footer>",
    );
    page("fencepost: the matrix", &body, &serde_json::to_string(matrix).unwrap_or_default())
}

fn overview(matrix: &Matrix) -> String {
    let faults = matrix.faults();
    let heads: String =
        faults.iter().map(|fault| format!("<th scope=\"col\">{}</th>", escaped(fault))).collect();
    let row = |client: &&str| {
        let cells: String = faults
            .iter()
            .map(|fault| matrix.cell(client, fault).map_or("<td></td>".into(), short))
            .collect();
        format!("<tr><th scope=\"row\"><a href=\"#{0}\">{0}</a></th>{cells}</tr>", escaped(client))
    };
    let rows: String = matrix.clients().iter().map(row).collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Matrix\"><table \
         class=\"matrix\"><caption>Runs \
         violated</caption><thead><tr><td></td>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

fn short(cell: &MatrixCell) -> String {
    let (class, words) = match cell.verdict {
        CellVerdict::Unknown => ("unknown", "not exercised".to_owned()),
        CellVerdict::Quiet => ("valid", "none".to_owned()),
        CellVerdict::Violated => ("violated", percent(cell.rate.point)),
    };
    format!("<td class=\"{class}\" title=\"{}\">{words}</td>", escaped(cell.agreement.words()))
}

fn one(matrix: &Matrix, client: &str) -> String {
    let mut rows = String::new();
    for cell in matrix.cells.iter().filter(|cell| cell.client == client) {
        let known = cell.expected.as_ref();
        let known = known.map_or(String::new(), |known| {
            format!("{} <i>{}</i>", escaped(&literature(known)), escaped(&known.source))
        });
        let rate = format!("{} to {}", percent(cell.rate.low), percent(cell.rate.high));
        let first = cell.seeds_to_first.map_or(String::new(), |seeds| seeds.to_string());
        let _ = write!(
            rows,
            "<tr><th scope=\"row\">{}</th>{}<td>{} of \
             {}</td><td>{rate}</td><td>{}</td><td>{first}</td><td>{known}</td><td>{}</td></tr>",
            escaped(&cell.fault),
            short(cell),
            cell.violated,
            cell.exercised,
            escaped(&kinds(cell)),
            cell.agreement.words()
        );
    }
    let heads = ["fault", "violated", "runs", "95 %", "kinds", "seeds to first", "literature", ""];
    let heads: String = heads.iter().map(|head| format!("<th scope=\"col\">{head}</th>")).collect();
    format!(
        "<section class=\"cell\" id=\"{0}\"><h2>{0}</h2><div \
         class=\"scroll\"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div></section>",
        escaped(client)
    )
}
