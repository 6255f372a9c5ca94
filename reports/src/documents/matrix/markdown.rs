use super::{Agreement, CellVerdict, Matrix, MatrixCell, findings, literature};
use crate::show::format::exporters::markdown_cell::cell as escaped;
use crate::show::format::text::layout::percent;
use crate::summary::published::{counterexample, published};
use fencepost_faults::Seed;
use serde_json::Value;
use std::fmt::Write;

pub(super) fn markdown(matrix: &Matrix) -> String {
    let title = matrix.counts().map_or(String::new(), |kind| format!(": {}", escaped(&kind)));
    let broke = matrix.kind.map_or("a rule".to_owned(), |kind| format!("`{kind}`"));
    let mut page = format!(
        "# Every lock under every fault{title}\n\n{} {}, seeds {} in each cell. A number is the \
         share of runs that broke {broke}, among those that exercised the lock. A dot means that \
         no run broke {broke}, and a question mark means that no run exercised the lock. ",
        escaped(&matrix.tool.name),
        escaped(&matrix.tool.version),
        matrix.seeds
    );
    page.push_str(&match matrix.kind {
        None => "**Bold** contradicts the literature.\n\n".to_owned(),
        Some(kind) => format!("{}\n\n", escaped(kind.what())),
    });
    overview(matrix, &mut page);
    match matrix.kind {
        None => every_rule(matrix, &mut page),
        Some(_) => figures(matrix, &mut page),
    }
    page
}

fn every_rule(matrix: &Matrix, page: &mut String) {
    page.push_str("\n## Agreement with the literature\n\n| | cells |\n| --- | ---: |\n");
    for agreement in Agreement::ALL {
        let _ = writeln!(page, "| {} | {} |", agreement.words(), matrix.count(agreement));
    }
    page.push_str(
        "\n*not seen*: the literature predicts a violation, but none of these seeds shows it. \
         *silent*: the literature does not cover this lock under this fault. *certified*: \
         `explore` ran every plan of that size, in small runs ([certificates](explore.md)). Random \
         seeds sample all other plans.\n",
    );
    for client in matrix.clients() {
        one(matrix, client, page);
    }
}

fn figures(matrix: &Matrix, page: &mut String) {
    page.push_str(
        "\n## Cells that broke the rule\n\n| lock | fault | runs | rate, 95 % | first seed |\n\
         | --- | --- | ---: | --- | ---: |\n",
    );
    for cell in matrix.cells.iter().filter(|cell| cell.verdict == CellVerdict::Violated) {
        let first = cell.first_seed.values().next().map_or(String::new(), Seed::to_string);
        let _ = writeln!(
            page,
            "| {} | {} | {} of {} | {} | {first} |",
            linked(matrix, &cell.client),
            escaped(&cell.fault),
            cell.violated,
            cell.exercised,
            rate(cell),
        );
    }
}

fn overview(matrix: &Matrix, page: &mut String) {
    let faults = matrix.faults();
    let heads: Vec<String> = faults.iter().map(|fault| escaped(fault)).collect();
    let _ = writeln!(
        page,
        "| lock | {} |\n| --- |{}",
        heads.join(" | "),
        " ---: |".repeat(heads.len())
    );
    for client in matrix.clients() {
        let row: Vec<String> = faults
            .iter()
            .map(|fault| matrix.cell(client, fault).map_or(String::new(), short))
            .collect();
        let _ = writeln!(page, "| {} | {} |", linked(matrix, client), row.join(" | "));
    }
}

fn linked(matrix: &Matrix, client: &str) -> String {
    match matrix.kind {
        None => format!("[{}](#{})", escaped(client), anchor(client)),
        Some(_) => escaped(client),
    }
}

fn anchor(client: &str) -> String {
    client
        .to_lowercase()
        .chars()
        .filter(|letter| letter.is_alphanumeric() || *letter == '-')
        .collect()
}

fn short(cell: &MatrixCell) -> String {
    match (cell.verdict, cell.agreement) {
        (CellVerdict::Unknown, _) => "?".to_owned(),
        (CellVerdict::Quiet, _) => "·".to_owned(),
        (_, Agreement::Contradicts) => format!("**{}**", percent(cell.rate.point)),
        _ => percent(cell.rate.point),
    }
}

fn one(matrix: &Matrix, client: &str, page: &mut String) {
    let _ = writeln!(
        page,
        "\n## {}\n\n| fault | verdict | rate, 95 % | kinds, runs of each; or where faults began | \
         seeds to first | literature | |\n| --- | --- | --- | --- | ---: | --- | --- |",
        escaped(client)
    );
    for cell in matrix.cells.iter().filter(|cell| cell.client == client) {
        let known = cell.expected.as_ref();
        let known = known
            .map_or(String::new(), |known| format!("{} ({})", literature(known), known.source));
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} |",
            escaped(&cell.fault),
            cell.verdict.name(),
            rate(cell),
            found(cell, &matrix.config["scenario"]),
            cell.seeds_to_first.map_or(String::new(), |seeds| seeds.to_string()),
            escaped(&known),
            cell.agreement.words()
        );
    }
}

fn rate(cell: &MatrixCell) -> String {
    match (cell.verdict, cell.quiet_bound) {
        (CellVerdict::Unknown, _) => String::new(),
        (_, Some(bound)) => format!("below {} in {}", percent(bound), cell.exercised),
        _ => format!(
            "{} ({} to {})",
            percent(cell.rate.point),
            percent(cell.rate.low),
            percent(cell.rate.high)
        ),
    }
}

fn found(cell: &MatrixCell, scenario: &Value) -> String {
    let parts = [escaped(&findings(cell)), explored(cell, scenario)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Describes the cell's published explorations. Links are relative to `docs`, the page's folder.
fn explored(cell: &MatrixCell, scenario: &Value) -> String {
    if cell.verdict != CellVerdict::Quiet {
        return String::new();
    }
    if let Some(one) = counterexample(&cell.client, &cell.fault) {
        return format!("**one fault still breaks the lock**: `{}`", one.command());
    }
    let links = published(&cell.client, &cell.fault, scenario)
        .map(|one| format!("[{}]({})", one.bounds, one.file()))
        .collect::<Vec<_>>();
    match links[..] {
        [] => String::new(),
        _ => format!("certified: {}; random seeds sample all other plans", links.join(", ")),
    }
}
