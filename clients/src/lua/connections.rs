use crate::call_error::CallError;
use crate::env::{Address, Env};
use crate::etcd::{self, gateway::Gateway};
use crate::lock::{Coordinator, Deployment, Servers, Settings};
use crate::reply::Reply;
use crate::session::Session;
use crate::zookeeper::ensemble::{Client, Ensemble};
use crate::zookeeper::shared::SessionOptions;
use crate::zookeeper::watches::Watcher;
use crate::{memcached, mysql, sql};
use sha1::{Digest, Sha1};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

pub(super) struct Place {
    pub(super) env: Env,
    pub(super) servers: Servers,
    pub(super) settings: Settings,
    pub(super) deployment: Deployment,
    pub(super) keeper: Option<ZooKeeperConnection>,
    pub(super) cluster: Option<Cluster>,
    pub(super) digests: RefCell<BTreeMap<bytes::Bytes, Rc<str>>>,
}

pub(super) struct Connections {
    redis: Vec<Slot<Session>>,
    pub(super) other_coordinator: CoordinatorConnection,
}

pub(super) struct ZooKeeperConnection {
    pub(super) client: Client,
    pub(super) watcher: Rc<Watcher>,
}

pub(super) struct Cluster {
    pub(super) gateway: Rc<Gateway>,
    pub(super) sessions: RefCell<BTreeMap<String, etcd::session::Session>>,
}

pub(super) enum CoordinatorConnection {
    Nothing,
    Memcached(Slot<memcached::session::Session>),
    ZooKeeper,
    Etcd,
    PostgreSql(Slot<sql::session::Session>),
    MySql(Slot<mysql::session::Session>),
}

impl CoordinatorConnection {
    fn new(place: &Place) -> CoordinatorConnection {
        match place.deployment.coordinator() {
            Coordinator::Redis | Coordinator::Chubby | Coordinator::GemFire | Coordinator::Own => {
                CoordinatorConnection::Nothing
            }
            Coordinator::Etcd => CoordinatorConnection::Etcd,
            Coordinator::Memcached => {
                CoordinatorConnection::Memcached(Slot::new(CoordinatorConnection::memcached(place)))
            }
            Coordinator::ZooKeeper => CoordinatorConnection::ZooKeeper,
            Coordinator::PostgreSql => CoordinatorConnection::PostgreSql(Slot::new(
                CoordinatorConnection::postgresql(place),
            )),
            Coordinator::MySql => {
                CoordinatorConnection::MySql(Slot::new(CoordinatorConnection::mysql(place)))
            }
        }
    }

    pub(super) fn memcached(place: &Place) -> memcached::session::Session {
        let timeout = place.settings.command_timeout;
        memcached::session::Session::new(&place.env, &place.members()[0], timeout)
    }

    pub(super) fn postgresql(place: &Place) -> sql::session::Session {
        let timeout = place.settings.command_timeout;
        sql::session::Session::new(&place.env, place.members(), timeout)
    }

    pub(super) fn mysql(place: &Place) -> mysql::session::Session {
        let timeout = place.settings.command_timeout;
        mysql::session::Session::new(&place.env, &place.members()[0], timeout)
    }
}

/// A shared connection. A request that finds the connection in use opens another one.
pub(super) struct Slot<T>(RefCell<Option<T>>);

pub(super) struct SlotGuard<'s, T> {
    slot: &'s Slot<T>,
    value: Option<T>,
}

impl<T> Slot<T> {
    pub(super) fn new(value: T) -> Slot<T> {
        Slot(RefCell::new(Some(value)))
    }

    pub(super) fn take(&self, make: impl FnOnce() -> T) -> SlotGuard<'_, T> {
        let idle = self.0.borrow_mut().take();
        SlotGuard { slot: self, value: Some(idle.unwrap_or_else(make)) }
    }
}

impl<T> Drop for SlotGuard<'_, T> {
    fn drop(&mut self) {
        *self.slot.0.borrow_mut() = self.value.take();
    }
}

