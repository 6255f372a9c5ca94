use super::connections::{Cluster, Connections, CoordinatorConnection, Place};
use super::process::{LuaValue, Reply, failed as lost};
use super::words::Datum;
use crate::call_error::CallError;
use crate::env::Monotonic;
use crate::etcd;
use crate::memcached;
use crate::mysql;
use crate::sql;
use crate::stream::Failure;
use crate::zookeeper::protocol::{CreateMode, NodeChange, ZooKeeperError};
use crate::zookeeper::watches::WatchedEvent;
use std::fmt::Display;
use std::time::Duration;

type Outcome = Result<Vec<LuaValue>, Reply>;

pub(super) async fn serve(
    place: &Place,
    connections: &Connections,
    operation: &str,
    arguments: &[Datum],
) -> Reply {
    let (library, function) = operation.split_once('.').unwrap_or((operation, ""));
    let given = CallArguments { operation, arguments };
    let outcome = match (library, &connections.other_coordinator) {
        ("sql", CoordinatorConnection::PostgreSql(slot)) => {
            let mut session = slot.take(|| CoordinatorConnection::postgresql(place));
            postgresql(&mut session, function, &given).await
        }
        ("sql", CoordinatorConnection::MySql(slot)) => {
            let mut session = slot.take(|| CoordinatorConnection::mysql(place));
            in_mysql(&mut session, function, &given).await
        }
        ("memcached", CoordinatorConnection::Memcached(slot)) => {
            let mut session = slot.take(|| CoordinatorConnection::memcached(place));
            in_memcached(&mut session, function, &given).await
        }
        ("zookeeper", CoordinatorConnection::ZooKeeper) => zookeeper(place, function, &given).await,
        ("etcd", CoordinatorConnection::Etcd) => in_etcd(place, function, &given).await,
        _ => Err(Reply::Misused(format!(
            "{operation}: expected a lock.deployment that supports this call"
        ))),
    };
    outcome.map_or_else(|reply| reply, Reply::Values)
}

struct CallArguments<'g> {
    operation: &'g str,
    arguments: &'g [Datum],
}

impl CallArguments<'_> {
    fn wrong(&self, number: usize, expected: &str) -> Reply {
        let given = match self.arguments.get(number - 1) {
            None | Some(Datum::Nil) => "nil".to_owned(),
            Some(Datum::Bool(is_true)) => is_true.to_string(),
            Some(Datum::Int(value)) => value.to_string(),
            Some(Datum::Float(value)) => value.to_string(),
            Some(Datum::Bytes(text)) => format!("'{}'", String::from_utf8_lossy(text)),
            Some(Datum::Foreign(kind)) => format!("a {kind}"),
        };
        let operation = self.operation;
        Reply::Misused(format!("{operation}: argument {number} is {given}: expected {expected}"))
    }

    fn text(&self, number: usize) -> Result<String, Reply> {
        match self.arguments.get(number - 1) {
            Some(Datum::Bytes(text)) => Ok(String::from_utf8_lossy(text).into_owned()),
            Some(Datum::Int(value)) => Ok(value.to_string()),
            _ => Err(self.wrong(number, "a string")),
        }
    }

    fn key(&self) -> Result<String, Reply> {
        let key = self.text(1)?;
        let is_word = (1..=250).contains(&key.len()) && key.bytes().all(|byte| byte > b' ');
        if is_word { Ok(key) } else { Err(self.wrong(1, "1 to 250 bytes without a space")) }
    }

    fn integer(&self, number: usize) -> Result<i64, Reply> {
        match self.arguments.get(number - 1) {
            Some(Datum::Int(value)) => Ok(*value),
            _ => Err(self.wrong(number, "a whole number")),
        }
    }

    fn span(&self, number: usize) -> Result<Duration, Reply> {
        let milliseconds = match self.arguments.get(number - 1) {
            Some(Datum::Int(value)) => *value as f64,
            Some(Datum::Float(value)) => *value,
            _ => return Err(self.wrong(number, "milliseconds")),
        };
        match (0.0..=86_400_000.0).contains(&milliseconds) {
            true => Ok(Duration::from_micros((milliseconds * 1_000.0).round() as u64)),
            false => Err(self.wrong(number, "0 to 86400000 milliseconds")),
        }
    }

    /// Returns the path in the first argument. ZooKeeper clients require a leading slash.
    fn path(&self) -> Result<String, Reply> {
        let path = self.text(1)?;
        match path.starts_with('/') {
            true => Ok(path),
            false => Err(self.wrong(1, "a path that begins with /")),
        }
    }

    fn flag(&self, number: usize) -> bool {
        matches!(self.arguments.get(number - 1), Some(Datum::Bool(true)))
    }

    fn parameters(&self, first: usize) -> Result<Vec<sql::protocol::Parameter>, Reply> {
        use sql::protocol::{Kind, Parameter};
        let given = self.arguments.iter().zip(1..).skip(first - 1);
        given
            .map(|(value, number)| match value {
                Datum::Bytes(text) => Ok(Parameter::text(String::from_utf8_lossy(text))),
                Datum::Int(value) => Ok(Parameter { kind: Kind::Int8, text: value.to_string() }),
                Datum::Float(value) => {
                    Ok(Parameter { kind: Kind::Unspecified, text: value.to_string() })
                }
                Datum::Bool(value) => {
                    Ok(Parameter { kind: Kind::Unspecified, text: value.to_string() })
                }
                Datum::Nil | Datum::Foreign(_) => Err(self.wrong(number, "a string or a number")),
            })
            .collect()
    }

    fn unknown(&self, valid: &str) -> Reply {
        Reply::Misused(format!("{}: expected one of {valid} here", self.operation))
    }
}

