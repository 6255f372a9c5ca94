use super::{BoundaryReport, Probe, Worse};
use crate::show::format::text::layout::percent;

pub(super) fn text(report: &BoundaryReport) -> String {
    let quantity = &report.quantity;
    let (worse, from_on) = match quantity.worse {
        Worse::More => ("greater", "begin"),
        Worse::Less => ("smaller", "end"),
    };
    let kind = report.kind.map_or("any violation".to_owned(), |kind| kind.to_string());
    let name = &quantity.name;
    let mut text = format!(
        "{} {}, boundary of {name}: {} under {}, seeds {} at each value, {kind}\n",
        report.tool.name, report.tool.version, report.client, report.fault, report.seeds
    );
    text.push_str(&format!(
        "assumption: a {worse} {name} is worse, so violations {from_on} at a single threshold\n\n"
    ));
    let width = name.len().max(10);
    text.push_str(&format!(
        "{name:>width$}  violated   of     rate  95 % interval     first seed\n"
    ));
    for probe in &report.probes {
        text.push_str(&line(&quantity.show(probe.value), probe, width));
    }
    text.push('\n');
    for bound in &report.bounds {
        text.push_str(&format!("bound {}: {}\n", quantity.show(bound.value), bound.rule));
    }
    text.push_str(&format!("{}\n", report.explanation));
    text
}

fn line(value: &str, probe: &Probe, width: usize) -> String {
    let interval = format!("{} to {}", percent(probe.rate.low), percent(probe.rate.high));
    let first = probe.first_seed.map_or("-".to_owned(), |seed| seed.to_string());
    format!(
        "{value:>width$}  {:>8} {:>4}  {:>7}  {interval:16}  {first}\n",
        probe.violated,
        probe.exercised,
        percent(probe.rate.point)
    )
}
