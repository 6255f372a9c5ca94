//! The command-line arguments, as clap parses them.

mod findings;
mod load;
mod serve;
mod shared;
mod studies;
mod under_test;
mod values;

pub(crate) use findings::{
    AcceptArguments, FindingsCommand, ListFindingsArguments, RetestArguments,
};
pub(crate) use load::LoadArguments;
pub(crate) use serve::{ServeArguments, ServedClock};
pub(crate) use shared::{
    JobsArgument, ManArguments, ProjectArguments, QuietArgument, VerboseArgument,
};
pub(crate) use studies::{
    BoundaryArguments, CompareArguments, DocsArguments, ExploreArguments, ExportArguments,
    GalleryArguments, MatrixArguments, RealityArguments,
};

use super::choice::choice;
use crate::engine::Engine;
use crate::setup::scenario::{Hold, Persistence, Strategy};
use crate::setup::span::{Span, SpanRange};
use clap::builder::ArgPredicate;
use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fencepost_reports::summary::sweep::VIOLATIONS_MAX;
use fencepost_reports::{StorageRule, Workload};
use std::path::PathBuf;
pub(crate) use under_test::{LockArguments, ProgramArguments, ServersArguments};
pub(crate) use values::Seeds;
use values::{memory, seed, seeds, shard};

/// Test distributed locks in a deterministic simulation: inject faults, find violations of mutual
/// exclusion, explain them, and replay them from their seeds.
#[derive(Parser, Debug)]
#[command(
    name = "fencepost",
    version,
    max_term_width = 110,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
#[command(
    after_help = "Exit status: 0 no violation, 1 violation, 2 usage or internal error, 3 the lock \
     was not exercised.\n\
    Try: fencepost --seed 7 --fault failover"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Print all commands and all options of `run`.
    #[arg(long, action = ArgAction::HelpLong)]
    help_all: Option<bool>,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

const RARE: &str = "shrink export check merge findings gallery docs schema completions man";

impl Arguments {
    pub(crate) fn overview() -> String {
        let hide = |command: clap::Command, name: &'static str| {
            command.mut_subcommand(name, |rare| rare.hide(true))
        };
        let mut common = RARE.split(' ').fold(Arguments::command(), hide);
        common.build();
        let help = "Print this help; `fencepost COMMAND --help` describes a command";
        common.mut_arg("help", |arg| arg.help(help)).render_help().to_string()
    }
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run one seed and print a report (the default command).
    Run(RunArguments),
    /// Run many seeds in parallel and summarize the results.
    Sweep(SweepArguments),
    /// Replay the fault plans in a report on the turmoil engine.
    ///
    /// The exit status is 2 if a replay's history differs from the report's.
    Replay(ReplayArguments),
    /// Explain a rule, a cause or a fault family.
    Explain(ExplainArguments),
    /// List locks, faults, formats and other choices.
    List(ListArguments),
    /// Create a lock or a program from a template.
    #[command(subcommand, arg_required_else_help = false)]
    New(New),
    /// Run every fault plan up to a given size, and print a counterexample or a certificate.
    ///
    /// The exit status is 1 for a counterexample and 0 for a certificate.
    Explore(ExploreArguments),
    /// Find the value of one setting at which a lock breaks.
    Boundary(BoundaryArguments),
    /// Compare the violations of two locks or two sweeps, and their causes.
    Compare(CompareArguments),
    /// Run every lock under every fault family, and compare the results with the literature.
    ///
    /// The exit status is 1 if a result contradicts the literature.
    Matrix(MatrixArguments),
    /// Measure the load that waiting processes put on a lock server.
    Load(LoadArguments),
    /// Find violations in simulation, and replay them on real servers.
    ///
    /// The exit status is 1 if the results on simulated and real servers differ.
    Reality(RealityArguments),
    /// Serve the fake Redis or another coordinator over TCP.
    Serve(ServeArguments),
    /// Minimize and explain the violations in a report, such as one made with --no-shrink.
    Shrink(ShrinkArguments),
    /// Export a violation as scripts that replay it on real Redis servers, without fencepost.
    Export(ExportArguments),
    /// Check a recorded history, or the histories in a report, against the rules.
    Check(CheckArguments),
    /// Merge the results of the shards of a sweep or an exploration.
    Merge(MergeArguments),
    /// List, accept or retest the findings of earlier sweeps.
    #[command(subcommand, arg_required_else_help = false)]
    Findings(FindingsCommand),
    /// Write the gallery: one page for each anomaly.
    Gallery(GalleryArguments),
    /// Write the documentation as a static site with search.
    ///
    /// The exit status is 2 if a link is broken.
    Docs(DocsArguments),
    /// Print the JSON Schema of a published format.
    Schema(SchemaArguments),
    /// Write a man page for each command.
    Man(ManArguments),
    /// Print a completion script for a shell.
    Completions {
        /// Shell that will load the script.
        shell: Shell,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum New {
    /// Write NAME.lua, a lock to run with --lock.
    Lock(NewArguments),
    /// Write a program in LANGUAGE that uses a lock, to run with --program.
    Program(NewProgramArguments),
}

#[derive(Args, Debug)]
pub(crate) struct NewProgramArguments {
    /// Language of the program: python, node, java, go, rust, ruby or php.
    pub(crate) language: String,
    /// Coordinator to use: redis, redis-masters, memcached, postgresql, mysql, zookeeper or etcd.
    #[arg(long, value_name = "K", default_value = "redis")]
    pub(crate) on: String,
}

#[derive(Args, Debug)]
pub(crate) struct NewArguments {
    /// Name of the lock: letters, digits, `-` and `_`.
    pub(crate) name: String,
    /// Coordinator to use: redis, redis-masters, memcached, postgresql, mysql, zookeeper or etcd.
    #[arg(long, value_name = "K", default_value = "redis")]
    pub(crate) on: String,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "What to run")]