fn refused_by<R: Display>(
    failure: Failure<R>,
    code: fn(&R) -> String,
    is_misuse: fn(&R) -> bool,
) -> Reply {
    match failure {
        Failure::Refused(refusal) => {
            let message = format!("the server answered {refusal}");
            match is_misuse(&refusal) {
                true => Reply::Misused(message),
                false => Reply::Failed { message, is_unknown: false, code: Some(code(&refusal)) },
            }
        }
        Failure::Lost(error) => lost(&error),
    }
}

/// Returns `true` for syntax errors, unknown names (class 42), unsupported statements (0A000) and
/// missing values (23502), but not for an object that already exists (42P07, 42710), because
/// another process may have just created the same object.
fn is_misuse_of_postgresql(refusal: &sql::protocol::Refusal) -> bool {
    let code = &*refusal.code;
    ["0A000", "23502"].contains(&code)
        || code.starts_with("42") && !["42P07", "42710"].contains(&code)
}

/// Returns `true` if no database is selected, and for unknown columns, tables and functions, syntax
/// errors and unsupported statements.
fn is_misuse_of_mysql(refusal: &mysql::protocol::Refusal) -> bool {
    [1046, 1054, 1064, 1146, 1235, 1305].contains(&refusal.code)
}

/// Converts NULL to `false`, because a Lua list cannot contain `nil`.
fn rows(rows: Vec<Vec<Option<String>>>) -> LuaValue {
    let cell =
        |cell: Option<String>| cell.map_or(LuaValue::Bool(false), |text| LuaValue::from(&*text));
    LuaValue::List(
        rows.into_iter().map(|row| LuaValue::List(row.into_iter().map(cell).collect())).collect(),
    )
}

async fn postgresql(
    session: &mut sql::session::Session,
    function: &str,
    given: &CallArguments<'_>,
) -> Outcome {
    let failed = |failure: sql::session::Failure| {
        refused_by(failure, |one| one.code.clone(), is_misuse_of_postgresql)
    };
    let done = match function {
        "query" => session.run(&given.text(1)?, &given.parameters(2)?).await,
        "begin" => session.begin("BEGIN", &given.text(1)?, &given.parameters(2)?).await,
        "go_on" => session.run_next(&given.text(1)?, &given.parameters(2)?).await,
        "bound" => session.run_next(&given.text(1)?, &given.parameters(2)?).await,
        "commit" => {
            let is_done = session.commit().await.map_err(failed)?;
            return Ok(vec![LuaValue::Bool(is_done)]);
        }
        "rollback" => {
            session.roll_back().await;
            return Ok(Vec::new());
        }
        "session" => {
            let number = session.backend().map_or(LuaValue::Nil, |id| LuaValue::Int(i64::from(id)));
            return Ok(vec![number]);
        }
        "close" => {
            session.close();
            return Ok(Vec::new());
        }
        _ => {
            let valid = "query, begin, go_on, bound, commit, rollback, session, close";
            return Err(given.unknown(valid));
        }
    };
    let done = done.map_err(failed)?;
    let count = i64::try_from(done.count()).unwrap_or(i64::MAX);
    Ok(vec![rows(done.rows), LuaValue::Int(count)])
}

