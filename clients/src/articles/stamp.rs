//! Times that locks store in the value of their key.

use super::AttemptFailure;
use crate::call_error::CallError;
use crate::commands::yes_or_no;
use crate::env::Env;
use crate::owned_key::fresh_owner;
use crate::script::Script;
use crate::session::Session;
use bytes::Bytes;

/// KEYS: lock. ARGV: the expected and the new value. Returns 1 after setting the key, otherwise 0.
pub static COMPARE_AND_SET: Script = Script::new(
    r#"if redis.call("get",KEYS[1]) == ARGV[1] then
    redis.call("set",KEYS[1],ARGV[2])
    return 1
else
    return 0
end"#,
);

pub async fn set_if_unchanged(
    session: &mut Session,
    key: &str,
    seen: &[u8],
    value: &[u8],
) -> Result<bool, CallError> {
    yes_or_no(COMPARE_AND_SET.call(session, &[key.as_bytes()], &[seen, value]).await?)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// Only a time. A waiter takes over the lock with GETSET.
    Bare,
    /// A time and an owner. Scripts compare the whole value before they change the key.
    Owned,
}

impl Value {
    pub(super) fn of(self, time: i64, env: &Env) -> Bytes {
        match self {
            Value::Bare => bare(time),
            Value::Owned => owned(time, env),
        }
    }
}

pub fn bare(time: i64) -> Bytes {
    Bytes::from(time.to_string())
}

fn owned(time: i64, env: &Env) -> Bytes {
    Bytes::from([time.to_string().as_bytes(), b":", &fresh_owner(env)].concat())
}

pub fn time_of(value: &[u8]) -> Option<i64> {
    let digits = value.split(|byte| *byte == b':').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

pub(super) fn time_in(value: &[u8]) -> Result<i64, AttemptFailure> {
    time_of(value).ok_or_else(|| AttemptFailure::Failed("the key's value is not a time".to_owned()))
}

pub fn now_ms(env: &Env) -> i64 {
    env.wall_clock().as_millis()
}

pub fn now_seconds(env: &Env) -> i64 {
    now_ms(env).div_euclid(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_value_is_what_stands_before_the_owner() {
        for (value, time) in
            [("17", Some(17)), ("17:ab", Some(17)), ("-3", Some(-3)), ("", None), ("ab:17", None)]
        {
            assert_eq!(time_of(value.as_bytes()), time, "{value}");
        }
    }
}
