//! A ZooKeeper session ([`Session`]), after `ZooKeeper` and `ClientCnxn` of 3.8.

use super::hosts::Hosts;
use super::protocol::{CreateMode, Request, Response, Stat, ZooKeeperError};
use super::shared::{SessionOptions, Shared, Status};
use super::transport::Transport;
use super::watches::Watcher;
use crate::env::{Address, Env, Spawned};
use std::rc::Rc;
use std::time::Duration;

/// A ZooKeeper session, which the servers expire after its last clone is dropped.
#[derive(Clone)]
pub struct Session(Rc<Owner>);

struct Owner {
    shared: Rc<Shared>,
    task: Option<Spawned>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

impl Session {
    pub fn open(
        env: &Env,
        servers: &[Address],
        timeout: Duration,
        options: SessionOptions,
        watcher: Rc<Watcher>,
    ) -> Session {
        let shared = Rc::new(Shared::new(timeout, options, watcher));
        let hosts = Hosts::shuffled(env, servers);
        let transport = Transport::new(env.clone(), hosts, shared.clone(), timeout);
        let task = Some(env.spawn(transport.run()));
        Session(Rc::new(Owner { shared, task }))
    }

    pub async fn create(&self, path: &str, mode: CreateMode) -> Result<String, ZooKeeperError> {
        match self.ask(Request::Create { path: path.to_owned(), mode }, None).await? {
            Response::Path(path) => Ok(path),
            response => unreachable!("{response:?} was read as the reply to a create"),
        }
    }

    pub async fn delete(&self, path: &str) -> Result<(), ZooKeeperError> {
        self.ask(Request::Delete { path: path.to_owned() }, None).await.map(|_| ())
    }

    /// Returns `None` if the node does not exist. Sets `watcher` in both cases.
    pub async fn exists(
        &self,
        path: &str,
        watcher: Option<&Rc<Watcher>>,
    ) -> Result<Option<Stat>, ZooKeeperError> {
        let request = Request::Exists { path: path.to_owned(), watch: watcher.is_some() };
        match self.ask(request, watcher.cloned()).await {
            Ok(response) => Ok(Some(stat_of(response))),
            Err(ZooKeeperError::NoNode) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub async fn get_data(
        &self,
        path: &str,
        watcher: Option<&Rc<Watcher>>,
    ) -> Result<Stat, ZooKeeperError> {
        let request = Request::GetData { path: path.to_owned(), watch: watcher.is_some() };
        self.ask(request, watcher.cloned()).await.map(stat_of)
    }

    pub async fn get_children(
        &self,
        path: &str,
        watcher: Option<&Rc<Watcher>>,
    ) -> Result<Vec<String>, ZooKeeperError> {
        let request = Request::GetChildren { path: path.to_owned(), watch: watcher.is_some() };
        match self.ask(request, watcher.cloned()).await? {
            Response::Children(names) => Ok(names),
            response => unreachable!("{response:?} was read as a list of children"),
        }
    }

    pub fn status(&self) -> Status {
        self.0.shared.state.borrow().status
    }

    pub fn id(&self) -> i64 {
        self.0.shared.state.borrow().credentials.session
    }

    pub fn timeout(&self) -> Duration {
        self.0.shared.state.borrow().timeout
    }

    /// Ends the session for this client only (`Testable.injectSessionExpiration`). The servers keep
    /// the session until its timeout.
    pub fn give_up(&self) {
        self.0.shared.close();
    }

    pub fn is_over(&self) -> bool {
        self.status() == Status::Closed
    }

    async fn ask(
        &self,
        request: Request,
        watcher: Option<Rc<Watcher>>,
    ) -> Result<Response, ZooKeeperError> {
        let answer = self.0.shared.submit(request, watcher);
        std::future::poll_fn(|context| answer.poll(context.waker())).await
    }
}

fn stat_of(response: Response) -> Stat {
    match response {
        Response::Stat(stat) => stat,
        response => unreachable!("{response:?} was read as a stat"),
    }
}
