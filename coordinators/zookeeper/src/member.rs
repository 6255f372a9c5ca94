//! The state of an ensemble member in each role, and the messages between members.

pub(crate) mod election;
pub(crate) mod follower;
pub(crate) mod leader;
pub(crate) mod learners;
pub(crate) mod links;
pub(crate) mod message;
pub(crate) mod stage;
