//! Reading a certificate that may have been edited, cut short, or written by another version.

use super::{Certificate, FORMAT, VERSION};
use crate::record::checksum::{Damaged, Protection, Uncovered, verify};
use serde_json::Value;

/// Text that is no certificate of this version.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidCertificate {
    /// Not JSON, or not all of it.
    #[error("no JSON document, or cut short ({0}): expected a {FORMAT}")]
    Json(String),
    /// Another document.
    #[error("format '{0}': expected {FORMAT}")]
    Format(String),
    /// Another version of the format.
    #[error("{FORMAT} version {0}: expected {VERSION}, which this build writes")]
    Version(String),
    /// It is not as it was written.
    #[error("the certificate was edited or damaged: its checksum does not fit")]
    Damaged,
    /// It has no checksum.
    #[error("the certificate has no checksum: expected it as fencepost explore wrote it")]
    Unsealed,
    /// Sealed, and still not one.
    #[error("no certificate: {0}")]
    Content(String),
}

/// Reads a certificate. Errors: it is none, of another version, or not as it was written.
pub fn read(text: &str) -> Result<Certificate, InvalidCertificate> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| InvalidCertificate::Json(error.to_string()))?;
    let field = |name: &str| match document.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "none".to_owned(),
    };
    if field("format") != FORMAT {
        return Err(InvalidCertificate::Format(field("format")));
    }
    if field("version") != VERSION.to_string() {
        return Err(InvalidCertificate::Version(field("version")));
    }
    match verify(&document, Uncovered::Nothing) {
        Ok(Protection::Sound) => {}
        Ok(Protection::Absent) => return Err(InvalidCertificate::Unsealed),
        Err(Damaged) => return Err(InvalidCertificate::Damaged),
    }
    serde_json::from_value(document).map_err(|error| InvalidCertificate::Content(error.to_string()))
}
