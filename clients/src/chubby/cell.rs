//! Calls to a Chubby cell. A replica can name the master, and only the master serves calls (2.2).

use crate::call_error::CallError;
use crate::env::{Address, Draw, Env};
use crate::lock::{Servers, Settings};
use crate::stream::Stream;
use std::cell::RefCell;
use std::time::Duration;

pub struct Cell {
    env: Env,
    members: Vec<Address>,
    timeout: Duration,
    master: RefCell<Option<Address>>,
    idle: RefCell<Option<Stream>>,
}

impl Cell {
    pub fn new(env: &Env, servers: &Servers, settings: &Settings) -> Cell {
        let Servers::Ensemble(members) = servers else {
            panic!("a cell is needed, but the servers are {servers:?}")
        };
        Cell {
            env: env.clone(),
            members: members.clone(),
            timeout: settings.command_timeout,
            master: RefCell::new(None),
            idle: RefCell::new(None),
        }
    }

    pub(super) fn env(&self) -> &Env {
        &self.env
    }

    pub async fn call(&self, request: &str) -> Result<Vec<String>, CallError> {
        let idle = self.idle.borrow_mut().take();
        let is_idle = idle.is_some();
        let mut master = match idle {
            Some(master) => master,
            None => self.find().await?,
        };
        let mut outcome = self.ask(&mut master, request).await;
        if matches!(outcome, Err(CallError::Unsent(_))) && is_idle {
            master = self.find().await?;
            outcome = self.ask(&mut master, request).await;
        }
        let words = outcome?;
        if words.first().is_some_and(|word| word != "not-master") {
            *self.idle.borrow_mut() = Some(master);
        }
        Ok(words)
    }

    async fn ask(&self, to: &mut Stream, request: &str) -> Result<Vec<String>, CallError> {
        to.limit(self.timeout);
        to.exchange(request).await
    }

    pub(super) async fn find(&self) -> Result<Stream, CallError> {
        let known = self.master.borrow_mut().take();
        let count = self.members.len();
        let first = (u128::from(self.env.random(Draw::Jitter)) * count as u128) >> 64;
        let replicas = (0..count).map(|at| self.members[(first as usize + at) % count].clone());
        for replica in known.into_iter().chain(replicas) {
            if let Ok(Some(found)) = self.find_from(replica).await {
                return Ok(found);
            }
        }
        Err(CallError::NoPrimary("no replica knows the address of the master".to_owned()))
    }

    async fn find_from(&self, replica: Address) -> Result<Option<Stream>, CallError> {
        let mut next = replica;
        for _ in 0..2 {
            let mut stream = Stream::open(&self.env, &next, self.timeout).await?;
            let words = self.ask(&mut stream, "master").await?;
            match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["master", "here"] => {
                    *self.master.borrow_mut() = Some(next);
                    return Ok(Some(stream));
                }
                ["master", host, port] => {
                    let Ok(port) = port.parse() else { break };
                    next = Address { host: host.to_owned(), port };
                }
                _ => break,
            }
        }
        Ok(None)
    }
}
