//! Plain Redis commands. A `bool` result is `true` if the command changed the key.

use crate::call_error::CallError;
use crate::reply::Reply;
use crate::session::Session;
use bytes::Bytes;
use std::time::Duration;

pub async fn set_nx(session: &mut Session, key: &str, value: &[u8]) -> Result<bool, CallError> {
    yes_or_no(session.call(&[b"SETNX", key.as_bytes(), value]).await?)
}

pub async fn set_nx_ex(
    session: &mut Session,
    key: &str,
    value: &[u8],
    ttl: Duration,
) -> Result<bool, CallError> {
    let seconds = whole_seconds(ttl).to_string();
    match session.call(&[b"SET", key.as_bytes(), value, b"NX", b"EX", seconds.as_bytes()]).await? {
        reply if reply.is_ok() => Ok(true),
        Reply::Nil => Ok(false),
        reply => Err(CallError::unexpected(&reply)),
    }
}

pub async fn set_px(
    session: &mut Session,
    key: &str,
    value: &[u8],
    ttl: Duration,
) -> Result<(), CallError> {
    let ttl_ms = ttl.as_millis().to_string();
    match session.call(&[b"SET", key.as_bytes(), value, b"PX", ttl_ms.as_bytes()]).await? {
        reply if reply.is_ok() => Ok(()),
        reply => Err(CallError::unexpected(&reply)),
    }
}

pub async fn get(session: &mut Session, key: &str) -> Result<Option<Bytes>, CallError> {
    value_or_nil(session.call(&[b"GET", key.as_bytes()]).await?)
}

/// Returns the old value. GETSET also removes the key's expiry, as a plain SET does.
pub async fn get_set(
    session: &mut Session,
    key: &str,
    value: &[u8],
) -> Result<Option<Bytes>, CallError> {
    value_or_nil(session.call(&[b"GETSET", key.as_bytes(), value]).await?)
}

pub async fn delete(session: &mut Session, key: &str) -> Result<bool, CallError> {
    yes_or_no(session.call(&[b"DEL", key.as_bytes()]).await?)
}

pub async fn expire(session: &mut Session, key: &str, ttl: Duration) -> Result<bool, CallError> {
    let seconds = whole_seconds(ttl).to_string();
    yes_or_no(session.call(&[b"EXPIRE", key.as_bytes(), seconds.as_bytes()]).await?)
}

pub async fn expire_ms(session: &mut Session, key: &str, ttl: Duration) -> Result<bool, CallError> {
    let ttl_ms = ttl.as_millis().to_string();
    yes_or_no(session.call(&[b"PEXPIRE", key.as_bytes(), ttl_ms.as_bytes()]).await?)
}

pub async fn server_time_ms(session: &mut Session) -> Result<i64, CallError> {
    let reply = session.call(&[b"TIME"]).await?;
    let number = |index: usize| -> Option<i64> {
        std::str::from_utf8(reply.as_array()?.get(index)?.as_bytes()?).ok()?.parse().ok()
    };
    match (number(0), number(1)) {
        (Some(seconds), Some(micros)) => {
            Ok(seconds.saturating_mul(1_000).saturating_add(micros / 1_000))
        }
        _ => Err(CallError::unexpected(&reply)),
    }
}

/// Rounds up, so that a lock does not expire earlier than requested.
pub fn whole_seconds(span: Duration) -> u64 {
    span.as_secs() + u64::from(span.subsec_nanos() > 0)
}

pub(crate) fn yes_or_no(reply: Reply) -> Result<bool, CallError> {
    match reply {
        Reply::Integer(1) => Ok(true),
        Reply::Integer(0) => Ok(false),
        reply => Err(CallError::unexpected(&reply)),
    }
}

fn value_or_nil(reply: Reply) -> Result<Option<Bytes>, CallError> {
    match reply {
        Reply::Bulk(value) => Ok(Some(value)),
        Reply::Nil => Ok(None),
        reply => Err(CallError::unexpected(&reply)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Answer, Call, TestWorld, at, normal};

    const LIMIT: Duration = Duration::from_millis(500);

    #[test]
    fn a_ttl_in_seconds_is_never_shorter_than_asked_for() {
        for (ms, seconds) in [(10_000, 10), (10_001, 11), (1, 1), (0, 0)] {
            assert_eq!(whole_seconds(Duration::from_millis(ms)), seconds, "{ms} ms");
        }
    }

    #[test]
    fn the_time_of_the_server_is_its_wall_clock() {
        let world = TestWorld::new();
        world.serve("redis", normal);
        let mut session = Session::fixed(&world.env(), &at("redis"), LIMIT);
        assert_eq!(world.run(server_time_ms(&mut session)), Ok(1_700_000_000_001));
    }

    #[test]
    fn a_reply_that_the_command_never_has_is_unknown_for_every_command() {
        let world = TestWorld::new();
        world.serve("redis", |call: &Call<'_>| match call.name() {
            "CONNECT" => Answer::Normal,
            _ => Answer::Says("*0\r\n"),
        });
        let mut session = Session::fixed(&world.env(), &at("redis"), LIMIT);
        let second = Duration::from_secs(1);
        let errors = world.run(async {
            [
                set_nx(&mut session, "k", b"v").await.err(),
                set_nx_ex(&mut session, "k", b"v", second).await.err(),
                set_px(&mut session, "k", b"v", second).await.err(),
                get(&mut session, "k").await.err(),
                get_set(&mut session, "k", b"v").await.err(),
                delete(&mut session, "k").await.err(),
                expire(&mut session, "k", second).await.err(),
                expire_ms(&mut session, "k", second).await.err(),
                server_time_ms(&mut session).await.err(),
            ]
        });
        for (number, error) in errors.iter().enumerate() {
            assert!(
                error.as_ref().is_some_and(CallError::may_have_applied),
                "command {number}: {error:?}"
            );
        }
    }
}
