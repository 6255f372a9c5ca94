//! The published documents other than runs and sweeps, each with its type, views and reader.

pub mod boundary;
pub mod certificate;
pub mod findings;
pub mod gallery;
pub mod judged;
pub mod load;
pub mod matrix;
pub mod read;
pub mod reality;
pub mod schema;
pub mod site;
