use crate::hosts::programs::ProgramDeployment;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(next_help_heading = "What to run")]
pub(crate) struct LockArguments {
    /// Lua file that implements a lock. Repeat the option for several locks.
    ///
    /// This option replaces the default locks. To add built-in locks, use --client. See
    /// docs/lock-in-lua.md.
    #[arg(long, value_name = "[NAME=]FILE")]
    pub(crate) lock: Vec<String>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "What to run")]
pub(crate) struct ServersArguments {
    /// Servers to run: fake, real or NAME=PATH.
    ///
    /// `fake` simulates the servers, `real` runs the installed servers, and NAME=PATH runs another
    /// binary, such as redis=/opt/redis-server. Repeat the option for several binaries. See
    /// docs/real-servers.md.
    #[arg(long, value_name = "S", default_value = "fake")]
    pub(crate) servers: Vec<String>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "What to run")]
pub(crate) struct ProgramArguments {
    /// Command of a program to test. Repeat the option for several programs.
    ///
    /// This option replaces the default locks. To add built-in locks, use --client. See
    /// docs/own-programs.md.
    #[arg(long, value_name = "[NAME=]CMD")]
    pub(crate) program: Vec<String>,
    /// Deployment of the servers that the programs use. redis: single, sentinel or independent;
    /// zookeeper: ensemble or single; postgresql: single or standby; etcd: cluster or single
    /// [default: the first one listed for the coordinator].
    #[arg(
        long = "deployment",
        value_name = "D",
        requires = "program",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(crate) program_deployment: Option<ProgramDeployment>,
    /// Command that starts your own lock server, as NAME=CMD or NAME:PORT=CMD. Repeat the option
    /// for several servers.
    ///
    /// The server runs on the host NAME, in a folder that is empty at first and survives restarts.
    /// The programs find the server's address in FENCEPOST_SERVERS. See docs/real-servers.md.
    #[arg(
        long,
        value_name = "NAME=CMD",
        requires = "program",
        conflicts_with = "coordinator",
        hide_short_help = true
    )]
    pub(crate) server: Vec<String>,
    /// Key under which the programs store their lock. If the key contains a `*`, as in job:*,
    /// each matching key is a separate lock [default: lock:orders].
    #[arg(long, value_name = "KEY", requires = "program", hide_short_help = true)]
    pub(crate) lock_key: Option<String>,
    /// Environment variable to set for the programs. Repeat the option for several variables.
    #[arg(long, value_name = "NAME=VALUE", requires = "program", hide_short_help = true)]
    pub(crate) env: Vec<String>,
    /// Working directory of the programs [default: the current directory].
    #[arg(long, value_name = "DIR", requires = "program", hide_short_help = true)]
    pub(crate) cwd: Option<PathBuf>,
}
