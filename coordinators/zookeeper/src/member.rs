//! What a member of an ensemble remembers, as whatever it is, and what members say to each other.

pub(crate) mod election;
pub(crate) mod follower;
pub(crate) mod leader;
pub(crate) mod learners;
pub(crate) mod links;
pub(crate) mod message;
pub(crate) mod stage;
