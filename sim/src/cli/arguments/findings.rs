use super::{LockArguments, ProgramArguments, ProjectArguments, QuietArgument, ScenarioArguments};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum FindingsCommand {
    /// List the findings, the most urgent first.
    List(ListFindingsArguments),
    /// Accept findings, so that a sweep that finds them again does not fail.
    Accept(AcceptArguments),
    /// Repeat the seeds of findings made with the same settings, and update the store.
    ///
    /// The exit status is 1 if a finding that is not accepted still happens.
    Retest(Box<RetestArguments>),
}

const LOCK: &str = "Lua file of a lock with findings. Repeat the option for several locks";

const PROGRAM: &str = "Command of a program with findings. Repeat the option for several programs";

#[derive(Args, Debug)]
pub(crate) struct StoreArguments {
    #[command(flatten)]
    pub(crate) project: ProjectArguments,
    /// Findings store: the file that `sweep --findings` writes.
    #[arg(long, value_name = "FILE", default_value = "findings.jsonl")]
    pub(crate) findings: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct ListFindingsArguments {
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    /// Output format: text, json or markdown.
    #[arg(long, value_name = "F", default_value = "text")]
    pub(crate) format: String,
}

#[derive(Args, Debug)]
pub(crate) struct AcceptArguments {
    /// Fingerprints of the findings, such as 81c70fe50667. `findings list` prints them.
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,
    /// Why you accept the findings; saved in the store.
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Args, Debug)]
#[command(
    mut_arg("lock", |arg| arg.long_help(LOCK)),
    mut_arg("program", |arg| arg.long_help(PROGRAM)),
)]
pub(crate) struct RetestArguments {
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    #[command(flatten)]
    pub(crate) locks: LockArguments,
    #[command(flatten)]
    pub(crate) programs: ProgramArguments,
    /// Coordinator that the programs use [default: redis].
    #[arg(long, value_name = "K")]
    pub(crate) coordinator: Option<String>,
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
    #[command(flatten)]
    pub(crate) quiet: QuietArgument,
}
