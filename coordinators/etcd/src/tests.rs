mod anything;
mod cluster;
mod taps;
mod world;
