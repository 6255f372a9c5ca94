//! `WAIT` after a grant: the client gives up a lock that too few replicas have acknowledged.
//! Source: Redis documentation, `WAIT numreplicas timeout`. A failover may still lose an
//! acknowledged lock. Since Redis 7.2, WAIT covers only the connection's own writes.

use crate::call_error::CallError;
use crate::lock::{Acquisition, ReplicaWait};
use crate::owned_key::undo;
use crate::reply::Reply;
use crate::session::Session;
use std::time::Duration;

/// Returns `None` if `wait` is `None` or enough replicas acknowledged the lock. Otherwise tries to
/// delete the key and returns the result of the acquire.
pub async fn given_up(
    wait: Option<ReplicaWait>,
    session: &mut Session,
    resource: &str,
    owner: &[u8],
) -> Option<Acquisition> {
    let ReplicaWait { replicas, timeout } = wait?;
    let reason = match acknowledged(session, replicas, timeout).await {
        Ok(count) if count >= i64::from(replicas) => return None,
        Ok(count) => format!("only {count} of {replicas} replicas have the lock"),
        Err(error) => format!("no replica is known to have the lock: {error}"),
    };
    Some(match undo(session, resource, owner).await {
        true => Acquisition::Refused(reason.into()),
        false => Acquisition::Unknown(reason),
    })
}

async fn acknowledged(
    session: &mut Session,
    replicas: u16,
    timeout: Duration,
) -> Result<i64, CallError> {
    let (replicas, timeout_ms) = (replicas.to_string(), timeout.as_millis().max(1).to_string());
    match session
        .call_on_the_same_connection(&[b"WAIT", replicas.as_bytes(), timeout_ms.as_bytes()])
        .await?
    {
        Reply::Integer(count) => Ok(count),
        reply => Err(CallError::unexpected(&reply)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::Settings;
    use crate::testing::{Answer, Call, TestWorld, granted, normal, once, one, settings};

    fn waiting() -> Settings {
        let wait = ReplicaWait { replicas: 1, timeout: Duration::from_millis(200) };
        Settings { wait: Some(wait), acquire_timeout: Duration::from_millis(50), ..settings() }
    }

    fn answering(reply: &'static str) -> impl FnMut(&Call<'_>) -> Answer {
        move |call| if call.name() == "WAIT" { Answer::Says(reply) } else { normal(call) }
    }

    #[test]
    fn a_grant_that_a_replica_has_stands() {
        let world = TestWorld::new();
        world.serve("redis", answering(":1\r\n"));
        let mut lock = world.lock("single-node", &one(), &waiting());
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.value("redis", "lock").unwrap().as_bytes(), lease.owner);
        insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SET lock owner-1 NX PX 10000 > +OK
        2.000 redis #1 < WAIT 1 200 > :1
        ");
    }

    #[test]
    fn a_grant_that_too_few_replicas_have_is_given_up() {
        for name in ["single-node", "fencing"] {
            let world = TestWorld::new();
            world.serve("redis", answering(":0\r\n"));
            let mut lock = world.lock(name, &one(), &waiting());
            let refused = Acquisition::Refused("only 0 of 1 replicas have the lock".into());
            assert_eq!(world.run(lock.acquire("lock")), refused, "{name}");
            assert_eq!(world.value("redis", "lock"), None, "{name}");
        }
    }

    #[test]
    fn a_connection_that_is_lost_after_the_grant_confirms_nothing() {
        let world = TestWorld::new();
        world.serve("redis", once("WAIT", Answer::ResetBefore));
        let mut lock = world.lock("single-node", &one(), &waiting());
        let acquisition = world.run(lock.acquire("lock"));
        assert!(
            matches!(&acquisition, Acquisition::Refused(reason) if reason.contains("no replica")),
            "{acquisition:?}"
        );
        let trace = world.trace();
        assert!(
            !trace.contains("redis #2 < WAIT"),
            "another connection has written nothing: {trace}"
        );
    }
}
