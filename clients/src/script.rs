//! Lua scripts, sent by their hash and in full only where a server does not know them. Must never know what a script does.

use crate::connection::Session;
use crate::connection::{CallError, Reply};
use crate::env::BoxFuture;
use crate::primary::Primary;
use sha1::{Digest, Sha1};
use std::sync::OnceLock;

/// A script and its hash.
pub struct Script {
    source: &'static str,
    hash: OnceLock<String>,
}

/// Somebody who can carry a command to a server.
pub trait Call {
    /// Sends a command and waits for its reply.
    fn call<'a>(&'a mut self, command: &'a [&'a [u8]]) -> BoxFuture<'a, Result<Reply, CallError>>;
}

impl Call for Session {
    fn call<'a>(&'a mut self, command: &'a [&'a [u8]]) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(Session::call(self, command))
    }
}

impl Call for Primary {
    fn call<'a>(&'a mut self, command: &'a [&'a [u8]]) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(Primary::call(self, command))
    }
}

impl Script {
    /// A script of this source text.
    pub const fn new(source: &'static str) -> Script {
        Script { source, hash: OnceLock::new() }
    }

    /// Runs the script: EVALSHA, and EVAL where the server answers NOSCRIPT (its cache is empty after a restart).
    pub async fn run(&self, server: &mut dyn Call, keys: &[&[u8]], arguments: &[&[u8]]) -> Result<Reply, CallError> {
        let count = keys.len().to_string();
        let mut command: Vec<&[u8]> = vec![b"EVALSHA", self.hash().as_bytes(), count.as_bytes()];
        command.extend(keys.iter().chain(arguments));
        match server.call(&command).await {
            Err(CallError::Refused(text)) if text.starts_with("NOSCRIPT") => {
                command[0] = b"EVAL";
                command[1] = self.source.as_bytes();
                server.call(&command).await
            }
            other => other,
        }
    }

    fn hash(&self) -> &str {
        self.hash.get_or_init(|| Sha1::digest(self.source).iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
