//! Lua scripts ([`Script`]), which EVALSHA calls by digest (Redis documentation, "EVALSHA"). A
//! server that does not know the script, for example after a restart, replies NOSCRIPT.

use crate::call_error::CallError;
use crate::reply::Reply;
use crate::session::Session;
use sha1::{Digest, Sha1};
use std::borrow::Cow;
use std::sync::OnceLock;

const SMALL_COUNTS: [&str; 4] = ["0", "1", "2", "3"];

/// Make a script a `static`, so that its digest is computed only once. Only the first write of a
/// script may fail, because Redis keeps the writes that precede a failure.
pub struct Script {
    source: &'static str,
    digest: OnceLock<String>,
}

impl Script {
    pub const fn new(source: &'static str) -> Script {
        Script { source, digest: OnceLock::new() }
    }

    pub fn source(&self) -> &'static str {
        self.source
    }

    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| {
            Sha1::digest(self.source).iter().map(|byte| format!("{byte:02x}")).collect()
        })
    }

    pub async fn call(
        &self,
        session: &mut Session,
        keys: &[&[u8]],
        arguments: &[&[u8]],
    ) -> Result<Reply, CallError> {
        let few = SMALL_COUNTS.get(keys.len()).copied().map(Cow::Borrowed);
        let key_count = few.unwrap_or_else(|| Cow::Owned(keys.len().to_string()));
        let mut words: Vec<&[u8]> = Vec::with_capacity(3 + keys.len() + arguments.len());
        words.extend_from_slice(&[b"EVALSHA", self.digest().as_bytes(), key_count.as_bytes()]);
        words.extend_from_slice(keys);
        words.extend_from_slice(arguments);
        match session.call(&words).await {
            Err(CallError::Server(error)) if error.starts_with("NOSCRIPT") => {
                words[0] = b"EVAL";
                words[1] = self.source.as_bytes();
                session.call(&words).await
            }
            outcome => outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_what_redis_computes() {
        assert_eq!(
            Script::new("return 'Immabe a cached script'").digest(),
            "c664a3bf70bd1d45c4284ffebb65a6f2299bfc9f"
        );
    }
}