pub(crate) struct RunArguments {
    /// Seed for all random values, such as 7 or 0x1f.
    #[arg(long, value_name = "N", default_value = "0", value_parser = seed)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    /// Include the whole history in the JSON report.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub(crate) with_history: bool,
    #[command(flatten)]
    pub(crate) verbose: VerboseArgument,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "What to run")]
pub(crate) struct SweepArguments {
    /// Seeds to run: A..B, excluding B, or +N for the N seeds after those in the --findings store.
    #[arg(long, value_name = "A..B|+N", value_parser = seeds)]
    pub(crate) seeds: Seeds,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
    /// Divide the seeds into N shards and run only shard M (1 <= M <= N).
    ///
    /// By default, M and N are read from JOB_COMPLETION_INDEX and JOB_COMPLETIONS, from
    /// SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT, or from CI_NODE_INDEX and CI_NODE_TOTAL, if
    /// these variables are set.
    #[arg(long, value_name = "M/N", value_parser = shard)]
    pub(crate) shard: Option<(u32, u32)>,
    /// Stop at the first violation.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Maximum number of violations to keep for each lock and fault. The sweep keeps the smallest
    /// violation of each anomaly, then the second smallest of each, and so on.
    #[arg(
        long,
        value_name = "K",
        default_value_t = VIOLATIONS_MAX,
        help_heading = "Output",
        hide_short_help = true,
    )]
    pub(crate) max_violations: u64,
    /// Continue from the checkpoint, or start from the beginning if there is no checkpoint.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Checkpoint file, from which --resume continues [default: with --out DIR,
    /// DIR/sweep-M-of-N.checkpoint].
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Start no new runs after T of real time, such as 10m. Minimization may take up to T longer.
    #[arg(long, value_name = "T")]
    pub(crate) time_budget: Option<Span>,
    /// Memory limit, such as 512mb or 4gb. The sweep stops if fencepost uses more.
    ///
    /// A sweep that stops exits with status 2, and --resume continues it from its checkpoint. This
    /// option works only on Linux.
    #[arg(long, value_name = "BYTES", value_parser = memory, hide_short_help = true)]
    pub(crate) max_memory: Option<u64>,
    /// Minimum real time between two checkpoints [default: 1s].
    #[arg(long, value_name = "T", hide_short_help = true)]
    pub(crate) checkpoint_every: Option<Span>,
    /// JSON file of an earlier sweep. The sweep prints which findings are new or missing, and which
    /// rates changed.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) baseline: Option<PathBuf>,
    /// Findings store to update. The sweep first repeats the seeds of known findings, and adds new
    /// findings.
    ///
    /// Without --expect, the exit status is 1 only if a finding is not accepted. See
    /// docs/findings.md.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) findings: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    #[command(flatten)]
    pub(crate) quiet: QuietArgument,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "What to run")]
