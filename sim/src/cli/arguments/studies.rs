use super::shared::{JobsArgument, QuietArgument};
use super::values::{seed, seed_range, shard};
use super::{LockArguments, ProgramArguments, ScenarioArguments, ServersArguments};
use crate::setup::span::Span;
use crate::studies::explore::{Grain, Rule};
use clap::Args;
use std::path::PathBuf;

const LOCK: &str = "Lua file of the lock to test, instead of --client (see docs/lock-in-lua.md)";

const PROGRAM: &str =
    "Command of the program to test, instead of --client (see docs/own-programs.md)";

const PROCESSES: &str = "Number of processes that compete for the lock, 1 to 64 [default: 2]";

const RETRY: &str = "Delay between two attempts to acquire the lock [default: 2s]";

const HOLD: &str = "Duration of a critical section, or `until-validity`: the validity that the \
                    lock reports, or the ttl if it reports none [default: 4s]";

const CYCLES: &str = "Number of lock cycles (acquire, hold, release) of each process [default: 1]";

#[derive(Args, Debug)]
#[command(
    mut_arg("lock", |arg| arg.help(LOCK).long_help(LOCK)),
    mut_arg("program", |arg| arg.help(PROGRAM).long_help(PROGRAM)),
)]
pub(crate) struct BoundaryArguments {
    /// Lock to test (see `fencepost list clients`).
    #[arg(
        long,
        value_name = "C",
        required_unless_present_any = ["program", "lock"],
        conflicts_with_all = ["program", "lock"],
    )]
    pub(crate) client: Option<String>,
    #[command(flatten)]
    pub(crate) locks: LockArguments,
    #[command(flatten)]
    pub(crate) programs: ProgramArguments,
    #[command(flatten)]
    pub(crate) servers: ServersArguments,
    /// Coordinator that the program uses [default: redis].
    #[arg(long, value_name = "K", requires = "program")]
    pub(crate) coordinator: Option<String>,
    /// Fault family, or several joined by `+` (see `fencepost list faults`).
    #[arg(long, value_name = "F")]
    pub(crate) fault: String,
    /// Setting to vary (see `fencepost list quantities`).
    #[arg(long, value_name = "Q")]
    pub(crate) vary: String,
    /// Range of values to search, such as 1s..12s, or 0..30000 parts per million for `--vary
    /// drift` [default: a range around the calculated bound].
    #[arg(long, value_name = "A..B")]
    pub(crate) between: Option<String>,
    /// Precision of the search, in the unit of --between [default: 1/256 of the range, but at least
    /// 1ms or 1 part per million].
    #[arg(long, value_name = "D")]
    pub(crate) step: Option<String>,
    /// Number of equal parts into which the search divides the range before it bisects one of them.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..=1000),
    )]
    pub(crate) parts: u16,
    /// Count only violations of this rule, such as overlap [default: all rules].
    #[arg(long, value_name = "K")]
    pub(crate) kind: Option<String>,
    /// Seeds to run at each value: A..B, excluding B [default: 0..200; for programs and real
    /// servers, as many seeds as fit in 400 runs, but at least one].
    #[arg(long, value_name = "A..B", value_parser = seed_range)]
    pub(crate) seeds: Option<(u64, u64)>,
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
    /// Output format: text, json, svg or html.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) quiet: QuietArgument,
}

