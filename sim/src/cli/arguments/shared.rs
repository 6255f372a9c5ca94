use crate::cli::progress::Verbosity;
use clap::Args;
use fencepost_reports::show::format::Detail;
use std::path::PathBuf;

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct JobsArgument {
    /// Number of threads, 1 to 1024 [default: one per available core].
    #[arg(
        long,
        value_name = "J",
        value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = "What to run",
    )]
    jobs: Option<u16>,
}

impl JobsArgument {
    pub(crate) fn count(self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(all, usize::from)
    }
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct VerboseArgument {
    /// Print all details of each run, not only a summary.
    #[arg(long, short, help_heading = "Output")]
    verbose: bool,
}

impl VerboseArgument {
    pub(crate) fn detail(self) -> Detail {
        if self.verbose { Detail::Full } else { Detail::Brief }
    }
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct QuietArgument {
    /// Do not print progress on stderr.
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
}

impl QuietArgument {
    pub(crate) fn verbosity(self) -> Verbosity {
        if self.quiet { Verbosity::Quiet } else { Verbosity::Progress }
    }
}

#[derive(Args, Debug)]
pub(crate) struct ProjectArguments {
    /// TOML file with options. Options on the command line override it [default: fencepost.toml].
    ///
    /// By default, fencepost searches the current folder and its parent folders, up to the root of
    /// the repository. See docs/project-file.md.
    #[arg(long, value_name = "FILE", help_heading = "Project")]
    pub(crate) config: Option<PathBuf>,
    /// Also apply the options in the [profile.NAME] table of the --config file.
    #[arg(long, value_name = "NAME", help_heading = "Project")]
    pub(crate) profile: Option<String>,
    /// Do not read fencepost.toml.
    #[arg(
        long,
        conflicts_with_all = ["config", "profile"],
        help_heading = "Project",
        hide_short_help = true,
    )]
    pub(crate) no_config: bool,
}

impl ProjectArguments {
    pub(crate) fn is_set(&self) -> bool {
        self.config.is_some() || self.no_config
    }
}

#[derive(Args, Debug)]
pub(crate) struct ManArguments {
    /// Folder to write the man pages to.
    #[arg(long, value_name = "DIR", default_value = "man")]
    pub(crate) out: PathBuf,
}
