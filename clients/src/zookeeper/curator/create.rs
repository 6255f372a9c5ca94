//! Creates nodes as Curator does (`CreateBuilderImpl`). The GUID in a protected node's name lets
//! the client find the node after a lost reply. **If the connection breaks during a create that
//! follows a search, the node may stay**: the search has ended the shared loop, so the create
//! returns no path and deletes nothing. `attemptLock` then throws a NullPointerException.

use super::{Curator, RetryLoop};
use crate::env::{Draw, Env};
use crate::zookeeper::protocol::{CreateMode, ZooKeeperError};
use crate::zookeeper::session::Session;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protection {
    None,
    /// The client accepts any node whose name contains the GUID of the call.
    AnySession,
    /// Accepts such a node if the same session created it; else deletes it (`validateFoundNode`).
    SameSession,
}

/// Creates an ephemeral sequential node, and its missing parents as containers.
pub async fn create_sequential(
    curator: &Curator,
    parent: &str,
    name: &str,
    protection: Protection,
) -> Result<String, ZooKeeperError> {
    let prefix = match protection {
        Protection::None => String::new(),
        Protection::AnySession | Protection::SameSession => {
            format!("_c_{}-", fresh_guid(curator.env()))
        }
    };
    let path = format!("{parent}/{prefix}{name}");
    let (mut is_first, mut first_session) = (true, 0);
    let retry_loop = RetryLoop::default();
    let outcome = curator
        .call_in(&retry_loop, async |mut session: Session| {
            if first_session == 0 {
                first_session = session.id();
            }
            if !std::mem::take(&mut is_first) && protection != Protection::None {
                let mut found = find(curator, &retry_loop, parent, &prefix).await?;
                session = curator.session();
                if protection == Protection::SameSession && session.id() != first_session {
                    found.into_iter().for_each(|found| curator.delete_in_background(&found));
                    (found, first_session) = (None, session.id());
                }
                if let Some(found) = found {
                    return Ok(found);
                }
            }
            create_with_parent(&session, parent, &path).await
        })
        .await;
    if outcome == Err(ZooKeeperError::ConnectionLoss) && protection != Protection::None {
        find_and_delete_in_background(curator, parent, &prefix);
    }
    outcome?.ok_or(ZooKeeperError::ConnectionLoss)
}

async fn create_with_parent(
    session: &Session,
    parent: &str,
    path: &str,
) -> Result<String, ZooKeeperError> {
    match session.create(path, CreateMode::EphemeralSequential).await {
        Err(ZooKeeperError::NoNode) => {
            make_directories(session, parent).await?;
            session.create(path, CreateMode::EphemeralSequential).await
        }
        outcome => outcome,
    }
}

async fn make_directories(session: &Session, path: &str) -> Result<(), ZooKeeperError> {
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
    for level in ends.map(|end| &path[..end]) {
        if session.exists(level, None).await?.is_none() {
            match session.create(level, CreateMode::Container).await {
                Ok(_) | Err(ZooKeeperError::NodeExists) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

async fn find(
    curator: &Curator,
    retry_loop: &RetryLoop,
    parent: &str,
    prefix: &str,
) -> Result<Option<String>, ZooKeeperError> {
    let children = async |session: Session| match session.get_children(parent, None).await {
        Err(ZooKeeperError::NoNode) => Ok(Vec::new()),
        outcome => outcome,
    };
    let names = curator.call_in(retry_loop, children).await?;
    let found = names.iter().flatten().find(|name| name.starts_with(prefix));
    Ok(found.map(|name| format!("{parent}/{name}")))
}

fn find_and_delete_in_background(curator: &Curator, parent: &str, prefix: &str) {
    let (curator, parent, prefix) = (curator.clone(), parent.to_owned(), prefix.to_owned());
    curator.env().clone().spawn(async move {
        loop {
            match find(&curator, &RetryLoop::default(), &parent, &prefix).await {
                Ok(found) => {
                    return found.into_iter().for_each(|path| curator.delete_in_background(&path));
                }
                Err(error) if super::is_retryable(&error) => {}
                Err(_) => return,
            }
        }
    });
}

fn fresh_guid(env: &Env) -> String {
    let [high, low] = env.randoms(Draw::Owner);
    let digits = format!("{high:016x}{low:016x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}
