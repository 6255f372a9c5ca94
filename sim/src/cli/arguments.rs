//! The arguments for clap.

mod serve;
mod shared;
mod studies;
mod values;

pub(crate) use serve::{ServeArguments, ServedClock, ServedVersion};
pub(crate) use shared::{JobsArgument, QuietArgument, VerboseArgument};
pub(crate) use studies::{
    BoundaryArguments, CompareArguments, DocsArguments, ExploreArguments, GalleryArguments,
    MatrixArguments, RealityArguments,
};

use super::choice::choice;
use crate::engine::Engine;
use crate::hosts::programs::ProgramDeployment;
use crate::setup::scenario::{Hold, Persistence, Strategy};
use crate::setup::span::{Span, SpanRange};
use clap::builder::ArgPredicate;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fencepost_reports::summary::sweep::VIOLATIONS_MAX;
use fencepost_reports::{StorageRule, Workload};
use std::path::PathBuf;
use values::{memory, seed, seed_range, shard};

/// Runs distributed Redis locks in a deterministic simulation under injected faults, finds every
/// violation of mutual exclusion, explains it, and replays it from one seed.
#[derive(Parser, Debug)]
#[command(
    name = "fencepost",
    version,
    max_term_width = 110,
    args_conflicts_with_subcommands = true
)]
#[command(
    after_help = "Exit status: 0 no violation, 1 violation, 2 usage or internal error, 3 nothing \
     was exercised.\n\
    Try: fencepost --seed 7 --fault failover"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run one seed and report what happened (the default).
    Run(RunArguments),
    /// Run many seeds in parallel and add them up.
    Sweep(SweepArguments),
    /// Run exactly the plans of a report again, under turmoil; the histories must be the same.
    Replay(ReplayArguments),
    /// Make the plans of a report minimal that was made with --no-shrink, and explain them.
    Shrink(ShrinkArguments),
    /// Judge a recorded history, or those in a report, again.
    Check(FileArguments),
    /// Add up the sweep summaries or the explorations of shards; their order does not matter.
    Merge(MergeArguments),
    /// Find the threshold of one number at which a lock breaks.
    Boundary(BoundaryArguments),
    /// Run every plan of a stated size: ends with the smallest counterexample (exit status 1), or
    /// with a certificate of what was run (exit status 0).
    Explore(ExploreArguments),
    /// Every lock under every fault, beside what the literature says. Exit status 1 if they
    /// contradict each other.
    Matrix(MatrixArguments),
    /// Put two locks, or two sweeps, side by side: which breaks more often, and on what.
    Compare(CompareArguments),
    /// Play the minimal plan of a violation against the real server, too: is it the same there?
    /// Exit status 1 if not.
    Reality(RealityArguments),
    /// Write the gallery of anomalies: a page for each, from pinned seeds.
    Gallery(GalleryArguments),
    /// Write the documentation as a site that works from a folder, with a search. Exit status 2 if
    /// a link leads nowhere.
    Docs(DocsArguments),
    /// Measure what waiting for a lock costs its server and those who wait.
    Load(LoadArguments),
    /// Write a file to start from.
    #[command(subcommand)]
    New(New),
    /// Name what there is to choose from, with a line each.
    List(ListArguments),
    /// Tell what a rule, a cause or a family of faults means, and where to read on.
    Explain(ExplainArguments),
    /// Serve the fake Redis, or another coordinator, on real TCP, for tests, until SIGINT or
    /// SIGTERM.
    Serve(ServeArguments),
    /// Print the JSON Schema of a published format.
    Schema(SchemaArguments),
    /// Print a completion script for a shell.
    Completions {
        /// Which shell.
        shell: Shell,
    },
}

/// What to start.
#[derive(Subcommand, Debug)]
pub(crate) enum New {
    /// Write NAME.lua, a lock to try with --lock.
    Lock(NewArguments),
}

