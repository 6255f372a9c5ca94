//! A process's ZooKeeper client ([`Client`]), which replaces an ended session.

use super::session::Session;
use super::shared::SessionOptions;
use super::watches::Watcher;
use crate::env::{Address, Env};
use crate::lock::{Servers, Settings};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

#[derive(Clone)]
pub struct Ensemble {
    env: Env,
    members: Vec<Address>,
    timeout: Duration,
    options: SessionOptions,
}

impl Ensemble {
    pub fn new(
        env: &Env,
        servers: &Servers,
        settings: &Settings,
        options: SessionOptions,
    ) -> Ensemble {
        let Servers::Ensemble(members) = servers else {
            panic!("an ensemble is needed, but the servers are {servers:?}")
        };
        Ensemble { env: env.clone(), members: members.clone(), timeout: settings.ttl, options }
    }

    pub fn open(&self, watcher: Rc<Watcher>) -> Session {
        Session::open(&self.env, &self.members, self.timeout, self.options, watcher)
    }
}

pub struct Client {
    ensemble: Ensemble,
    current: RefCell<Session>,
}

impl Client {
    pub fn open(ensemble: Ensemble) -> Client {
        let current = RefCell::new(ensemble.open(Rc::default()));
        Client { ensemble, current }
    }

    /// Returns the current session, or a new session if the current session is known to have ended.
    pub fn session(&self) -> Session {
        let mut current = self.current.borrow_mut();
        if current.is_over() {
            *current = self.ensemble.open(Rc::default());
        }
        current.clone()
    }
}
