//! Guarantees of a server, tested through its bytes; one file for each.

mod anything;
mod blocking;
mod denied;
mod eviction;
mod expiry;
mod interlude;
mod loading;
mod messages;
mod output_limits;
mod propagation;
mod protocol;
mod replies;
mod shutdown;
mod taps;
mod transactions;
mod versions;