#[derive(Args, Debug)]
pub(crate) struct NewArguments {
    /// The name of the lock.
    pub(crate) name: String,
    /// redis, redis-masters, memcached, postgresql, mysql or zookeeper.
    #[arg(long, value_name = "K", default_value = "redis")]
    pub(crate) on: String,
}

#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    /// The seed that everything is drawn from: a u64, decimal or 0x.
    #[arg(long, value_name = "N", default_value = "0", value_parser = seed)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    /// Put the whole history into the JSON report.
    #[arg(long)]
    pub(crate) with_history: bool,
    #[command(flatten)]
    pub(crate) verbose: VerboseArgument,
}

#[derive(Args, Debug)]
pub(crate) struct SweepArguments {
    /// The seeds to run, the last excluded.
    #[arg(long, value_name = "A..B", value_parser = seed_range)]
    pub(crate) seeds: (u64, u64),
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
    /// Run only slice m of n, 1 <= m <= n. Also read from JOB_COMPLETION_INDEX + JOB_COMPLETIONS,
    /// SLURM_ARRAY_TASK_ID + SLURM_ARRAY_TASK_COUNT, and CI_NODE_INDEX + CI_NODE_TOTAL.
    #[arg(long, value_name = "M/N", value_parser = shard)]
    pub(crate) shard: Option<(u32, u32)>,
    /// Stop at the first violation.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// How many violations to keep per cell, the smallest of each anomaly first.
    #[arg(long, value_name = "K", default_value_t = VIOLATIONS_MAX)]
    pub(crate) max_violations: u64,
    /// Go on where the checkpoint is; from the start if there is none.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Where to write the checkpoint [default: DIR/sweep-M-of-N.checkpoint, if --out DIR is given].
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Stop after this much real time.
    #[arg(long, value_name = "T")]
    pub(crate) time_budget: Option<Span>,
    /// Stop when this process holds more memory, like 512mb or 4gb: what is done by then is added
    /// up and kept, and the exit status is 2. Linux only.
    #[arg(long, value_name = "BYTES", value_parser = memory)]
    pub(crate) max_memory: Option<u64>,
    /// How much real time passes between two checkpoints at least: what a killed sweep has to do
    /// again [default: 1s].
    #[arg(long, value_name = "T")]
    pub(crate) checkpoint_every: Option<Span>,
    /// The JSON of an earlier sweep: say what is new since, what is gone, and which rates changed.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) quiet: QuietArgument,
}

#[derive(Args, Debug)]
pub(crate) struct LoadArguments {
    /// The lock: any that can do with one server. See `fencepost list clients`.
    #[arg(long, value_name = "C", default_value = "single-node")]
    pub(crate) client: String,
    /// How a process waits between two attempts: none, fixed:D, random:A..B, exponential:A..B, or
    /// own, which leaves it to the lock.
    #[arg(
        long,
        value_name = "W[,W]",
        value_delimiter = ',',
        default_value = "none,fixed:10ms,fixed:20ms,random:10ms..30ms,exponential:10ms..320ms"
    )]
    pub(crate) waiting: Vec<String>,
    /// How many processes ask at once.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        value_parser = clap::value_parser!(u16).range(1..=1000),
    )]
    pub(crate) processes: u16,
    /// How many requests there are in all.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..=100_000),
    )]
    pub(crate) requests: u32,
    /// How long the server takes for one command.
    #[arg(long, value_name = "D", default_value = "98us")]
    pub(crate) service_time: Span,
    /// How long a message takes.
    #[arg(long, value_name = "A..B", default_value = "50us")]
    pub(crate) latency: SpanRange,
    /// How long a holder works besides its commands.
    #[arg(long, value_name = "D", default_value = "0us")]
    pub(crate) work: Span,
    /// How many commands a holder sends to the same server.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(0..=1000),
    )]
    pub(crate) holder_commands: u32,
    /// How long a process tries before it gives a request up.
    #[arg(long, value_name = "D", default_value = "60s")]
    pub(crate) patience: Span,
    /// The seed that everything is drawn from.
    #[arg(long, value_name = "N", default_value = "0", value_parser = seed)]
    pub(crate) seed: u64,
    /// text, json or svg.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
}

