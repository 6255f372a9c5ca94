use super::plot::plot;
use super::text::{both, release_times};
use super::{LoadCase, LoadReport};
use crate::show::format::html::page::{heads, page};
use maud::{Markup, PreEscaped, html};

pub(super) fn html(report: &LoadReport) -> String {
    let json = serde_json::to_string(report).unwrap_or_default();
    page(&format!("fencepost: load of {}", report.config.client), &body(report), &json)
}

fn body(report: &LoadReport) -> Markup {
    let (tool, config) = (&report.tool, &report.config);
    let (least, most) = config.latency_us;
    let messages = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let commands = if config.holder_commands == 1 { "command" } else { "commands" };
    html! {
        header.top {
            p.muted {
                (tool.name) " " (tool.version) " · seed " (maud::display(config.seed))
            }
            h1 { "Load of " (config.client) " on " (config.coordinator) }
            p.lead {
                (config.processes) " processes, " (config.requests) " requests. The server takes "
                (maud::display(config.service_time_us)) " for a command, a message takes "
                (messages) ". A holder works for " (maud::display(config.work_us)) " and sends "
                (config.holder_commands) " " (commands) "."
            }
        }
        main {
            div.scroll tabindex="0" role="group" aria-label="Commands over time" {
                (PreEscaped(plot(report)))
            }
            (cases(report))
        }
        footer {
            p { "The experiment is in this page as JSON, in the element " code { "#report" } "." }
        }
    }
}

fn cases(report: &LoadReport) -> Markup {
    let names = [
        "waiting", "served", "given up", "requests/s", "commands/request", "messages/request",
        "commands/s", "server busy", "acquire p50, p99", "hold p50, p99", "release p50, p99",
        "release, times one alone",
    ];
    html! {
        div.scroll tabindex="0" role="group" aria-label="Ways of waiting" {
            table {
                (heads(&names))
                tbody {
                    (row("one alone", &report.alone, report))
                    @for case in &report.cases { (row(&case.waiting, case, report)) }
                }
            }
        }
    }
}

fn row(name: &str, case: &LoadCase, report: &LoadReport) -> Markup {
    let latency = &case.latency_us;
    html! {
        tr {
            th scope="row" { (name) }
            td { (case.served) }
            td { (case.given_up) }
            td { (format!("{:.0}", case.requests_per_second)) }
            td { (format!("{:.1}", case.commands_per_request)) }
            td { (format!("{:.1}", case.messages_per_request)) }
            td { (format!("{:.0}", case.commands_per_second)) }
            td { (format!("{:.0} %", case.busy * 100.0)) }
            td { (both(latency.acquire)) }
            td { (both(latency.hold)) }
            td { (both(latency.release)) }
            td { (release_times(case, report.alone.latency_us.release)) }
        }
    }
}
