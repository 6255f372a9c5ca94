//! Turns inputs into outputs, as the outermost layer of the server.

pub(crate) mod admission;
pub(crate) mod cron;
pub(crate) mod dispatch;
pub(crate) mod finish;
pub(crate) mod following;
pub(crate) mod interlude;
pub(crate) mod loading;
pub(crate) mod node;
mod operator;
