//! `etcd-lock-api`: the lock built into etcd's server, `/v3/lock/lock` and `/v3/lock/unlock`.
//! Source: etcd 3.4.23, `etcdserver/api/v3lock/lock.go` and `v3lock.proto`. The client keeps the
//! lease alive and calls the server. The 3.4 server has this mistake: **it does not check the
//! caller's key after the wait**, so it may grant the lock to a caller whose lease has ended (etcd
//! issue 11456). The servers of `etcd-lock-api-fixed` check the key, as in 3.5.0.

use super::gateway::{Failure, Gateway};
use super::session::Session;
use super::{lease_of, name_of, number, to_base64};
use crate::env::{Env, Monotonic};
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, Lease, Lock, Release, ServerLock, Servers,
    Settings,
};
use serde_json::{Value, json};
use std::rc::Rc;
use std::time::Duration;

pub const DEFINITION: Definition = Definition {
    name: "etcd-lock-api",
    about: "etcd 3.4's server-side Lock, which grants the lock even to a waiter with an ended \
            lease",
    deployment: Deployment::Etcd(ServerLock::Unchecked),
    has_tokens: false,
    is_fair: false,
    models: Some("etcd 3.4.23, v3lock"),
    build,
};

pub const FIXED: Definition = Definition {
    name: "etcd-lock-api-fixed",
    about: "etcd-lock-api on servers that check the caller's key first, as etcd does since 3.5.0",
    deployment: Deployment::Etcd(ServerLock::Checked),
    models: Some("etcd 3.5.0, v3lock"),
    ..DEFINITION
};

fn build(env: Env, servers: &Servers, settings: &Settings) -> Box<dyn Lock> {
    let gateway = Rc::new(Gateway::new(&env, servers, settings));
    let (ttl, acquire_timeout) = (settings.ttl, settings.acquire_timeout);
    Box::new(ServerSide { gateway, ttl, acquire_timeout, session: None })
}

struct ServerSide {
    gateway: Rc<Gateway>,
    ttl: Duration,
    acquire_timeout: Duration,
    session: Option<Session>,
}

impl ServerSide {
    async fn ask(&self, resource: &str, lease: i64, deadline: Monotonic) -> Result<(), String> {
        let env = self.gateway.env();
        let body = json!({"name": to_base64(resource), "lease": lease.to_string()}).to_string();
        let left = deadline.since(env.monotonic_clock()).max(self.gateway.timeout());
        let call = async {
            let mut link = self.gateway.link().await?;
            let (status, answer) = link.ask_without_timeout("lock/lock", &body).await?;
            let told: Value = serde_json::from_slice(&answer).unwrap_or_default();
            match status {
                200 => Ok(()),
                _ => Err(Failure::Refused(told["message"].as_str().unwrap_or_default().to_owned())),
            }
        };
        match env.timeout(left, call).await {
            Some(outcome) => outcome.map_err(|failure: Failure| failure.to_string()),
            None => Err("held by another".to_owned()),
        }
    }
}

impl Algorithm for ServerSide {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let env = self.gateway.env().clone();
        let deadline = env.monotonic_clock().plus(self.acquire_timeout);
        let session = match Session::open(&self.gateway, self.ttl, deadline).await {
            Ok(session) => session,
            Err(failure) => return Acquisition::Refused(failure.to_string().into()),
        };
        let why = match self.ask(resource, session.lease, deadline).await {
            Ok(()) => {
                let lease = lease_of(resource, session.lease, None);
                self.session = Some(session);
                return Acquisition::Granted(lease);
            }
            Err(why) => why,
        };
        // The end of the lease deletes the lock's key if the server has created the key.
        match session.close().await {
            Ok(()) => Acquisition::Refused(why.into()),
            Err(failure) if !failure.may_have_applied() => Acquisition::Refused(why.into()),
            Err(_) => Acquisition::Unknown(why),
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let Some(session) = self.session.take() else { return Release::NotHeld };
        let key = to_base64(format!("{}/{}", lease.resource, name_of(session.lease)));
        // The answer does not say whether the server deleted a key.
        let unlocked = self.gateway.call("lock/unlock", &json!({"key": key})).await;
        let closed = session.close().await;
        match (unlocked, closed) {
            (Ok(told), _) if number(&told["header"]["revision"]) > 0 => Release::Released,
            (_, Ok(())) => Release::Released,
            (Ok(_), Err(failure)) | (Err(failure), Err(_)) => Release::Unknown(failure.to_string()),
        }
    }
}
