mod anything;
mod depth;
mod replication;
mod serializable;
mod taps;
mod time;
mod transactions;
mod world;
