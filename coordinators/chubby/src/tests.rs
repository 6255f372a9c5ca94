mod anything;
mod cell;
mod locks;
mod world;