pub(crate) struct CommonArguments {
    /// Locks to test, or `all` (see `fencepost list clients`).
    ///
    /// With --lock or --program, none by default. Otherwise, with --coordinator, all by default.
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
    /// Coordinator of the locks (see `fencepost list coordinators`).
    ///
    /// Without --client, --lock and --program, fencepost tests all locks on this coordinator.
    /// Programs use redis by default.
    #[arg(long, value_name = "K")]
    pub(crate) coordinator: Option<String>,
    #[command(flatten)]
    pub(crate) locks: LockArguments,
    #[command(flatten)]
    pub(crate) programs: ProgramArguments,
    #[command(flatten)]
    pub(crate) servers: ServersArguments,
    /// Fault families: `a,b` runs each separately, `a+b` combines them (see `fencepost list
    /// faults`).
    #[arg(
        long,
        value_name = "F[,F]",
        default_value = "none",
        value_delimiter = ',',
        help_heading = "Faults"
    )]
    pub(crate) fault: Vec<String>,
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
    /// Simulation engine [default: turmoil for run, fast for sweep].
    #[arg(long, value_name = "E", help_heading = "World", hide_short_help = true)]
    pub(crate) engine: Option<Engine>,
    /// Skip the search for minimal plans, thresholds and remedies.
    #[arg(long, help_heading = "Output")]
    pub(crate) no_shrink: bool,
    /// Output format (see `fencepost list formats`).
    #[arg(long, value_name = "F", default_value = "text", help_heading = "Output")]
    pub(crate) format: String,
    /// Write one report file per violation to this folder.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// TOML file with the expected verdict, such as "safe", of each lock under each fault.
    ///
    /// The exit status is 0 if all verdicts match, and 1 otherwise.
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub(crate) expect: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) project: ProjectArguments,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "World")]
pub(crate) struct ScenarioArguments {
    /// Number of processes that compete for the lock, 1 to 64 [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) processes: Option<u16>,
    /// Number of lock cycles (acquire, hold, release) of each process [default: 20].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) cycles: Option<u32>,
    /// Lease duration [default: 10s].
    #[arg(long, value_name = "D")]
    pub(crate) ttl: Option<Span>,
    /// Duration of a critical section, or `until-validity` [default: 10ms..8s].
    ///
    /// For a lock that renews its lease, the default is at most 1.5 times the ttl. With
    /// `until-validity`, a critical section lasts for the validity that the lock reports, or for
    /// the ttl if the lock reports none.
    #[arg(long, value_name = "A..B")]
    pub(crate) hold: Option<Hold>,
    /// Delay between two attempts to acquire the lock [default: 50ms..200ms].
    #[arg(long, value_name = "A..B", hide_short_help = true)]
    pub(crate) retry: Option<SpanRange>,
    /// Time for which a server stays down before it restarts [default: 0us].
    #[arg(long, value_name = "A..B", help_heading = "Faults", hide_short_help = true)]
    pub(crate) restart_delay: Option<SpanRange>,
    /// Latency of a message in one direction [default: 200us..2ms].
    #[arg(long, value_name = "A..B", hide_short_help = true)]
    pub(crate) latency: Option<SpanRange>,
    /// Virtual time after which a run stops [default: 30m].
    #[arg(long, value_name = "D", hide_short_help = true)]
    pub(crate) max_time: Option<Span>,
    /// Data that survives a restart of a Redis server [default: none].
    #[arg(long, value_name = "P", hide_short_help = true)]
    pub(crate) persistence: Option<Persistence>,
    /// Report a lock that stays free for longer than D while a process waits for it and enough
    /// servers are up, even during faults [default D: the ttl]. Without this option, the limit is
    /// longer than the ttl and applies only while no fault is active.
    #[arg(long, value_name = "D", num_args = 0..=1, hide_short_help = true)]
    pub(crate) availability: Option<Option<Span>>,
    /// Work that a process does in its critical section [default: register].
    #[arg(long, value_name = "W", value_parser = choice::<Workload>(), hide_short_help = true)]
    pub(crate) workload: Option<Workload>,
    /// How the storage checks fencing tokens [default: fenced].
    #[arg(long, value_name = "S", value_parser = choice::<StorageRule>(), hide_short_help = true)]
    pub(crate) storage: Option<StorageRule>,
    /// Strategy that decides when faults begin (see docs/search.md) [default: aimed].
    #[arg(long, value_name = "S", help_heading = "Faults", hide_short_help = true)]
    pub(crate) strategy: Option<Strategy>,
    /// TOML file with scenario keys, which describe the deployment and the workload. --set
    /// overrides the file, and all other options override --set.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) scenario: Option<PathBuf>,
    /// Set a scenario key, such as down-after=2s (repeatable).
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// JSON file that contains a history or a report; - reads standard input.
    pub(crate) file: PathBuf,
    /// Output format: text or json.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
}

