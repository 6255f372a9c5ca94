//! Tests of a server over its protocol, with a file for each guarantee.

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
