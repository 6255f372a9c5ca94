//! Arguments shared by several commands.

use crate::cli::progress::Verbosity;
use clap::Args;
use fencepost_reports::show::format::Detail;

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct JobsArgument {
    /// Number of threads [default: all cores].
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
    /// Print all details of each run, not only the first screen.
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
    /// Print no progress on stderr.
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
}

impl QuietArgument {
    pub(crate) fn verbosity(self) -> Verbosity {
        if self.quiet { Verbosity::Quiet } else { Verbosity::Progress }
    }
}
