//! A server's state: its parts, and the type that owns them.

pub(crate) mod blocking;
pub(crate) mod busy;
pub(crate) mod client;
pub(crate) mod client_key;
pub(crate) mod clock;
pub(crate) mod command_info;
pub(crate) mod configuration;
pub(crate) mod effects;
pub(crate) mod life;
pub(crate) mod outbox;
pub(crate) mod pause;
pub(crate) mod persistence;
pub(crate) mod pubsub;
pub(crate) mod replication;
pub(crate) mod roster;
pub(crate) mod scripts;
pub(crate) mod server;
pub(crate) mod statistics;
pub(crate) mod subscription;
pub(crate) mod timers;
pub(crate) mod turn;
pub(crate) mod unread;
pub(crate) mod watches;