#[derive(Args, Debug)]
pub(crate) struct ExportArguments {
    /// JSON report of a run that has a violation.
    #[arg(value_name = "REPORT")]
    pub(crate) file: PathBuf,
    /// Form of the export: `script` for scripts that need only a shell, Python and redis-server.
    #[arg(long = "as", value_name = "F")]
    pub(crate) form: String,
    /// Id of the violation [default: the first one of a kind that a script can reproduce].
    #[arg(long, value_name = "ID")]
    pub(crate) violation: Option<String>,
    /// Folder to create for the scripts.
    #[arg(long, value_name = "DIR", default_value = "violation")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct MatrixArguments {
    /// Seeds to run for each lock and fault: A..B, excluding B.
    #[arg(long, value_name = "A..B", default_value = "0..100", value_parser = seed_range)]
    pub(crate) seeds: (u64, u64),
    /// JSON file of a sweep or a matrix from which to read the results, instead of running seeds.
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    pub(crate) from: Option<PathBuf>,
    /// JSON file of a published matrix. `matrix` prints each outdated or missing cell on stderr.
    /// The exit status is 1 if there is such a cell, and 0 otherwise.
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
    /// Locks to test [default: all; with --lock or --program, none unless --coordinator is given].
    #[arg(long, value_name = "C[,C]", value_delimiter = ',')]
    pub(crate) client: Option<Vec<String>>,
    /// Coordinator of the locks and programs to test (see `fencepost list coordinators`) [default:
    /// every coordinator for locks, redis for programs].
    #[arg(long, value_name = "K")]
    pub(crate) coordinator: Option<String>,
    #[command(flatten)]
    pub(crate) locks: LockArguments,
    #[command(flatten)]
    pub(crate) programs: ProgramArguments,
    /// Fault families: `a,b` tests under each, `a+b` combines them [default: all families].
    #[arg(long, value_name = "F[,F]", value_delimiter = ',')]
    pub(crate) fault: Option<Vec<String>>,
    /// Count only runs that broke this rule, such as overlap [default: all rules].
    #[arg(long, value_name = "K")]
    pub(crate) kind: Option<String>,
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
    /// Output format: text, markdown, json or html.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
    /// Folder to write matrix.json and matrix.md to.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) quiet: QuietArgument,
}

#[derive(Args, Debug)]
pub(crate) struct GalleryArguments {
    /// Folder to write the pages to.
    #[arg(long, value_name = "DIR", default_value = "docs/gallery")]
    pub(crate) out: PathBuf,
    /// List the outdated pages in the folder instead of writing pages. The exit status is 1 if a
    /// page is outdated.
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
}

#[derive(Args, Debug)]
pub(crate) struct DocsArguments {
    /// Folder to write the site to.
    #[arg(long, value_name = "DIR", default_value = "site")]
    pub(crate) out: PathBuf,
    /// Folder with a checkout of the fencepost repository.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) from: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// Lock (see `fencepost list clients`), Lua file of a lock, or JSON file of a sweep.
    pub(crate) a: String,
    /// Lock or file to compare with A.
    pub(crate) b: String,
    /// Fault families: `a,b` compares locks under each, `a+b` combines them.
    #[arg(long, value_name = "F[,F]", default_value = "none", value_delimiter = ',')]
    pub(crate) fault: Vec<String>,
    /// Seeds to run for each lock and fault: A..B, excluding B.
    #[arg(long, value_name = "A..B", default_value = "0..100", value_parser = seed_range)]
    pub(crate) seeds: (u64, u64),
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
    /// Output format: text, json, markdown or html.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) quiet: QuietArgument,
}

