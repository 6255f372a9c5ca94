//! The other published documents: each is a type, its views, and its reader.
//!
//! In: results of studies (many runs added up for one question). Out: [`matrix`], [`boundary`],
//! [`load`], [`certificate`], [`reality`], histories [`judged`] again, the store of [`findings`],
//! the pages of the [`gallery`], the [`schema`] of every published format, [`read`], which reads
//! any of them back, and the [`site`] of the documentation.

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