/// What run and sweep have in common.
#[derive(Args, Debug)]
pub(crate) struct CommonArguments {
    /// Families of faults: a comma separates runs, a plus combines families in one plan. See
    /// `fencepost list faults`.
    #[arg(long, value_name = "F[,F]", default_value = "none", value_delimiter = ',')]
    pub(crate) fault: Vec<String>,
    /// Locks, or `all`. With --coordinator, `all` are those on it, and the default. See `fencepost
    /// list clients`.
    #[arg(
        long,
        value_name = "C[,C]",
        default_value = "single-node,redlock,fencing",
        default_value_ifs([
            ("program", ArgPredicate::IsPresent, None),
            ("lock", ArgPredicate::IsPresent, None),
            ("coordinator", ArgPredicate::IsPresent, Some("all")),
        ]),
        value_delimiter = ','
    )]
    pub(crate) client: Vec<String>,
    /// Only locks on this coordinator. See `fencepost list coordinators`.
    #[arg(long, value_name = "K")]
    pub(crate) coordinator: Option<String>,
    #[command(flatten)]
    pub(crate) locks: LockArguments,
    #[command(flatten)]
    pub(crate) programs: ProgramArguments,
    /// What keeps the lock: fake servers, the real redis-server that is installed, or the one at
    /// redis=PATH. See docs/real-servers.md.
    #[arg(long, value_name = "S", default_value = "fake")]
    pub(crate) servers: String,
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
    /// Which engine runs it [default: turmoil for run, fast for sweep].
    #[arg(long, value_name = "E")]
    pub(crate) engine: Option<Engine>,
    /// Do not look for the minimal plan of each violation, nor for causes and remedies.
    #[arg(long)]
    pub(crate) no_shrink: bool,
    /// How to print the result. See `fencepost list formats`.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
    /// Write one report file per violation into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The verdicts that must come out, as TOML: lock x fault -> "safe" or "violates", and which
    /// kinds. Exit status 0 exactly if they do.
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<PathBuf>,
}

/// Locks that are written in Lua.
#[derive(Args, Debug)]
pub(crate) struct LockArguments {
    /// A lock written in Lua; repeat the option for one row per lock. Without --client only these
    /// run. See docs/lock-in-lua.md.
    #[arg(long, value_name = "[NAME=]FILE")]
    pub(crate) lock: Vec<String>,
}

/// A program of the user's own as the lock under test.
#[derive(Args, Debug)]
pub(crate) struct ProgramArguments {
    /// A program that takes the lock, as CMD or NAME=CMD; several: several rows. Then --client is
    /// only used if it is given. See docs/own-programs.md.
    #[arg(long, value_name = "[NAME=]CMD")]
    pub(crate) program: Vec<String>,
    /// The servers that programs run against.
    #[arg(long = "deployment", value_name = "D", default_value = "single", requires = "program")]
    pub(crate) program_deployment: ProgramDeployment,
    /// The key of the programs' lock at the servers [default: lock:orders]. A pattern with a `*`
    /// stands for a lock per job, tick or user: each key is judged by itself.
    #[arg(long, value_name = "KEY", requires = "program")]
    pub(crate) lock_key: Option<String>,
    /// A variable of the programs' environment.
    #[arg(long, value_name = "NAME=VALUE", requires = "program")]
    pub(crate) env: Vec<String>,
    /// The folder in which programs start [default: this one].
    #[arg(long, value_name = "DIR", requires = "program")]
    pub(crate) cwd: Option<PathBuf>,
}

