//! Published documents other than reports and sweeps. Each document has a type, output formats
//! (views) and a reader.

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
