//! Owner values: what a lock writes to say whose it is. Must never know where they are written.

use crate::connection::{CallError, Reply};
use crate::env::{Draw, Env};
use crate::script::{Call, Script};
use bytes::Bytes;
use std::fmt::Write;

/// Deletes the key only if it still holds our value ("Correct Implementation with a Single Instance", redis.io, "Distributed Locks with Redis").
static COMPARE_AND_DELETE: Script = Script::new(
    "if redis.call(\"get\",KEYS[1]) == ARGV[1] then\n    return redis.call(\"del\",KEYS[1])\nelse\n    return 0\nend",
);

/// A fresh value of 20 random bytes in hex, as the document asks for.
pub fn fresh(env: &Env) -> Bytes {
    let mut text = String::with_capacity(40);
    for digits in [16, 16, 8] {
        let bits = env.random(Draw::Owner) >> (64 - 4 * digits);
        write!(text, "{bits:0digits$x}", digits = digits as usize).expect("writing to a string does not fail");
    }
    Bytes::from(text)
}

/// What came of deleting a key by its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deletion {
    /// The key held our value and is gone.
    Deleted,
    /// The key did not hold our value.
    NotOurs,
}

/// Deletes `key` at a server if it still holds `owner`.
pub async fn compare_and_delete(server: &mut dyn Call, key: &str, owner: &[u8]) -> Result<Deletion, CallError> {
    match COMPARE_AND_DELETE.run(server, &[key.as_bytes()], &[owner]).await? {
        Reply::Integer(1) => Ok(Deletion::Deleted),
        Reply::Integer(0) => Ok(Deletion::NotOurs),
        other => Err(CallError::Lost(format!("the script answered {other:?}"))),
    }
}
