#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answer;
mod interrupted;
mod refusal;
mod schema;

mod bad_history;
mod bad_input;
mod browser;
mod compare;
mod explore;
mod exported;
mod findings;
mod foreign_settings;
mod limits;
mod lua_locks;
mod names;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod own_servers;
mod pages;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod programs;
mod project;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod real_groups;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod real_servers;
mod replays;
mod report_format;
mod serve;
mod site;
mod stories;
mod sweeps;
mod tools;
