use super::{BoundaryReport, Unit};
use crate::show::format::drawing::plot::{Axis, Mark, Plot, Point, Series, Span};

pub(super) fn plot(report: &BoundaryReport) -> String {
    let quantity = &report.quantity;
    let points = report.probes.iter().map(|probe| Point {
        x: probe.value as f64,
        y: probe.rate.point,
        between: Some((probe.rate.low, probe.rate.high)),
    });
    let mut marks: Vec<Mark> = report
        .bounds
        .iter()
        .map(|bound| Mark {
            x: bound.value as f64,
            words: format!("bound {}", quantity.show(bound.value)),
        })
        .collect();
    if let Some(found) = report.found {
        marks.push(Mark {
            x: found.violated as f64,
            words: format!("seen {}", quantity.show(found.violated)),
        });
    }
    let show: fn(f64) -> String = match quantity.unit {
        Unit::Us => |value| fencepost_faults::Micros(value as u64).to_string(),
        Unit::Ppm => |value| format!("{value}ppm"),
    };
    Plot {
        title: format!("{} under {}: {}", report.client, report.fault, quantity.name),
        subtitle: format!(
            "Violated runs among those exercised, seeds {}, with 95 % intervals",
            report.seeds
        ),
        x: Axis { name: quantity.name.clone(), show },
        y: Axis { name: "violated".to_owned(), show: |share| format!("{:.0} %", share * 100.0) },
        span: Span::Shares,
        series: vec![Series { name: String::new(), points: points.collect(), is_joined: true }],
        marks,
        bands: Vec::new(),
    }
    .svg()
}
