use super::unfinished::{self, Unfinished};
use super::{Certificate, FORMAT, VERSION, VERSION_WITH_DELAYS};
use crate::record::checksum::{Damaged, Protection, Uncovered, verify};
use serde::de::DeserializeOwned;
use serde_json::Value;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidCertificate {
    #[error("invalid or truncated JSON ({0}): expected a {1}")]
    Json(String, &'static str),
    #[error("format '{0}': expected {1}")]
    Format(String, &'static str),
    #[error(
        "unknown {1} version {0}: expected {VERSION} or {VERSION_WITH_DELAYS}, the versions of \
         this build"
    )]
    Version(String, &'static str),
    #[error("the checksum does not match the content: the file was damaged or edited")]
    Damaged,
    #[error("the document has no checksum: expected the file that `fencepost explore` wrote")]
    Unsealed,
    #[error("not a valid {1}: {0}")]
    Content(String, &'static str),
}

pub fn read(text: &str) -> Result<Certificate, InvalidCertificate> {
    sealed(text, FORMAT)
}

pub fn read_unfinished(text: &str) -> Result<Unfinished, InvalidCertificate> {
    sealed(text, unfinished::FORMAT)
}

fn sealed<T: DeserializeOwned>(text: &str, format: &'static str) -> Result<T, InvalidCertificate> {
    let document: Value = serde_json::from_str(text)
        .map_err(|error| InvalidCertificate::Json(error.to_string(), format))?;
    let field = |name: &str| match document.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "none".to_owned(),
    };
    if field("format") != format {
        return Err(InvalidCertificate::Format(field("format"), format));
    }
    let versions = [VERSION, VERSION_WITH_DELAYS].map(|version| version.to_string());
    if !versions.contains(&field("version")) {
        return Err(InvalidCertificate::Version(field("version"), format));
    }
    match verify(&document, Uncovered::Nothing) {
        Ok(Protection::Sound) => {}
        Ok(Protection::Absent) => return Err(InvalidCertificate::Unsealed),
        Err(Damaged) => return Err(InvalidCertificate::Damaged),
    }
    serde_json::from_value(document)
        .map_err(|error| InvalidCertificate::Content(error.to_string(), format))
}