impl<T> Deref for SlotGuard<'_, T> {
    type Target = T;

    #[expect(clippy::expect_used, reason = "the value is there until the drop")]
    fn deref(&self) -> &T {
        self.value.as_ref().expect("in use")
    }
}

impl<T> DerefMut for SlotGuard<'_, T> {
    #[expect(clippy::expect_used, reason = "the value is there until the drop")]
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("in use")
    }
}

impl Connections {
    pub(super) fn new(place: &Place) -> Connections {
        let redis = sessions(place).into_iter().map(Slot::new).collect();
        Connections { redis, other_coordinator: CoordinatorConnection::new(place) }
    }

    pub(super) fn redis(
        &self,
        place: &Place,
        number: usize,
    ) -> Result<SlotGuard<'_, Session>, String> {
        let (index, name) = match (place.deployment, number) {
            (Deployment::Primary, 0) => (0, "redis"),
            (Deployment::Independent, 1..) => (number - 1, "masters"),
            (Deployment::Independent, 0) => {
                return Err(
                    "redis: expected masters[1] to masters[n], because lock.deployment is \
                            'independent'"
                        .to_owned(),
                );
            }
            _ => {
                return Err("redis: expected lock.deployment 'single' or 'independent'".to_owned());
            }
        };
        let slot = self.redis.get(index);
        let count = self.redis.len();
        let slot =
            slot.ok_or_else(|| format!("{name}[{number}]: expected a number from 1 to {count}"))?;
        Ok(slot.take(|| sessions(place).swap_remove(index)))
    }
}

fn sessions(place: &Place) -> Vec<Session> {
    let Place { env, servers, settings, .. } = place;
    match place.deployment {
        Deployment::Primary => vec![Session::primary(env, servers, settings)],
        Deployment::Independent => Session::independent(env, servers, settings),
        _ => Vec::new(),
    }
}

impl Place {
    pub(super) fn new(
        env: &Env,
        servers: &Servers,
        settings: &Settings,
        deployment: Deployment,
    ) -> Place {
        let is_keeper = deployment.coordinator() == Coordinator::ZooKeeper;
        let keeper = is_keeper.then(|| ZooKeeperConnection {
            client: Client::open(Ensemble::new(env, servers, settings, SessionOptions::JAVA)),
            watcher: Rc::default(),
        });
        let is_etcd = deployment.coordinator() == Coordinator::Etcd;
        let cluster = is_etcd.then(|| Cluster {
            gateway: Rc::new(Gateway::new(env, servers, settings)),
            sessions: RefCell::default(),
        });
        Place {
            env: env.clone(),
            servers: servers.clone(),
            settings: settings.clone(),
            deployment,
            keeper,
            cluster,
            digests: RefCell::default(),
        }
    }

    fn members(&self) -> &[Address] {
        match &self.servers {
            Servers::Ensemble(members) => members,
            other => panic!("members are needed, but the servers are {other:?}"),
        }
    }

    pub(super) async fn run_script(
        &self,
        session: &mut Session,
        source: &bytes::Bytes,
        keys: usize,
        words: &[&[u8]],
    ) -> Result<Reply, CallError> {
        let (digest, count) = (self.digest(source), keys.to_string());
        let mut all: Vec<&[u8]> = Vec::with_capacity(3 + words.len());
        all.extend_from_slice(&[b"EVALSHA", digest.as_bytes(), count.as_bytes()]);
        all.extend_from_slice(words);
        match session.call(&all).await {
            Err(CallError::Server(error)) if error.starts_with("NOSCRIPT") => {
                all[0] = b"EVAL";
                all[1] = source;
                session.call(&all).await
            }
            outcome => outcome,
        }
    }

    fn digest(&self, source: &bytes::Bytes) -> Rc<str> {
        let mut digests = self.digests.borrow_mut();
        if let Some(known) = digests.get(source) {
            return known.clone();
        }
        let digest = Sha1::digest(source);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let digest: Rc<str> = digest.into();
        digests.insert(source.clone(), digest.clone());
        digest
    }
}
