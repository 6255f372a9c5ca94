use super::canvas::{Extent, STYLE, escaped};
use super::glyphs::LEGEND;
use super::space_time::{Drawing, height};
use crate::show::format::{Format, Needs, Page, Sweeps};
use crate::show::picture::Scene;
use crate::show::view::View;
use crate::summary::report::{Report, RunReport};
use crate::summary::sweep::Sweep;
use std::io::{self, Write};

const WIDTH: i32 = 1_200;
const TITLE_HEIGHT: i32 = 72;
const LEGEND_HEIGHT: i32 = 52;
/// Maximum number of drawn messages. More would blur into a grey area.
pub(crate) const MESSAGES_MAX: usize = 1_500;

pub(crate) const FORMAT: Format = Format {
    about: "a space-time diagram of each run; for a sweep, the matrix as a heat map",
    needs: Needs::Wire,
    runs: View::written("svg", write_report),
    sweeps: Some(Sweeps { view: SWEEPS, has_baselines: false }),
};

const SWEEPS: View<Sweep> = View::written("svg", write_sweep);

fn write_report(_: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let scenes: Vec<Option<Scene>> = report.runs.iter().map(Scene::new).collect();
    let heights: Vec<i32> =
        scenes.iter().map(|scene| TITLE_HEIGHT + scene.as_ref().map_or(0, height)).collect();
    let total = heights.iter().sum::<i32>() + LEGEND_HEIGHT;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\" \
         width=\"{WIDTH}\" height=\"{total}\" viewBox=\"0 0 {WIDTH} \
         {total}\"><style>{}</style><rect class=\"paper\" width=\"{WIDTH}\" \
         height=\"{total}\"/>",
        escaped(STYLE)
    )?;
    let mut y = 0;
    for (index, (run, scene)) in report.runs.iter().zip(&scenes).enumerate() {
        writeln!(
            out,
            "<g transform=\"translate(0 {y})\">{}</g>",
            one(report, run, scene.as_ref(), index)
        )?;
        y += heights[index];
    }
    writeln!(out, "{}</svg>", legend(y))
}

fn write_sweep(_: Page, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    super::heat_map::write(sweep, out)
}

pub(crate) fn prefix(index: usize) -> String {
    if index == 0 { String::new() } else { format!("r{}-", index + 1) }
}

fn one(report: &Report, run: &RunReport, scene: Option<&Scene>, index: usize) -> String {
    let verdict = run.verdict.name();
    let title = format!(
        "{} under {}, seed {}: {}",
        run.client,
        run.fault,
        report.seed,
        verdict.to_uppercase()
    );
    let about = match run.violations.first() {
        Some(first) => first.violation.summary.clone(),
        None => format!("{} acquisitions, no violation", run.acquisitions),
    };
    let picture = scene.map_or(String::new(), |scene| {
        let body = Drawing {
            run,
            scene,
            prefix: &prefix(index),
            focus: 0,
            width: WIDTH,
            extent: Extent::Window,
            messages_max: MESSAGES_MAX,
        }
        .body();
        format!("<g transform=\"translate(0 {TITLE_HEIGHT})\">{body}</g>")
    });
    let subtitle: Vec<String> = lines(&about)
        .iter()
        .zip([44, 61])
        .map(|(line, y)| {
            format!("<text class=\"subtitle\" x=\"8\" y=\"{y}\">{}</text>", escaped(line))
        })
        .collect();
    format!(
        "<text class=\"title {verdict}\" x=\"8\" y=\"24\">{}</text>{}{picture}",
        escaped(&title),
        subtitle.concat()
    )
}

fn lines(text: &str) -> Vec<String> {
    const ROOM: usize = 165;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let full =
            lines.last().is_some_and(|line| line.chars().count() + word.chars().count() >= ROOM);
        if full && lines.len() == 2 {
            lines[1].push('…');
            return lines;
        }
        if full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(word);
            line.push(' ');
        }
    }
    lines
}

fn legend(top: i32) -> String {
    let items: Vec<String> = LEGEND
        .iter()
        .enumerate()
        .map(|(place, (drawing, words))| {
            let (column, row) = (place % 7, place / 7);
            let (x, y) = (12 + column * 168, row * 22 + 6);
            format!(
                "<g transform=\"translate({x} {y})\">{drawing}<text x=\"36\" \
             y=\"12\">{words}</text></g>"
            )
        })
        .collect();
    format!("<g class=\"legend\" transform=\"translate(0 {top})\">{}</g>", items.concat())
}
