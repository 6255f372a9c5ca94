mod anything;
mod locks;
mod membership;
mod reality;
mod world;
