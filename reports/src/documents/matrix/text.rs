use super::{Agreement, CellVerdict, Matrix, MatrixCell, kinds, literature};
use crate::show::format::text::layout::percent;
use std::fmt::Write;

const WIDTH: usize = 7;

pub(super) fn text(matrix: &Matrix) -> String {
    let mut text = format!(
        "{} {}, matrix of seeds {}: {} among those exercised\n\n",
        matrix.tool.name,
        matrix.tool.version,
        matrix.seeds,
        matrix
            .counts()
            .map_or("violated runs".to_owned(), |kind| format!("runs that broke {kind}")),
    );
    let (clients, faults) = (matrix.clients(), matrix.faults());
    let first = clients.iter().map(|client| client.len()).max().unwrap_or(0);
    let heads: String = (1..=faults.len()).map(|number| format!("{number:>WIDTH$}")).collect();
    let _ = writeln!(text, "{:first$}{heads}", "");
    for client in clients {
        let row: String = faults
            .iter()
            .map(|fault| format!("{:>WIDTH$}", matrix.cell(client, fault).map_or("".into(), short)))
            .collect();
        let _ = writeln!(text, "{client:first$}{row}");
    }
    text.push('\n');
    for (number, fault) in faults.iter().enumerate() {
        let _ = writeln!(text, "{:>3} {fault}", number + 1);
    }
    if matrix.kind.is_some() {
        let _ = writeln!(text, "  . none broke it   ? not exercised");
        return text;
    }
    let _ = writeln!(text, "  . none violated   ? not exercised   ! contradicts the literature\n");
    for agreement in [Agreement::Contradicts, Agreement::More, Agreement::NotSeen] {
        for cell in matrix.cells.iter().filter(|cell| cell.agreement == agreement) {
            let _ = writeln!(text, "{}", describe(cell));
        }
    }
    let counts: Vec<String> = Agreement::ALL
        .iter()
        .map(|one| format!("{} {}", matrix.count(*one), one.words()))
        .collect();
    let _ = writeln!(text, "{} cells: {}", matrix.cells.len(), counts.join(", "));
    text
}

fn short(cell: &MatrixCell) -> String {
    let mark = if cell.agreement == Agreement::Contradicts { "!" } else { "" };
    match cell.verdict {
        CellVerdict::Unknown => "?".to_owned(),
        CellVerdict::Quiet => ".".to_owned(),
        CellVerdict::Violated => format!("{mark}{}", percent(cell.rate.point)),
    }
}

fn describe(cell: &MatrixCell) -> String {
    let found = match cell.verdict {
        CellVerdict::Violated => kinds(cell),
        CellVerdict::Quiet => format!("none of {}", cell.exercised),
        CellVerdict::Unknown => "not exercised".to_owned(),
    };
    let known = cell
        .expected
        .as_ref()
        .map_or(String::new(), |known| format!("{} ({})", literature(known), known.source));
    format!(
        "{}: {} under {}: {found}; known: {known}",
        cell.agreement.words(),
        cell.client,
        cell.fault
    )
}
