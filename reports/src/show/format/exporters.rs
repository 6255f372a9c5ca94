//! Output formats that other tools read.

pub(crate) mod edn;
pub(crate) mod github;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod markdown;
pub(crate) mod markdown_cell;
pub(crate) mod markdown_comparison;
pub(crate) mod mermaid;
pub(crate) mod operations;
pub(crate) mod perfetto;
pub(crate) mod porcupine;
pub(crate) mod sarif;
pub(crate) mod shiviz;
