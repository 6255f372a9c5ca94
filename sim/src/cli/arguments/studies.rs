//! The arguments of what runs many seeds to answer one question: boundary, matrix, compare,
//! gallery, reality; and of what runs many plans: explore.

use super::shared::{JobsArgument, QuietArgument};
use super::values::{seed, seed_range, shard};
use super::{LockArguments, ProgramArguments, ScenarioArguments};
use crate::setup::span::Span;
use crate::studies::explore::{Grain, Rule};
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct BoundaryArguments {
    /// The lock. See `fencepost list clients`.
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
    /// The families of faults; a plus combines them. See `fencepost list faults`.
    #[arg(long, value_name = "F")]
    pub(crate) fault: String,
    /// What is varied. See `fencepost list quantities`.
    #[arg(long, value_name = "Q")]
    pub(crate) vary: String,
    /// The values between which it is varied [default: around what arithmetic says].
    #[arg(long, value_name = "A..B")]
    pub(crate) between: Option<String>,
    /// How fine the search is [default: a 256th of the range, at least 1ms].
    #[arg(long, value_name = "D")]
    pub(crate) step: Option<String>,
    /// How many equal parts of the range are tried before the search goes on between two of them.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..=1000),
    )]
    pub(crate) parts: u16,
    /// The rule that counts [default: any].
    #[arg(long, value_name = "K")]
    pub(crate) kind: Option<String>,
    /// The seeds to run at every value, the last excluded [default: 0..200; of a program as many as
    /// 400 runs allow].
    #[arg(long, value_name = "A..B", value_parser = seed_range)]
    pub(crate) seeds: Option<(u64, u64)>,
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
    /// text, json or svg.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) quiet: QuietArgument,
}

#[derive(Args, Debug)]
pub(crate) struct MatrixArguments {
    /// The seeds to run in every cell, the last excluded.
    #[arg(long, value_name = "A..B", default_value = "0..100", value_parser = seed_range)]
    pub(crate) seeds: (u64, u64),
    /// Make the matrix from the JSON of a sweep instead, or write that of a matrix in another
    /// format.
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    pub(crate) from: Option<PathBuf>,
    /// Say whether this published matrix (JSON) still holds: exit status 1 and a line on stderr for
    /// each cell that differs by more than chance explains, and 0 otherwise.
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
    /// Locks [default: all; with --lock or --program none].
    #[arg(long, value_name = "C[,C]", value_delimiter = ',')]
    pub(crate) client: Option<Vec<String>>,
    /// Only locks on this coordinator. See `fencepost list coordinators`.
    #[arg(long, value_name = "K")]
    pub(crate) coordinator: Option<String>,
    #[command(flatten)]
    pub(crate) locks: LockArguments,
    #[command(flatten)]
    pub(crate) programs: ProgramArguments,
    /// Families of faults [default: each].
    #[arg(long, value_name = "F[,F]", value_delimiter = ',')]
    pub(crate) fault: Option<Vec<String>>,
    /// Count only the runs that broke this rule, such as overlap; `unavailable` wants
    /// --availability.
    #[arg(long, value_name = "K")]
    pub(crate) kind: Option<String>,
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
    /// text, markdown, json or html.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
    /// Write matrix.json and matrix.md into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) quiet: QuietArgument,
}

#[derive(Args, Debug)]
pub(crate) struct GalleryArguments {
    /// The folder of the pages.
    #[arg(long, value_name = "DIR", default_value = "docs/gallery")]
    pub(crate) out: PathBuf,
    /// Write nothing: say which pages of the folder are stale. Exit status 1 if any is.
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
}

#[derive(Args, Debug)]
pub(crate) struct DocsArguments {
    /// The folder of the site.
    #[arg(long, value_name = "DIR", default_value = "site")]
    pub(crate) out: PathBuf,
    /// The folder of fencepost's repository.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) from: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// A lock (see `fencepost list clients`), a lock written in Lua (a .lua file), or the JSON file
    /// of a sweep.
    pub(crate) a: String,
    /// What it is compared with: another lock, or another file.
    pub(crate) b: String,
    /// Of locks: the families of faults; a comma separates cells, a plus combines families.
    #[arg(long, value_name = "F[,F]", default_value = "none", value_delimiter = ',')]
    pub(crate) fault: Vec<String>,
    /// Of locks: the seeds to run in every cell, the last excluded.
    #[arg(long, value_name = "A..B", default_value = "0..100", value_parser = seed_range)]
    pub(crate) seeds: (u64, u64),
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
    /// text, json, markdown or html.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) quiet: QuietArgument,
}

