//! `fencing`: as `single-node`, and every grant comes with a number that only ever grows. Must never know the storage that checks it.
//!
//! Kleppmann, "How to do distributed locking" (2016): the lock service hands out a token with each grant, the storage rejects every request whose
//! token is lower than one it has seen. The token is an INCR in the same script as the grant, so that tokens follow the order of grants; it is as
//! durable as the server that counts.

use crate::connection::{CallError, Reply};
use crate::env::{BoxFuture, Env};
use crate::lock::{Acquisition, FencingToken, Lease, Lock, Release, Servers, Settings};
use crate::owner::{self, Deletion};
use crate::primary::Primary;
use crate::script::Script;
use crate::single_node::{Patience, release_at};

/// Takes the lock and the next token at once; 0 if it is held.
static ACQUIRE: Script = Script::new(
    "if redis.call(\"set\",KEYS[1],ARGV[1],\"NX\",\"PX\",ARGV[2]) then\n    return redis.call(\"incr\",KEYS[2])\nelse\n    return 0\nend",
);

/// The lock of one process.
pub struct Fencing {
    env: Env,
    primary: Primary,
    settings: Settings,
}

impl Fencing {
    /// The lock of one process, for the table of locks.
    pub fn build(env: Env, servers: &Servers, settings: &Settings) -> Box<dyn Lock> {
        Box::new(Fencing { primary: Primary::new(env.clone(), servers, settings), env, settings: settings.clone() })
    }

    /// One attempt: the token if the lock was granted, `None` if it is held.
    async fn attempt(&mut self, resource: &str, owner: &[u8]) -> Result<Option<FencingToken>, CallError> {
        let ttl = self.settings.ttl.as_millis().to_string();
        let counter = format!("token:{resource}");
        let keys: [&[u8]; 2] = [resource.as_bytes(), counter.as_bytes()];
        match ACQUIRE.run(&mut self.primary, &keys, &[owner, ttl.as_bytes()]).await? {
            Reply::Integer(0) => Ok(None),
            Reply::Integer(token) if token > 0 => Ok(Some(FencingToken(token.unsigned_abs()))),
            other => Err(CallError::Lost(format!("the script answered {other:?}"))),
        }
    }

    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let mut patience = Patience::new(&self.env, &self.settings);
        loop {
            let owner = owner::fresh(&self.env);
            match self.attempt(resource, &owner).await {
                Ok(Some(token)) => {
                    let (resource, token) = (resource.to_owned(), Some(token));
                    return Acquisition::Granted(Lease { resource, owner, token, valid_until: None });
                }
                Ok(None) => patience.held(),
                Err(error @ CallError::Lost(_)) => {
                    let undone = owner::compare_and_delete(&mut self.primary, resource, &owner).await;
                    patience.doubtful(error, undone == Ok(Deletion::Deleted));
                }
                Err(error) => patience.failed(error),
            }
            if patience.is_exhausted() {
                return patience.give_up();
            }
            self.env.sleep(self.env.jitter(&self.settings.retry)).await;
        }
    }
}

impl Lock for Fencing {
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
        Box::pin(Fencing::acquire(self, resource))
    }

    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release> {
        Box::pin(release_at(&mut self.primary, lease))
    }
}