/// What changes the scenario.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ScenarioArguments {
    /// Lock processes per run [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) processes: Option<u16>,
    /// Acquire/hold/release cycles per process [default: 20].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) cycles: Option<u32>,
    /// How long a lock lives at the server [default: 10s].
    #[arg(long, value_name = "D")]
    pub(crate) ttl: Option<Span>,
    /// How long a process holds the lock: a range, or until-validity [default: 10ms..8s].
    #[arg(long, value_name = "A..B")]
    pub(crate) hold: Option<Hold>,
    /// Delay between two attempts to acquire [default: 50ms..200ms].
    #[arg(long, value_name = "A..B")]
    pub(crate) retry: Option<SpanRange>,
    /// How long a restarted server stays away [default: 0us, at once].
    #[arg(long, value_name = "A..B")]
    pub(crate) restart_delay: Option<SpanRange>,
    /// How long a message takes [default: 200us..2ms].
    #[arg(long, value_name = "A..B")]
    pub(crate) latency: Option<SpanRange>,
    /// The virtual time at which a run is stopped [default: 30m].
    #[arg(long, value_name = "D")]
    pub(crate) max_time: Option<Span>,
    /// What a restarted server finds [default: none].
    #[arg(long, value_name = "P")]
    pub(crate) persistence: Option<Persistence>,
    /// Also judge whether a free lock that is wanted is had within D, while enough servers run; D
    /// is the ttl unless it is given.
    #[arg(long, value_name = "D", num_args = 0..=1)]
    pub(crate) availability: Option<Option<Span>>,
    /// What is guarded [default: register].
    #[arg(long, value_name = "W", value_parser = choice::<Workload>())]
    pub(crate) workload: Option<Workload>,
    /// How the storage treats fencing tokens [default: fenced].
    #[arg(long, value_name = "S", value_parser = choice::<StorageRule>())]
    pub(crate) storage: Option<StorageRule>,
    /// Where in a run faults strike [default: aimed]. See docs/search.md.
    #[arg(long, value_name = "S")]
    pub(crate) strategy: Option<Strategy>,
    /// The deployment and workload as TOML; flags win over --set, --set over the file.
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<PathBuf>,
    /// One key of the scenario, as in the file: `--set down-after=2s`.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct FileArguments {
    /// The file, or - for standard input.
    pub(crate) file: PathBuf,
    /// How to print the result.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArguments {
    #[command(flatten)]
    pub(crate) source: FileArguments,
    /// Run the minimal plans instead; each must show its violation again.
    #[arg(long)]
    pub(crate) minimal: bool,
    /// Run programs and real servers whose files changed since the report, too: as they are now.
    /// Their histories are not compared with the report's.
    #[arg(long)]
    pub(crate) allow_changed: bool,
    #[command(flatten)]
    pub(crate) verbose: VerboseArgument,
}

#[derive(Args, Debug)]
pub(crate) struct ShrinkArguments {
    #[command(flatten)]
    pub(crate) source: FileArguments,
    #[command(flatten)]
    pub(crate) verbose: VerboseArgument,
}

#[derive(Args, Debug)]
pub(crate) struct MergeArguments {
    /// The summaries, or the explorations, of which all shards make a certificate.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Accept missing seeds, or missing units of an exploration: exit status 3, no certificate.
    #[arg(long)]
    pub(crate) partial: bool,
    /// The verdicts that must come out, as for sweep.
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<PathBuf>,
    /// How to print the sum.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
}

#[derive(Args, Debug)]
pub(crate) struct ListArguments {
    /// What to list [default: everything].
    pub(crate) what: Option<Listing>,
    /// text or json.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArguments {
    /// A name in a report, such as split-brain, lost-update or failover.
    pub(crate) name: String,
}

/// What `list` names.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum Listing {
    /// Locks.
    Clients,
    /// What keeps the lock.
    Coordinators,
    /// Families of faults.
    Faults,
    /// What is guarded.
    Workloads,
    /// How the storage treats tokens.
    Storages,
    /// How results are printed.
    Formats,
    /// What `boundary` can vary.
    Quantities,
}

#[derive(Args, Debug)]
pub(crate) struct SchemaArguments {
    /// plan, history, report, sweep, boundary, matrix, load, compare, certificate or
    /// exploration.
    pub(crate) what: String,
}
