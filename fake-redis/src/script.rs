//! Runs the scripts of EVAL and related commands.

mod convert;
mod engine;
mod evaluate;
mod functions;
mod host;
mod lend;
mod library;
mod limits;
mod order;
mod random;
mod run;
mod shared;
mod strings;
#[cfg(test)]
mod tests;
mod values;
mod walks;
mod watch;
mod wrappers;
