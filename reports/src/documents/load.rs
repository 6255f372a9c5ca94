//! The `fencepost.load` format: server load and latencies for several retry delays.

mod html;
mod plot;
mod text;

use crate::show::view::View;
use crate::summary::report::{Latencies, Tool};
use fencepost_faults::{Micros, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const FORMAT: &str = "fencepost.load";
pub const VERSION: u32 = 2;
pub static VIEWS: &[View<LoadReport>] = &[
    View::new("text", text::text),
    View::JSON,
    View::new("svg", plot::plot),
    View::new("html", html::html),
];

/// Server load and latencies for several retry delays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LoadReport {
    /// Name of the format, always `fencepost.load`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format, always 2.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// Name and version of the program that wrote the document.
    pub tool: Tool,
    /// Settings that all cases share.
    pub config: LoadConfig,
    /// Baseline for comparison: one process, which never waits for another process.
    pub alone: LoadCase,
    /// Results: one case for each `--waiting` value, in command-line order.
    pub cases: Vec<LoadCase>,
}

/// Settings that all cases share.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LoadConfig {
    /// Name of the lock, as in `--client`.
    pub client: String,
    /// Coordinator of the lock, with a single server.
    pub coordinator: String,
    /// Seed of all random values.
    pub seed: Seed,
    /// Number of processes that compete for the lock.
    pub processes: u16,
    /// Total number of lock requests. A process that finishes a request takes the next one.
    pub requests: u32,
    /// Time in microseconds that the server takes for a command. It executes one at a time.
    pub service_time_us: Micros,
    /// Minimum and maximum latency of a message, in microseconds.
    pub latency_us: (Micros, Micros),
    /// Time in microseconds that a holder works after its last command.
    pub work_us: Micros,
    /// Number of commands that a holder sends to the lock server, one after another.
    pub holder_commands: u32,
    /// Time in microseconds after which a process gives up a request.
    pub patience_us: Micros,
}

/// Load and latencies for one way of waiting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LoadCase {
    /// Way of waiting between attempts, as in `--waiting`.
    pub waiting: String,
    /// Number of requests that acquired and released the lock.
    pub served: u32,
    /// Number of requests that a process gave up after `patience_us`.
    pub given_up: u32,
    /// Virtual time in microseconds until the server executed its last command.
    pub elapsed_us: Micros,
    /// Number of commands that the server executed.
    pub commands: u64,
    /// Number of commands per served request.
    pub commands_per_request: f64,
    /// Number of messages to and from the server.
    pub messages: u64,
    /// Number of messages per served request.
    pub messages_per_request: f64,
    /// Number of served requests per second of virtual time.
    pub requests_per_second: f64,
    /// Number of commands per second of virtual time.
    pub commands_per_second: f64,
    /// Share of the elapsed time in which the server was busy, from 0 to 1.
    pub busy: f64,
    /// Durations of acquires, critical sections and releases, in microseconds.
    pub latency_us: Latencies,
    /// Number of commands that the server executed in each twentieth of the elapsed time.
    pub commands_over_time: Vec<u64>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::summary::report::Latency;

    fn case(waiting: &str, release: u64) -> LoadCase {
        let latency = |at| Some(Latency { p50: at, p99: at, max: at });
        LoadCase {
            waiting: waiting.to_owned(),
            served: 1_000,
            given_up: 0,
            elapsed_us: Micros::from_secs(20),
            commands: 200_000,
            commands_per_request: 200.0,
            messages: 400_000,
            messages_per_request: 400.0,
            requests_per_second: 50.0,
            commands_per_second: 10_000.0,
            busy: 0.98,
            latency_us: Latencies {
                acquire: latency(2_000_000),
                hold: latency(10_000),
                release: latency(release),
            },
            commands_over_time: vec![10_000; 20],
        }
    }

    pub(crate) fn report() -> LoadReport {
        LoadReport {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: Tool { name: "fencepost".to_owned(), version: "0".to_owned() },
            config: LoadConfig {
                client: "single-node".to_owned(),
                coordinator: "redis".to_owned(),
                seed: Seed(0),
                processes: 100,
                requests: 1_000,
                service_time_us: Micros(98),
                latency_us: (Micros(50), Micros(50)),
                work_us: Micros::ZERO,
                holder_commands: 1,
                patience_us: Micros::from_secs(30),
            },
            alone: case("none", 200),
            cases: vec![case("none", 9_800), case("fixed:20ms", 4_900)],
        }
    }

    #[test]
    fn the_text_tells_how_much_longer_a_release_takes_than_alone() {
        let text = text::text(&report());
        assert!(text.contains("49.0 x") && text.contains("24.5 x"), "{text}");
    }

    #[test]
    fn the_plot_has_a_line_for_each_way_of_waiting() {
        let svg = plot::plot(&report());
        let document = roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(document.descendants().filter(|node| node.has_tag_name("polyline")).count(), 2);
        assert!(svg.contains("fixed:20ms"));
    }
}
