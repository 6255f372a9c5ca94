use crate::call_error::CallError;
use crate::env::{Address, Env};
use crate::lock::{Servers, Settings};
use crate::stream::Stream;
use crate::task::Notified;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

pub struct System {
    pub(super) env: Env,
    pub(super) servers: Vec<Address>,
    pub(super) timeout: Duration,
}

impl System {
    pub fn new(env: &Env, servers: &Servers, settings: &Settings) -> System {
        let Servers::Ensemble(servers) = servers else {
            panic!("servers of a system are needed, but the servers are {servers:?}")
        };
        let (servers, timeout) = (servers.clone(), settings.command_timeout);
        System { env: env.clone(), servers, timeout }
    }

    pub(super) fn env(&self) -> &Env {
        &self.env
    }

    pub(super) async fn ask(&self, to: &Address, request: &str) -> Result<Vec<String>, CallError> {
        let mut stream = Stream::open(&self.env, to, self.timeout).await?;
        stream.exchange(request).await
    }

    pub async fn ask_first_server(&self, request: &str) -> Result<Vec<String>, CallError> {
        self.ask(&self.servers[0], request).await
    }

    pub(super) fn address(&self, id: u8) -> Option<&Address> {
        self.servers.get(usize::from(id).checked_sub(1)?)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = u8> + use<> {
        1..=u8::try_from(self.servers.len()).unwrap_or(u8::MAX)
    }
}

pub(super) async fn first<T>(
    mut call: Pin<&mut impl Future<Output = T>>,
    changed: Notified,
) -> Option<T> {
    let mut changed = pin!(changed);
    std::future::poll_fn(|context| {
        if let Poll::Ready(result) = call.as_mut().poll(context) {
            return Poll::Ready(Some(result));
        }
        changed.as_mut().poll(context).map(|_| None)
    })
    .await
}
