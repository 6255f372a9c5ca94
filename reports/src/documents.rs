//! Published documents other than reports and sweeps, with their output formats (views), the
//! readers and schemas of the formats, gallery pages and the documentation's site.

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
