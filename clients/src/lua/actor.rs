use super::connections::{Connections, Place};
use super::coordinator_calls;
use super::process::{Failed, Kind, LuaValue, Pinned, Process, Reply, Step, failed};
use super::words::Request;
use crate::call_error::CallError;
use crate::env::{BoxFuture, Note};
use crate::reply::Reply as Answer;
use luna_core::vm::HostRootTicket;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

/// Maximum number of consecutive waits below [`LONG_WAIT`]; more would run for minutes.
const SHORT_WAITS_MAX: u32 = 100_000;
const LONG_WAIT: Duration = Duration::from_millis(1);

#[derive(Clone)]
pub(super) struct Actor {
    pub(super) process: Rc<Process>,
    pub(super) place: Rc<Place>,
    connections: Rc<Connections>,
}

impl Actor {
    pub(super) fn new(process: &Rc<Process>, place: &Rc<Place>) -> Actor {
        let connections = Rc::new(Connections::new(place));
        Actor { process: process.clone(), place: place.clone(), connections }
    }

    pub(super) async fn call(
        &self,
        function: &Pinned,
        arguments: Vec<LuaValue>,
    ) -> Result<Vec<Pinned>, Failed> {
        let coroutine = self.process.begin(function);
        let (mut reply, mut short_waits) = (Reply::Values(arguments), 0);
        let env = &self.place.env;
        loop {
            let step = match short_waits <= SHORT_WAITS_MAX {
                true => self.process.resume(&coroutine, reply),
                false => self.process.end(&coroutine, reply),
            };
            match step {
                Step::Asks(asked) => {
                    let since = env.monotonic_clock();
                    reply = self.serve(asked).await;
                    let is_short = env.monotonic_clock().since(since) < LONG_WAIT;
                    short_waits = if is_short { short_waits + 1 } else { 0 };
                }
                Step::Returned(values) => return Ok(values),
                Step::Failed(failed) => return Err(failed),
            }
        }
    }

