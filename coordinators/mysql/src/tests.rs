mod anything;
mod depth;
mod tables;
mod taps;
mod time;
mod world;
