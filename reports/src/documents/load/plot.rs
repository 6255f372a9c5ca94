use super::LoadReport;
use crate::show::format::drawing::plot::{Axis, Plot, Point, Series, Span};

pub(super) fn plot(report: &LoadReport) -> String {
    let config = &report.config;
    let series = report.cases.iter().map(|case| {
        let seconds = case.elapsed_us.0 as f64 / 1e6 / case.commands_over_time.len().max(1) as f64;
        let point = |(place, commands): (usize, &u64)| Point {
            x: (place as f64 + 0.5) * seconds,
            y: *commands as f64 / seconds,
            between: None,
        };
        Series {
            name: case.waiting.clone(),
            points: case.commands_over_time.iter().enumerate().map(point).collect(),
            is_joined: true,
        }
    });
    Plot {
        title: format!(
            "{}: {} requests of {} processes",
            config.client, config.requests, config.processes
        ),
        subtitle: format!(
            "Commands that the server carries out, {} each, by how processes wait",
            config.service_time_us
        ),
        x: Axis { name: "virtual time".to_owned(), show: |at| format!("{at:.1} s") },
        y: Axis { name: "commands/s".to_owned(), show: |rate| format!("{rate:.0}") },
        span: Span::Decades,
        series: series.collect(),
        marks: Vec::new(),
        bands: Vec::new(),
    }
    .svg()
}
