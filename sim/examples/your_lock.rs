//! Tests your own lock. Copy this file into `tests/` of a crate that depends on fencepost. To run
//! the example here, use `cargo test -p fencepost --example your_lock`.
//!
//! The lock sets a random value with SET NX PX, and compares the value with GET before DEL.

use fencepost::clients::owned_key::{fresh_owner, set_if_absent};
use fencepost::clients::{
    Acquisition, Algorithm, Definition, Deployment, Env, Lease, Release, Retry, Session, Settings,
};
use fencepost::testing::{Expect, LockTest};

const YOUR_LOCK: Definition = Definition {
    name: "your-lock",
    about: "SET key value NX PX ttl; GET, compare, DEL",
    deployment: Deployment::Primary,
    has_tokens: false,
    is_fair: false,
    models: None,
    build: |env, servers, settings| {
        let redis = Session::primary(&env, servers, settings);
        Box::new(YourLock { env, redis, settings: settings.clone() })
    },
};

struct YourLock {
    env: Env,
    redis: Session,
    settings: Settings,
}

impl Algorithm for YourLock {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let YourLock { env, redis, settings } = self;
        let ttl_ms = settings.ttl.as_millis().to_string();
        let attempt = async || {
            let owner = fresh_owner(env);
            match set_if_absent(redis, resource, &owner, &ttl_ms).await {
                Ok(true) => {
                    let resource = resource.to_owned();
                    Acquisition::Granted(Lease { resource, owner, token: None, valid_until: None })
                }
                Ok(false) => Acquisition::Refused("held by another".into()),
                // The server may have granted the lock although its reply was lost.
                Err(error) if error.may_have_applied() => Acquisition::Unknown(error.to_string()),
                Err(error) => Acquisition::Refused(error.to_string().into()),
            }
        };
        Retry::start(env, settings).until_granted(attempt).await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let key = lease.resource.as_bytes();
        match self.redis.call(&[b"GET", key]).await {
            Ok(reply) if reply.as_bytes() != Some(&lease.owner[..]) => return Release::NotHeld,
            Ok(_) => {}
            Err(error) => return Release::Unknown(error.to_string()),
        }
        // The lock may expire and another process may acquire it between GET and DEL.
        match self.redis.call(&[b"DEL", key]).await {
            Ok(_) => Release::Released,
            Err(error) => Release::Unknown(error.to_string()),
        }
    }
}

fn main() {
    match LockTest::new(&YOUR_LOCK).faults("pause").seeds(0..50).expect(Expect::Safe).check() {
        Ok(_) => println!("no seed shows anything"),
        Err(failure) => println!("{failure}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost::setup::scenario::Persistence;
    use fencepost::setup::span::{Span, SpanRange};
    use fencepost::testing::Kind;

    fn your_lock() -> LockTest {
        LockTest::new(&YOUR_LOCK).seeds(0..60)
    }

    #[test]
    fn it_excludes_without_faults_and_when_holders_die() {
        your_lock().faults("none,client-crash,lost-reply").expect(Expect::Safe).run();
    }

    #[test]
    fn a_restart_that_forgets_nothing_is_safe() {
        let synced =
            your_lock().scenario(|scenario| scenario.servers.persistence = Persistence::AofAlways);
        synced.faults("restart").expect(Expect::Never(vec![Kind::Overlap])).run();
    }

    #[test]
    fn a_pause_breaks_it_as_it_breaks_every_lease() {
        your_lock().faults("pause").expect(Expect::Violates(vec![Kind::Overlap])).run();
    }

    #[test]
    fn a_pause_between_get_and_del_removes_anothers_lock() {
        let slow = your_lock().seeds(0..300).scenario(|scenario| {
            scenario.timing.latency = SpanRange::new(Span::millis(20), Span::millis(80));
            scenario.ttl = Span::secs(2);
            scenario.fault_window = SpanRange::new(Span::millis(500), Span::secs(60));
        });
        slow.faults("pause").expect(Expect::Violates(vec![Kind::ForeignRelease])).run();
    }
}
