use super::{LockArguments, ProgramArguments, ProjectArguments, QuietArgument, ScenarioArguments};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum FindingsCommand {
    /// List findings, the most urgent first.
    List(ListFindingsArguments),
    /// Accept findings, so that they no longer make a sweep fail.
    Accept(AcceptArguments),
    /// Run the seeds in the store again and update the store. The exit status is 1 if an unaccepted
    /// finding remains.
    Retest(Box<RetestArguments>),
}

#[derive(Args, Debug)]
pub(crate) struct StoreArguments {
    #[command(flatten)]
    pub(crate) project: ProjectArguments,
    /// Findings store.
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
    /// Fingerprints of the findings, as printed in reports, such as 81c70fe50667.
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,
    /// Reason for accepting the findings.
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Args, Debug)]
pub(crate) struct RetestArguments {
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    #[command(flatten)]
    pub(crate) locks: LockArguments,
    #[command(flatten)]
    pub(crate) programs: ProgramArguments,
    /// Coordinator that the programs use.
    #[arg(long, value_name = "K")]
    pub(crate) coordinator: Option<String>,
    #[command(flatten)]
    pub(crate) deployment: ScenarioArguments,
    #[command(flatten)]
    pub(crate) quiet: QuietArgument,
}
