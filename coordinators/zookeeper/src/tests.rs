mod anything;
mod bounds;
mod client;
mod ensemble;
mod sessions;
mod settling;
mod taps;
mod world;