async fn in_mysql(
    session: &mut mysql::session::Session,
    function: &str,
    given: &CallArguments<'_>,
) -> Outcome {
    let outcome = match function {
        "query" => session.run(&statement(given, 1)?, Duration::ZERO).await,
        "within" => session.run(&statement(given, 2)?, given.span(1)?).await,
        "bound" => session.bound(&statement(given, 1)?).await,
        "session" => {
            let number = session.id().map_or(LuaValue::Nil, |id| LuaValue::Int(i64::from(id)));
            return Ok(vec![number]);
        }
        _ => return Err(given.unknown("query, within, bound, session")),
    };
    let found = outcome
        .map_err(|failure| refused_by(failure, |one| one.code.to_string(), is_misuse_of_mysql))?;
    Ok(vec![rows(found)])
}

fn statement(given: &CallArguments<'_>, place: usize) -> Result<String, Reply> {
    let text = given.text(place)?;
    let mut pieces = text.split('?');
    let mut statement = pieces.next().unwrap_or_default().to_owned();
    for (piece, number) in pieces.zip(place + 1..) {
        match given.arguments.get(number - 1) {
            Some(Datum::Nil) => statement.push_str("NULL"),
            Some(Datum::Bool(is_true)) => statement.push_str(if *is_true { "1" } else { "0" }),
            Some(Datum::Int(value)) => statement.push_str(&value.to_string()),
            Some(Datum::Float(value)) if value.is_finite() => {
                statement.push_str(&value.to_string());
            }
            _ => statement.push_str(&mysql::protocol::quoted(&given.text(number)?)),
        }
        statement.push_str(piece);
    }
    Ok(statement)
}

async fn in_memcached(
    session: &mut memcached::session::Session,
    function: &str,
    given: &CallArguments<'_>,
) -> Outcome {
    use memcached::protocol::Answer;
    let key = given.key()?;
    let request = match function {
        "add" | "set" => {
            let (value, seconds) = (given.text(2)?, given.integer(3)?);
            format!("{function} {key} 0 {seconds} {}\r\n{value}\r\n", value.len())
        }
        "cas" => {
            let (value, seconds, id) = (given.text(2)?, given.integer(3)?, given.integer(4)?);
            format!("cas {key} 0 {seconds} {} {id}\r\n{value}\r\n", value.len())
        }
        "get" | "gets" | "delete" => format!("{function} {key}\r\n"),
        _ => return Err(given.unknown("add, set, cas, get, gets, delete")),
    };
    let answer = session.call(request.as_bytes()).await.map_err(|error| lost(&error))?;
    match answer {
        Answer::Line(line) => match line.as_str() {
            "STORED" | "DELETED" => Ok(vec![LuaValue::Bool(true)]),
            "NOT_STORED" | "EXISTS" | "NOT_FOUND" => Ok(vec![LuaValue::Bool(false)]),
            _ => Err(lost(&CallError::Malformed(format!("unexpected {line:?}")))),
        },
        Answer::Items(items) => Ok(items.into_iter().next().map_or(Vec::new(), |item| {
            let id = item.cas.and_then(|id| i64::try_from(id).ok());
            vec![LuaValue::Bytes(item.value), id.map_or(LuaValue::Nil, LuaValue::Int)]
        })),
    }
}

async fn zookeeper(place: &Place, function: &str, given: &CallArguments<'_>) -> Outcome {
    let Some(keeper) = &place.keeper else { return Err(given.unknown("nothing")) };
    let session = keeper.client.session();
    let watcher = given.flag(2).then_some(&keeper.watcher);
    match function {
        "create" => {
            let mode = match &*given.text(2)? {
                "persistent" => CreateMode::Persistent,
                "ephemeral_sequential" => CreateMode::EphemeralSequential,
                "container" => CreateMode::Container,
                _ => return Err(given.wrong(2, "persistent, ephemeral_sequential or container")),
            };
            let path = session.create(&given.path()?, mode).await.map_err(reply_of_zookeeper)?;
            Ok(vec![LuaValue::from(&*path)])
        }
        "delete" => {
            session.delete(&given.path()?).await.map(|()| Vec::new()).map_err(reply_of_zookeeper)
        }
        "exists" => {
            let stat = session.exists(&given.path()?, watcher).await.map_err(reply_of_zookeeper)?;
            Ok(vec![
                LuaValue::Bool(stat.is_some()),
                stat.map_or(LuaValue::Nil, |one| LuaValue::Int(one.czxid)),
            ])
        }
        "children" => {
            let names =
                session.get_children(&given.path()?, watcher).await.map_err(reply_of_zookeeper)?;
            Ok(vec![LuaValue::List(names.iter().map(|name| LuaValue::from(&**name)).collect())])
        }
        "forget" => {
            keeper.watcher.clear();
            Ok(Vec::new())
        }
        "wait" => {
            let span = given.span(1)?;
            let event = place.env.timeout(span, keeper.watcher.next()).await;
            Ok(vec![event.map_or(LuaValue::Nil, |event| LuaValue::from(name_of(event)))])
        }
        _ => Err(given.unknown("create, delete, exists, children, forget, wait")),
    }
}

