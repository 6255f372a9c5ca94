//! A key that stores its owner's random value (Redis documentation, "Distributed Locks with Redis",
//! "Correct Implementation with a Single Instance").

use crate::call_error::CallError;
use crate::commands::yes_or_no;
use crate::env::{Draw, Env};
use crate::lock::{Lease, Release, Settings};
use crate::reply::Reply;
use crate::script::Script;
use crate::session::Session;
use bytes::Bytes;

/// Maximum number of attempts to release a lock if calls fail.
pub const RELEASE_ATTEMPTS: usize = 3;

/// KEYS: lock. ARGV: owner. Returns 1 after deleting the key, otherwise 0.
pub static COMPARE_AND_DELETE: Script = Script::new(
    r#"if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("del",KEYS[1])
else
    return 0
end"#,
);

/// Draws 20 random bytes and returns them as 40 hexadecimal digits.
pub fn fresh_owner(env: &Env) -> Bytes {
    Bytes::copy_from_slice(&fresh_digits(env))
}

pub(crate) fn fresh_digits(env: &Env) -> [u8; 40] {
    let [first, second, third] = env.randoms::<3>(Draw::Owner);
    let mut digits = [[0; 8]; 5];
    for (digits, number) in
        digits.iter_mut().zip([first >> 32, first, second >> 32, second, third >> 32])
    {
        *digits = eight_digits(number as u32);
    }
    let mut all = [0; 40];
    all.copy_from_slice(digits.as_flattened());
    all
}

fn eight_digits(number: u32) -> [u8; 8] {
    const ONE_EACH: u64 = 0x0101_0101_0101_0101;
    let mut digits = u64::from(number);
    digits = (digits | digits << 16) & 0x0000_ffff_0000_ffff;
    digits = (digits | digits << 8) & 0x00ff_00ff_00ff_00ff;
    digits = (digits | digits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let letters = (digits + 6 * ONE_EACH) >> 4 & ONE_EACH;
    (digits + u64::from(b'0') * ONE_EACH + u64::from(b'a' - b'0' - 10) * letters).to_be_bytes()
}

/// KEYS: lock. ARGV: owner, ttl in milliseconds. Returns 1 after setting the ttl, otherwise 0.
pub static EXTEND_IF_OWNED: Script = Script::new(
    r#"if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("pexpire",KEYS[1],ARGV[2])
else
    return 0
end"#,
);

pub async fn set_if_absent(
    session: &mut Session,
    key: &str,
    owner: &[u8],
    ttl_ms: &str,
) -> Result<bool, CallError> {
    was_set(session.call(&set_if_absent_words(key, owner, ttl_ms)).await)
}

pub(crate) fn set_if_absent_words<'w>(
    key: &'w str,
    owner: &'w [u8],
    ttl_ms: &'w str,
) -> [&'w [u8]; 6] {
    [b"SET", key.as_bytes(), owner, b"NX", b"PX", ttl_ms.as_bytes()]
}

#[inline(always)]
pub(crate) fn was_set(outcome: Result<Reply, CallError>) -> Result<bool, CallError> {
    match outcome? {
        reply if reply.is_ok() => Ok(true),
        Reply::Nil => Ok(false),
        reply => Err(CallError::unexpected(&reply)),
    }
}

pub async fn delete_if_owned(
    session: &mut Session,
    key: &str,
    owner: &[u8],
) -> Result<bool, CallError> {
    yes_or_no(COMPARE_AND_DELETE.call(session, &[key.as_bytes()], &[owner]).await?)
}

pub async fn extend_if_owned(
    session: &mut Session,
    key: &str,
    owner: &[u8],
    ttl_ms: &str,
) -> Result<bool, CallError> {
    let arguments = [owner, ttl_ms.as_bytes()];
    yes_or_no(EXTEND_IF_OWNED.call(session, &[key.as_bytes()], &arguments).await?)
}

/// Deletes the key of an unconfirmed attempt. Returns `true` only if it deleted the key. A missing
/// key proves nothing, because the attempt's command may still arrive.
pub async fn undo(session: &mut Session, key: &str, owner: &[u8]) -> bool {
    delete_if_owned(session, key, owner).await == Ok(true)
}

pub async fn release(
    env: &Env,
    settings: &Settings,
    session: &mut Session,
    lease: &Lease,
) -> Release {
    let mut lost: Option<CallError> = None;
    let mut last = String::new();
    for attempt in 0..RELEASE_ATTEMPTS {
        if attempt > 0 {
            env.sleep(env.jitter(&settings.retry)).await;
        }
        match (delete_if_owned(session, &lease.resource, &lease.owner).await, &lost) {
            (Ok(true), _) => return Release::Released,
            (Ok(false), None) => return Release::NotHeld,
            (Ok(false), Some(first)) => {
                return Release::Unknown(format!("released or expired: {first}"));
            }
            (Err(error), _) => {
                last = error.to_string();
                lost = lost.or(Some(error).filter(CallError::may_have_applied));
            }
        }
    }
    Release::Unknown(match lost {
        Some(first) => first.to_string(),
        None => format!("not released: {last}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digits_are_those_of_the_standard_library(number: u32) {
            prop_assert_eq!(eight_digits(number).to_vec(), format!("{number:08x}").into_bytes());
        }
    }
}