    /// Boxes the future, because the called function can make further calls.
    fn call_within(
        &self,
        function: &Pinned,
        arguments: Vec<Pinned>,
    ) -> BoxFuture<'static, Result<Vec<Pinned>, Failed>> {
        let (actor, function) = (self.clone(), self.process.pin(function.value()));
        let arguments = arguments.into_iter().map(LuaValue::Kept).collect();
        Box::pin(async move { actor.call(&function, arguments).await })
    }

    async fn serve(&self, asked: Request) -> Reply {
        let env = &self.place.env;
        match asked {
            Request::Call { place, words, is_on_the_same_connection } => {
                let mut session = match self.connections.redis(&self.place, place) {
                    Ok(session) => session,
                    Err(problem) => return Reply::Misused(problem),
                };
                let words = words.slices();
                reply_of_redis(match is_on_the_same_connection {
                    true => session.call_on_the_same_connection(&words).await,
                    false => session.call(&words).await,
                })
            }
            Request::Script { place, source, keys, words } => {
                let mut session = match self.connections.redis(&self.place, place) {
                    Ok(session) => session,
                    Err(problem) => return Reply::Misused(problem),
                };
                reply_of_redis(
                    self.place.run_script(&mut session, &source, keys, &words.slices()).await,
                )
            }
            Request::Sleep(span) => {
                env.sleep(span).await;
                Reply::Values(Vec::new())
            }
            Request::Lost => {
                env.note(Note::LockLost);
                Reply::Values(Vec::new())
            }
            Request::Stop(task) => {
                if let Some(task) = self.process.tasks.borrow_mut().remove(&task) {
                    task.abort();
                }
                Reply::Values(Vec::new())
            }
            Request::Spawn { function, arguments } => self.spawn(function, arguments),
            Request::All { function, items } => Box::pin(self.all(function, items)).await,
            Request::Timeout { function, span, arguments } => {
                Box::pin(self.timeout(function, span, arguments)).await
            }
            Request::Other { operation, arguments } => {
                let asked = coordinator_calls::serve(
                    &self.place, &self.connections, &operation, &arguments,
                );
                Box::pin(asked).await
            }
            Request::Misused(problem) => Reply::Misused(problem),
        }
    }

    fn adopt(&self, tickets: Vec<HostRootTicket>) -> Vec<Pinned> {
        tickets.into_iter().map(|ticket| self.process.adopt(ticket)).collect()
    }

    fn spawn(&self, function: HostRootTicket, arguments: Vec<HostRootTicket>) -> Reply {
        let actor = Actor::new(&self.process, &self.place);
        let (function, arguments) = (self.process.adopt(function), self.adopt(arguments));
        let number = self.process.tasks_begun.get() + 1;
        self.process.tasks_begun.set(number);
        let task = self.place.env.spawn(async move {
            let arguments = arguments.into_iter().map(LuaValue::Kept).collect();
            let outcome = actor.call(&function, arguments).await;
            if let Err(Failed { kind: Kind::Script, message, .. }) = outcome {
                actor.process.complaint.borrow_mut().get_or_insert(message);
            }
        });
        self.process.tasks.borrow_mut().insert(number, task);
        Reply::Values(vec![LuaValue::Int(number)])
    }

    async fn all(&self, function: HostRootTicket, items: Vec<HostRootTicket>) -> Reply {
        let function = self.process.adopt(function);
        let items = self.adopt(items).into_iter();
        let calls = items.map(|item| self.call_within(&function, vec![item])).collect();
        let (mut results, mut failures) = (Vec::new(), Vec::new());
        for outcome in join_all(calls).await {
            match outcome {
                Ok(values) => {
                    results.push(values.into_iter().next().map_or(LuaValue::Nil, LuaValue::Kept));
                    failures.push(LuaValue::Nil);
                }
                Err(Failed { kind: Kind::Script, error, .. }) => return Reply::Raised(error),
                Err(failed) => {
                    results.push(LuaValue::Nil);
                    failures.push(LuaValue::Kept(failed.error));
                }
            }
        }
        Reply::Values(vec![LuaValue::List(results), LuaValue::List(failures)])
    }

    async fn timeout(
        &self,
        function: HostRootTicket,
        span: Duration,
        arguments: Vec<HostRootTicket>,
    ) -> Reply {
        let (function, arguments) = (self.process.adopt(function), self.adopt(arguments));
        let call = self.call_within(&function, arguments);
        match self.place.env.timeout(span, call).await {
            Some(Ok(values)) => Reply::Values(values.into_iter().map(LuaValue::Kept).collect()),
            Some(Err(failed)) => Reply::Raised(failed.error),
            None => failed(&CallError::Timeout(span)),
        }
    }
}

/// Prefixes of error replies that indicate a mistake in the script.
const WRONG_COMMANDS: [&str; 8] = [
    "ERR unknown command",
    "ERR unknown subcommand",
    "ERR Unknown Redis command called from script",
    "ERR wrong number of arguments",
    "ERR syntax error",
    "ERR Error compiling script",
    "ERR user_script:",
    "ERR Script stopped by fake-redis",
];

fn reply_of_redis(outcome: Result<Answer, CallError>) -> Reply {
    match outcome {
        Ok(answer) => Reply::Values(vec![lua_value(answer)]),
        Err(CallError::Server(text))
            if WRONG_COMMANDS.iter().any(|wrong| text.starts_with(wrong)) =>
        {
            // Leave out the arguments that Redis appends to this message.
            let brief = text.split(", with args beginning with:").next().unwrap_or_default();
            Reply::Misused(CallError::Server(brief.to_owned()).to_string())
        }
        Err(error) => failed(&error),
    }
}

fn lua_value(answer: Answer) -> LuaValue {
    match answer {
        Answer::Status(text) | Answer::Bulk(text) => LuaValue::Bytes(text),
        Answer::Error(text) => LuaValue::from(text.as_str()),
        Answer::Integer(number) => LuaValue::Int(number),
        Answer::Array(elements) => LuaValue::List(elements.into_iter().map(lua_value).collect()),
        Answer::Nil => LuaValue::Nil,
    }
}

async fn join_all<T>(mut futures: Vec<BoxFuture<'static, T>>) -> Vec<T> {
    let mut outputs: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        let open = futures.iter_mut().zip(&mut outputs).filter(|(_, output)| output.is_none());
        for (future, output) in open {
            if let Poll::Ready(value) = future.as_mut().poll(context) {
                *output = Some(value);
            }
        }
        if outputs.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}
