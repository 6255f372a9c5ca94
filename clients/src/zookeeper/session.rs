//! One session, as its owner has it in its hands: requests, and what happened to the session.
//!
//! Source: `ZooKeeper` and `ClientCnxn` of ZooKeeper 3.8. The connection is kept by a task of its
//! own, see [`super::transport`].

use super::hosts::Hosts;
use super::protocol::{CreateMode, Request, Response, Stat, ZooKeeperError};
use super::shared::{Habits, Shared, Status};
use super::transport::Transport;
use super::watches::Watcher;
use crate::env::{Address, Env, Spawned};
use std::rc::Rc;
use std::time::Duration;

/// One session. Clones are the same; when the last one is dropped, the connection is closed, and
/// the session is left to expire.
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
    /// Begins a session that outlives its last sign of life by about `timeout`. `watcher` hears of
    /// everything that happens to it.
    pub fn open(
        env: &Env,
        servers: &[Address],
        timeout: Duration,
        habits: Habits,
        watcher: Rc<Watcher>,
    ) -> Session {
        let shared = Rc::new(Shared::new(timeout, habits, watcher));
        let hosts = Hosts::shuffled(env, servers);
        let transport = Transport::new(env.clone(), hosts, shared.clone(), timeout);
        let task = Some(env.spawn(transport.run()));
        Session(Rc::new(Owner { shared, task }))
    }

    /// Creates a node and returns its path, which for a sequential one ends in its number.
    pub async fn create(&self, path: &str, mode: CreateMode) -> Result<String, ZooKeeperError> {
        match self.ask(Request::Create { path: path.to_owned(), mode }, None).await? {
            Response::Path(path) => Ok(path),
            response => unreachable!("{response:?} was read as the reply to a create"),
        }
    }

    /// Deletes a node.
    pub async fn delete(&self, path: &str) -> Result<(), ZooKeeperError> {
        self.ask(Request::Delete { path: path.to_owned() }, None).await.map(|_| ())
    }

    /// The stat of a node; nothing if there is none. A watch stays behind in both cases.
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

    /// Reads a node, for the sake of its stat or of the watch that stays behind if it exists.
    pub async fn get_data(
        &self,
        path: &str,
        watcher: Option<&Rc<Watcher>>,
    ) -> Result<Stat, ZooKeeperError> {
        let request = Request::GetData { path: path.to_owned(), watch: watcher.is_some() };
        self.ask(request, watcher.cloned()).await.map(stat_of)
    }

    /// The names of a node's children, in no order.
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

    /// Where the session stands.
    pub fn status(&self) -> Status {
        self.0.shared.state.borrow().status
    }

    /// The number of the session; 0 before a server has given it one.
    pub fn id(&self) -> i64 {
        self.0.shared.state.borrow().credentials.session
    }

    /// How long the session outlives its last sign of life: what the server granted, or what was
    /// asked for.
    pub fn timeout(&self) -> Duration {
        self.0.shared.state.borrow().timeout
    }

    /// Takes the session for over without asking a server, where it lives on until it expires
    /// (`Testable.injectSessionExpiration`).
    pub fn give_up(&self) {
        self.0.shared.close();
    }

    /// Whether the client knows that the session is over.
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