#[derive(Args, Debug)]
#[command(
    mut_arg("processes", |arg| arg.help(PROCESSES)),
    mut_arg("cycles", |arg| arg.help(CYCLES)),
    mut_arg("hold", |arg| arg.help(HOLD).long_help(HOLD)),
    mut_arg("retry", |arg| arg.help(RETRY).value_name("D")),
    mut_arg("strategy", |arg| arg.hide(true)),
)]
pub(crate) struct ExploreArguments {
    /// Lock to test (see `fencepost list clients`).
    #[arg(long, value_name = "C", default_value = "single-node", conflicts_with = "lock")]
    pub(crate) client: String,
    /// Lua file of the lock to test, instead of --client (see docs/lock-in-lua.md).
    #[arg(long, value_name = "[NAME=]FILE")]
    pub(crate) lock: Option<String>,
    /// Fault families to enumerate, separated by commas or plus signs (see docs/explore.md).
    #[arg(long, value_name = "F[,F]", default_value = "none", value_delimiter = ',')]
    pub(crate) fault: Vec<String>,
    /// Maximum number of faults in a plan: 0, 1 or 2 [default: 1, or 0 with --fault none].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) faults: Option<u8>,
    /// Not supported: `explore` cannot run programs.
    #[arg(long, value_name = "CMD", hide = true)]
    pub(crate) program: Option<String>,
    /// Maximum number of delayed messages in a plan: 0, 1 or 2. A delayed message takes no longer
    /// than the maximum of --latency.
    #[arg(
        long,
        value_name = "D",
        default_value = "0",
        value_parser = clap::value_parser!(u8).range(0..=2),
    )]
    pub(crate) delays: u8,
    /// Maximum fault duration, added latency and clock step [default: 1.5 times the ttl; with
    /// failover, at least the time until another server takes over].
    #[arg(long, value_name = "D")]
    pub(crate) longest: Option<Span>,
    /// Fault durations to try in each interval between two timers: fine (two durations) or coarse
    /// (one) [default: fine, or coarse with --faults 2].
    #[arg(long, value_name = "G")]
    pub(crate) grain: Option<Grain>,
    /// Number of independent masters, for locks such as redlock [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=31))]
    pub(crate) masters: Option<u16>,
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
    /// Pruning rules to turn off, so that the plans that they skip are also run.
    #[arg(long, value_name = "R[,R]", value_delimiter = ',')]
    pub(crate) no_prune: Vec<Rule>,
    /// Seed for random values that are not enumerated, such as owner names.
    #[arg(long, value_name = "N", default_value = "0", value_parser = seed)]
    pub(crate) seed: u64,
    /// Divide the plans into N shards and run only shard M (1 <= M <= N). `fencepost merge` merges
    /// the results of the shards. By default, M and N are read from JOB_COMPLETION_INDEX and
    /// JOB_COMPLETIONS, from SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT, or from CI_NODE_INDEX
    /// and CI_NODE_TOTAL, if these variables are set.
    #[arg(long, value_name = "M/N", value_parser = shard, conflicts_with_all = ["check", "diff"])]
    pub(crate) shard: Option<(u32, u32)>,
    /// Checkpoint file to write, for --resume and `fencepost merge`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "diff"])]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Continue from the checkpoint, or start from the beginning if there is no checkpoint.
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,
    /// Minimum real time between two checkpoints [default: 1s].
    #[arg(long, value_name = "T", requires = "checkpoint")]
    pub(crate) checkpoint_every: Option<Span>,
    /// Certificate to check: run a sample of its plans again, and compare the results.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["client", "fault", "faults"])]
    pub(crate) check: Option<PathBuf>,
    /// With --check, run all plans of the certificate again instead of a sample.
    #[arg(long, requires = "check")]
    pub(crate) whole: bool,
    /// Print the differences between two certificates. The exit status is 1 if they differ, and 0
    /// otherwise.
    #[arg(
        long,
        num_args = 2,
        value_names = ["A", "B"],
        conflicts_with_all = ["client", "fault", "faults", "check", "format"],
    )]
    pub(crate) diff: Option<Vec<PathBuf>>,
    /// Start even if the exploration needs more than a million runs.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Skip the search for the counterexample's minimal plan, thresholds and remedies.
    #[arg(long)]
    pub(crate) no_shrink: bool,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
    /// Output format: text, json or html.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) quiet: QuietArgument,
}

#[derive(Args, Debug)]
pub(crate) struct RealityArguments {
    /// Locks to test, each under every fault of --fault.
    #[arg(
        long,
        value_name = "C[,C]",
        default_value = "single-node,redlock,fencing,watchdog,redisson",
        default_value_if("page", clap::builder::ArgPredicate::IsPresent, None),
        value_delimiter = ','
    )]
    pub(crate) client: Vec<String>,
    /// Fault families: `a,b` tests each separately, `a+b` combines them.
    #[arg(
        long,
        value_name = "F[,F]",
        default_value = "pause,failover,restart,clock-jump,eviction,partition",
        value_delimiter = ','
    )]
    pub(crate) fault: Vec<String>,
    /// Seeds to search for a violation: A..B, excluding B.
    #[arg(long, value_name = "A..B", default_value = "0..50", value_parser = seed_range)]
    pub(crate) seeds: (u64, u64),
    /// Servers to compare with: `real` for the installed servers, or NAME=PATH for another binary,
    /// such as redis=/opt/redis-server.
    #[arg(long, value_name = "S", default_value = "real")]
    pub(crate) servers: Vec<String>,
    /// Also replay the plans of all gallery pages whose coordinator can run on real servers.
    #[arg(long)]
    pub(crate) gallery: bool,
    /// Gallery pages, such as split-brain. `reality` replays the plan of each page, and prints the
    /// timelines of simulated and real servers. To test locks too, add --client.
    #[arg(long, value_name = "P[,P]", value_delimiter = ',', conflicts_with = "gallery")]
    pub(crate) page: Vec<String>,
    /// Output format: text, markdown, html or json.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
}