#[derive(Args, Debug)]
pub(crate) struct FileArguments {
    /// JSON file of a report, or - for standard input.
    pub(crate) file: PathBuf,
    /// Output format (see `fencepost list formats`).
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArguments {
    #[command(flatten)]
    pub(crate) source: FileArguments,
    /// Replay the minimal plans instead of the original plans. The exit status is 2 if a minimal
    /// plan does not reproduce its violation.
    #[arg(long)]
    pub(crate) minimal: bool,
    /// Run programs and real servers even if their files have changed since the report. The
    /// histories of changed programs and servers are not compared with the report.
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
    #[command(flatten)]
    pub(crate) project: ProjectArguments,
    /// JSON files of the shards, in any order. All shards of an exploration together give a
    /// certificate.
    #[arg(required_unless_present = "watch")]
    pub(crate) files: Vec<PathBuf>,
    /// Show the progress of running shards until all seeds are done. DIR is the --out folder of the
    /// shards, or the parent of their --out folders.
    #[arg(long, value_name = "DIR", conflicts_with = "files")]
    pub(crate) watch: Option<PathBuf>,
    /// Merge even if seeds of a sweep or units of an exploration are missing. If units are missing,
    /// `merge` writes no certificate and the exit status is 3.
    #[arg(long)]
    pub(crate) partial: bool,
    /// TOML file with the expected verdicts, as for `sweep --expect`.
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<PathBuf>,
    /// Findings store to update with the merged results.
    #[arg(long, value_name = "FILE")]
    pub(crate) findings: Option<PathBuf>,
    /// Output format (see `fencepost list formats`).
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
}

#[derive(Args, Debug)]
pub(crate) struct ListArguments {
    /// List to print [default: all lists].
    pub(crate) what: Option<Listing>,
    /// Output format: text or json.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArguments {
    /// Name from a report, such as split-brain, lost-update or failover.
    pub(crate) name: String,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum Listing {
    /// Locks to test.
    #[value(alias = "locks")]
    Clients,
    /// Lock servers and databases.
    Coordinators,
    /// Fault families.
    Faults,
    /// Kinds of work that critical sections do.
    Workloads,
    /// Rules by which the storage checks fencing tokens.
    Storages,
    /// Output formats of `fencepost run` and `fencepost sweep`.
    Formats,
    /// Settings that `fencepost boundary` can vary.
    Quantities,
}

#[derive(Args, Debug)]
pub(crate) struct SchemaArguments {
    /// Name of the format: plan, history, report, sweep, boundary, matrix, load, compare,
    /// certificate, exploration, reality or findings.
    pub(crate) what: String,
}
