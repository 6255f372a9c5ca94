//! Published documents, except reports and sweeps, and the views of these documents. Also document
//! readers, JSON Schemas, gallery pages and the documentation site.

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