/// Its runs are smaller than those of other commands.
#[derive(Args, Debug)]
#[command(
    mut_arg("processes", |arg| arg.help("Lock processes per run [default: 2]")),
    mut_arg("cycles", |arg| arg.help("Acquire/hold/release cycles per process [default: 1]")),
    mut_arg("hold", |arg| arg.help("How long a process holds the lock [default: 4s]")),
    mut_arg("retry", |arg| arg.help("Delay between two attempts to acquire [default: 2s]")),
)]
pub(crate) struct ExploreArguments {
    /// The lock. See `fencepost list clients`.
    #[arg(long, value_name = "C", default_value = "single-node", conflicts_with = "lock")]
    pub(crate) client: String,
    /// A lock written in Lua, in place of one of the table. See docs/lock-in-lua.md.
    #[arg(long, value_name = "[NAME=]FILE")]
    pub(crate) lock: Option<String>,
    /// The families that faults are of; a comma or a plus between several. See docs/explore.md for
    /// those that are placed.
    #[arg(long, value_name = "F[,F]", default_value = "none", value_delimiter = ',')]
    pub(crate) fault: Vec<String>,
    /// How many faults a plan holds at most: 0, 1 or 2 [default: 1, or 0 with --fault none].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) faults: Option<u8>,
    /// Refused: a program of the user's own cannot be explored.
    #[arg(long, value_name = "CMD", hide = true)]
    pub(crate) program: Option<String>,
    /// How many messages a plan delays past their neighbours at most, within the range of
    /// latencies: 0, 1 or 2.
    #[arg(
        long,
        value_name = "D",
        default_value = "0",
        value_parser = clap::value_parser!(u8).range(0..=2),
    )]
    pub(crate) delays: u8,
    /// No fault lasts longer, delays a message by more, or steps a clock by more [default: one and
    /// a half leases; with failover, at least until another server has taken over].
    #[arg(long, value_name = "D")]
    pub(crate) longest: Option<Span>,
    /// How many values stand for the lengths between two timers: fine (two) or coarse (one)
    /// [default: fine, or coarse with --faults 2].
    #[arg(long, value_name = "G")]
    pub(crate) grain: Option<Grain>,
    /// Independent masters, for a quorum lock [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=31))]
    pub(crate) masters: Option<u16>,
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
    /// Run the plans that this rule would leave out, too.
    #[arg(long, value_name = "R[,R]", value_delimiter = ',')]
    pub(crate) no_prune: Vec<Rule>,
    /// The seed of what little is drawn, such as names of owners.
    #[arg(long, value_name = "N", default_value = "0", value_parser = seed)]
    pub(crate) seed: u64,
    /// Run only part m of n, 1 <= m <= n; `fencepost merge` makes the certificate of all parts.
    /// Also read from the variables that sweep reads.
    #[arg(long, value_name = "M/N", value_parser = shard, conflicts_with_all = ["check", "diff"])]
    pub(crate) shard: Option<(u32, u32)>,
    /// Where to write what is done so far: an exploration that --resume goes on from, and that
    /// `fencepost merge` adds up.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "diff"])]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Go on where the checkpoint is; from the start if there is none.
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,
    /// How much real time passes between two checkpoints at least [default: 1s].
    #[arg(long, value_name = "T", requires = "checkpoint")]
    pub(crate) checkpoint_every: Option<Span>,
    /// Do a sample of this certificate again, and compare.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["client", "fault", "faults"])]
    pub(crate) check: Option<PathBuf>,
    /// Do all of it again.
    #[arg(long, requires = "check")]
    pub(crate) whole: bool,
    /// Say what changed between two certificates, a line each. Exit status 0 if nothing did, 1 if
    /// something did.
    #[arg(
        long,
        num_args = 2,
        value_names = ["A", "B"],
        conflicts_with_all = ["client", "fault", "faults", "check", "format"],
    )]
    pub(crate) diff: Option<Vec<PathBuf>>,
    /// Begin even if there are more than a million plans.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Do not explain the counterexample.
    #[arg(long)]
    pub(crate) no_shrink: bool,
    #[command(flatten)]
    pub(crate) jobs: JobsArgument,
    /// text or json.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) quiet: QuietArgument,
}

#[derive(Args, Debug)]
pub(crate) struct RealityArguments {
    /// Locks on Redis.
    #[arg(
        long,
        value_name = "C[,C]",
        default_value = "single-node,redlock,fencing,watchdog,redisson",
        value_delimiter = ','
    )]
    pub(crate) client: Vec<String>,
    /// Families of faults: a comma separates rows, a plus combines families in one plan.
    #[arg(
        long,
        value_name = "F[,F]",
        default_value = "pause,failover,restart,clock-jump,eviction,partition",
        value_delimiter = ','
    )]
    pub(crate) fault: Vec<String>,
    /// In which seeds a violation is looked for, the last excluded.
    #[arg(long, value_name = "A..B", default_value = "0..50", value_parser = seed_range)]
    pub(crate) seeds: (u64, u64),
    /// The real server: the redis-server that is installed, or the one at redis=PATH.
    #[arg(long, value_name = "S", default_value = "real")]
    pub(crate) servers: String,
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
}
