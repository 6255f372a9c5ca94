//! `fencing`: `single-node` with a fencing token. Sources: Redis documentation, "Distributed Locks
//! with Redis"; Martin Kleppmann, "How to do distributed locking" (2016). The script that takes the
//! lock also increments a counter, which never expires and is as durable as its server.

use crate::call_error::CallError;
use crate::env::Env;
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, FencingToken, Lease, Release, Settings,
};
use crate::owned_key::{fresh_owner, release, undo};
use crate::replica_wait::given_up;
use crate::reply::Reply;
use crate::retry::Retry;
use crate::script::Script;
use crate::session::Session;

pub const DEFINITION: Definition = Definition {
    name: "fencing",
    about: "single-node with a fencing token, incremented by the script that takes the lock",
    deployment: Deployment::Primary,
    has_tokens: true,
    is_fair: false,
    models: None,
    build: |env, servers, settings| {
        Box::new(Fencing {
            redis: Session::primary(&env, servers, settings),
            ttl_ms: settings.ttl.as_millis().to_string(),
            settings: settings.clone(),
            env,
        })
    },
};

/// KEYS: lock, counter. ARGV: owner, ttl in milliseconds. Returns the token, or nil if the lock
/// exists. INCR precedes SET, so that a failed INCR does not leave the lock taken.
pub static ACQUIRE: Script = Script::new(
    r#"if redis.call("exists",KEYS[1]) == 1 then
    return false
end
local token = redis.call("incr",KEYS[2])
redis.call("set",KEYS[1],ARGV[1],"NX","PX",ARGV[2])
return token"#,
);

pub fn counter_key(resource: &str) -> String {
    format!("{resource}:token")
}

struct Fencing {
    env: Env,
    settings: Settings,
    redis: Session,
    ttl_ms: String,
}

impl Fencing {
    async fn attempt(&mut self, resource: &str) -> Acquisition {
        let owner = fresh_owner(&self.env);
        match self.take(resource, &owner).await {
            Ok(Some(token)) => {
                match given_up(self.settings.wait, &mut self.redis, resource, &owner).await {
                    Some(given_up) => given_up,
                    None => {
                        let resource = resource.to_owned();
                        Acquisition::Granted(Lease {
                            resource,
                            owner,
                            token: Some(token),
                            valid_until: None,
                        })
                    }
                }
            }
            Ok(None) => Acquisition::Refused("held by another".into()),
            Err(error)
                if error.may_have_applied() && !undo(&mut self.redis, resource, &owner).await =>
            {
                Acquisition::Unknown(error.to_string())
            }
            Err(error) => Acquisition::Refused(error.to_string().into()),
        }
    }

    async fn take(
        &mut self,
        resource: &str,
        owner: &[u8],
    ) -> Result<Option<FencingToken>, CallError> {
        let counter = counter_key(resource);
        let keys = [resource.as_bytes(), counter.as_bytes()];
        match ACQUIRE.call(&mut self.redis, &keys, &[owner, self.ttl_ms.as_bytes()]).await? {
            Reply::Nil => Ok(None),
            Reply::Integer(token) if token > 0 => Ok(Some(FencingToken(token.unsigned_abs()))),
            reply => Err(CallError::unexpected(&reply)),
        }
    }
}

impl Algorithm for Fencing {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        Retry::start(&self.env, &self.settings)
            .until_granted(async || self.attempt(resource).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        release(&self.env, &self.settings, &mut self.redis, &lease).await
    }
}

#[cfg(test)]
mod tests;
