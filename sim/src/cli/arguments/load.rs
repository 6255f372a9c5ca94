use super::values::seed;
use crate::setup::span::{Span, SpanRange};
use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct LoadArguments {
    /// Lock to measure, which must run on a single server (see `fencepost list clients`).
    #[arg(long, value_name = "C", default_value = "single-node")]
    pub(crate) client: String,
    /// Retry delays to compare: none, fixed:D, random:A..B, exponential:A..B, or own (the lock's
    /// own delay).
    #[arg(
        long,
        value_name = "W[,W]",
        value_delimiter = ',',
        default_value = "none,fixed:10ms,fixed:20ms,random:10ms..30ms,exponential:10ms..320ms"
    )]
    pub(crate) waiting: Vec<String>,
    /// Number of competing processes, 1 to 1000.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        value_parser = clap::value_parser!(u16).range(1..=1000),
    )]
    pub(crate) processes: u16,
    /// Total number of lock requests, across all processes.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..=100_000),
    )]
    pub(crate) requests: u32,
    /// Time that the server needs for one command.
    #[arg(long, value_name = "D", default_value = "98us")]
    pub(crate) service_time: Span,
    /// Latency of a message in one direction.
    #[arg(long, value_name = "A..B", default_value = "50us")]
    pub(crate) latency: SpanRange,
    /// Time that a holder works after its last command.
    #[arg(long, value_name = "D", default_value = "0us")]
    pub(crate) work: Span,
    /// Number of commands that a holder sends to the lock server before the release.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(0..=1000),
    )]
    pub(crate) holder_commands: u32,
    /// Time after which a process gives up on a lock request.
    #[arg(long, value_name = "D", default_value = "60s")]
    pub(crate) patience: Span,
    /// Seed for all random values, in decimal or hexadecimal (0x...).
    #[arg(long, value_name = "N", default_value = "0", value_parser = seed)]
    pub(crate) seed: u64,
    /// Output format: text, json, svg or html.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
}