async fn in_etcd(place: &Place, function: &str, given: &CallArguments<'_>) -> Outcome {
    let Some(Cluster { gateway, sessions }) = &place.cluster else {
        return Err(given.unknown("nothing"));
    };
    let deadline = |number: usize| -> Result<Monotonic, Reply> {
        Ok(place.env.monotonic_clock().plus(given.span(number)?))
    };
    match function {
        "open" => {
            let (ttl, deadline) = (given.span(1)?, deadline(2)?);
            let session = etcd::session::Session::open(gateway, ttl, deadline)
                .await
                .map_err(reply_of_etcd)?;
            let name = etcd::name_of(session.lease);
            sessions.borrow_mut().insert(name.clone(), session);
            Ok(vec![LuaValue::from(&*name)])
        }
        "close" => {
            let session = sessions.borrow_mut().remove(&given.text(1)?);
            let Some(session) = session else { return Ok(vec![LuaValue::Bool(false)]) };
            session.close().await.map_err(reply_of_etcd)?;
            Ok(vec![LuaValue::Bool(true)])
        }
        "enter" => {
            let (prefix, key, name) = (given.text(1)?, given.text(2)?, given.text(3)?);
            let lease = sessions.borrow().get(&name).map(|session| session.lease);
            let lease = lease.ok_or_else(|| given.wrong(3, "a lease that etcd.open returned"))?;
            let deadline = deadline(4)?;
            let entered = etcd::keys::enter(gateway, (&prefix, &key), lease, deadline).await;
            let place = entered.map_err(reply_of_etcd)?;
            Ok(vec![LuaValue::Bool(place.is_first), LuaValue::Int(place.revision)])
        }
        "last_before" => {
            let (prefix, revision) = (given.text(1)?, given.integer(2)?);
            let last = etcd::keys::last_key_before(gateway, &prefix, revision, deadline(3)?).await;
            let last = last.map_err(reply_of_etcd)?;
            Ok(last.map_or(vec![], |(key, seen)| vec![LuaValue::from(&*key), LuaValue::Int(seen)]))
        }
        "wait_for_deletion" => {
            let (key, revision) = (given.text(1)?, given.integer(2)?);
            gateway.wait_for_deletion(&key, revision).await.map_err(reply_of_etcd)?;
            Ok(Vec::new())
        }
        "exists" => {
            let found = etcd::keys::exists(gateway, &given.text(1)?, deadline(2)?).await;
            Ok(vec![LuaValue::Bool(found.map_err(reply_of_etcd)?)])
        }
        "delete" => {
            let deleted = etcd::keys::delete(gateway, &given.text(1)?).await;
            Ok(vec![LuaValue::Bool(deleted.map_err(reply_of_etcd)?)])
        }
        _ => {
            let valid = "open, close, enter, last_before, wait_for_deletion, exists, delete";
            Err(given.unknown(valid))
        }
    }
}

fn reply_of_etcd(failure: etcd::gateway::Failure) -> Reply {
    let (message, is_unknown) = (failure.to_string(), failure.may_have_applied());
    Reply::Failed { message, is_unknown, code: None }
}

fn name_of(event: WatchedEvent) -> &'static str {
    match event {
        WatchedEvent::Connected => "connected",
        WatchedEvent::Disconnected => "disconnected",
        WatchedEvent::Expired => "expired",
        WatchedEvent::Node(NodeChange::Created) => "created",
        WatchedEvent::Node(NodeChange::Deleted) => "deleted",
        WatchedEvent::Node(NodeChange::Data) => "data",
        WatchedEvent::Node(NodeChange::Children) => "children",
    }
}

fn reply_of_zookeeper(error: ZooKeeperError) -> Reply {
    let (code, is_unknown) = match &error {
        ZooKeeperError::ConnectionLoss => ("ConnectionLoss".to_owned(), true),
        ZooKeeperError::SessionExpired => ("SessionExpired".to_owned(), true),
        ZooKeeperError::SessionMoved => ("SessionMoved".to_owned(), true),
        ZooKeeperError::NoNode => ("NoNode".to_owned(), false),
        ZooKeeperError::NodeExists => ("NodeExists".to_owned(), false),
        ZooKeeperError::Server(code) => (code.to_string(), false),
    };
    Reply::Failed { message: error.to_string(), is_unknown, code: Some(code) }
}
