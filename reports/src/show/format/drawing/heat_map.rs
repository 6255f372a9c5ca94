//! Draws a sweep with locks as rows and faults as columns. The higher a cell's share of violated
//! runs, the redder the cell.

use super::canvas::{STYLE, escaped};
use crate::summary::sweep::{Cell, Rate, Sweep};
use std::io::{self, Write};

const LEFT: usize = 150;
const TOP: usize = 64;
const CELL_WIDTH: usize = 108;
const CELL_HEIGHT: usize = 46;

pub(crate) fn write(sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    let (rows, columns) = axes(sweep);
    let width = LEFT + columns.len() * CELL_WIDTH + 12;
    let height = TOP + rows.len() * CELL_HEIGHT + 12;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
         {height}\"><style>{}</style><rect class=\"paper\" width=\"{width}\" \
         height=\"{height}\"/><text class=\"title\" x=\"8\" y=\"24\">Seeds {}: runs \
         violated</text>",
        escaped(STYLE),
        sweep.seeds
    )?;
    for (column, fault) in columns.iter().enumerate() {
        let x = LEFT + column * CELL_WIDTH + CELL_WIDTH / 2;
        writeln!(
            out,
            "<text class=\"name\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            TOP - 8,
            escaped(fault)
        )?;
    }
    for (row, client) in rows.iter().enumerate() {
        let y = TOP + row * CELL_HEIGHT;
        writeln!(
            out,
            "<text class=\"name\" x=\"8\" y=\"{}\">{}</text>",
            y + CELL_HEIGHT / 2 + 4,
            escaped(client)
        )?;
        for (column, fault) in columns.iter().enumerate() {
            let cell =
                sweep.cells.iter().find(|cell| cell.client == *client && cell.fault == *fault);
            write_cell(cell, LEFT + column * CELL_WIDTH, y, out)?;
        }
    }
    writeln!(out, "</svg>")
}

pub(crate) fn axes(sweep: &Sweep) -> (Vec<&str>, Vec<&str>) {
    let (mut rows, mut columns): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for cell in &sweep.cells {
        if !rows.contains(&cell.client.as_str()) {
            rows.push(&cell.client);
        }
        if !columns.contains(&cell.fault.as_str()) {
            columns.push(&cell.fault);
        }
    }
    (rows, columns)
}

/// A cell without violations has too few runs if the upper bound of its violation rate exceeds this
/// value.
const QUIET_RATE_MAX: f64 = 0.05;

pub(crate) fn heat(violated: u64, exercised: u64) -> String {
    match (violated, exercised) {
        (_, 0) => "unknown".to_owned(),
        (0, _) if Rate::of(0, exercised).high > QUIET_RATE_MAX => "few".to_owned(),
        (0, _) => "none".to_owned(),
        (violated, exercised) => format!("heat-{}", (violated * 5).div_ceil(exercised).clamp(1, 5)),
    }
}

fn write_cell(cell: Option<&Cell>, x: usize, y: usize, out: &mut dyn Write) -> io::Result<()> {
    let Some(cell) = cell else { return Ok(()) };
    let exercised = cell.valid + cell.violated;
    let opacity = if exercised == 0 { 0 } else { (cell.violated * 90).div_ceil(exercised) };
    let (width, height) = (CELL_WIDTH - 4, CELL_HEIGHT - 4);
    writeln!(
        out,
        "<g><rect class=\"lane\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/><rect \
         x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"#c81e1e\" \
         fill-opacity=\"0.{opacity:02}\"/><text class=\"name\" x=\"{}\" y=\"{}\" \
         text-anchor=\"middle\">{}</text></g>",
        x + width / 2,
        y + height / 2 + 4,
        escaped(&words(cell))
    )
}

pub(crate) fn words(cell: &Cell) -> String {
    match cell.valid + cell.violated {
        0 => "unknown".to_owned(),
        exercised => format!("{} of {exercised}", cell.violated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_in_ten_runs_is_not_quiet_in_ten_thousand() {
        let of = [(0, 0), (0, 10), (0, 10_000), (1, 100), (20, 100), (21, 100), (100, 100)];
        let expected = ["unknown", "few", "none", "heat-1", "heat-1", "heat-2", "heat-5"];
        assert_eq!(of.map(|(violated, exercised)| heat(violated, exercised)), expected);
    }
}
