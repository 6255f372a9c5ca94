use super::{LoadCase, LoadReport};
use crate::summary::report::Latency;
use fencepost_faults::Micros;
use std::fmt::Write;

pub(super) fn text(report: &LoadReport) -> String {
    let config = &report.config;
    let mut text = format!(
        "{} {}, load of {} on {}: {} processes, {} requests, service time {}, latency {} to {}, {} \
         of work and {} commands while holding the lock, seed {}\n\n",
        report.tool.name,
        report.tool.version,
        config.client,
        config.coordinator,
        config.processes,
        config.requests,
        config.service_time_us,
        config.latency_us.0,
        config.latency_us.1,
        config.work_us,
        config.holder_commands,
        config.seed
    );
    let width = report
        .cases
        .iter()
        .map(|case| case.waiting.len())
        .chain(["one alone".len()])
        .max()
        .unwrap_or(0);
    let _ = writeln!(
        text,
        "{:width$}  served  req/s  commands/req  messages/req  commands/s  busy  {:>19}  {:>19}  \
         {:>19}  release",
        "waiting", "acquire p50, p99", "hold p50, p99", "release p50, p99"
    );
    let alone = report.alone.latency_us.release;
    text.push_str(&line("one alone", &report.alone, alone, width));
    for case in &report.cases {
        text.push_str(&line(&case.waiting, case, alone, width));
    }
    text
}

fn line(name: &str, case: &LoadCase, alone: Option<Latency>, width: usize) -> String {
    let times = release_times(case, alone);
    let latency = &case.latency_us;
    format!(
        "{name:width$}  {:>6}  {:>5.0}  {:>12.1}  {:>12.1}  {:>10.0}  {:>3.0}%  {:>19}  {:>19}  \
         {:>19}  {times}{}\n",
        case.served,
        case.requests_per_second,
        case.commands_per_request,
        case.messages_per_request,
        case.commands_per_second,
        case.busy * 100.0,
        both(latency.acquire),
        both(latency.hold),
        both(latency.release),
        if case.given_up > 0 { format!("  {} given up", case.given_up) } else { String::new() }
    )
}

pub(super) fn release_times(case: &LoadCase, alone: Option<Latency>) -> String {
    match (case.latency_us.release, alone) {
        (Some(release), Some(alone)) => {
            format!("{:.1} x", release.p50 as f64 / alone.p50.max(1) as f64)
        }
        _ => "-".to_owned(),
    }
}

pub(super) fn both(latency: Option<Latency>) -> String {
    let ms = |us: u64| format!("{:.1}ms", Micros(us).as_micros() as f64 / 1_000.0);
    latency.map_or("-".to_owned(), |latency| format!("{}, {}", ms(latency.p50), ms(latency.p99)))
}
