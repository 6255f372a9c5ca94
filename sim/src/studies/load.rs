//! Measures the cost of waiting when many processes request the same lock from one server.

mod holder;
mod server;
mod waiting;

pub use waiting::{InvalidWaiting, Waiting};

use crate::engine::{Engine, EngineError, Setup};
use crate::hosts::coordinators::entry;
use crate::run::verdicts::tool;
use crate::setup::roster::Roster;
use crate::setup::span::{Span, SpanRange};
use crate::world::host::Software;
use crate::world::tasks::TaskFuture;
use fencepost_clients::{Acquisition, Definition, Env, Lock, Settings};
use fencepost_faults::{Micros, Node, Seed, SimTime};
use fencepost_reports::documents::load::{FORMAT, LoadCase, LoadConfig, LoadReport, VERSION};
use fencepost_reports::summary::report::{Latencies, Latency};
use holder::Holder;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

const LIMIT: SimTime = SimTime(3_600_000_000);
const QUANTUM: Micros = Micros(10);
const PARTS: usize = 20;

#[derive(Clone)]
pub struct Load {
    pub client: &'static Definition,
    pub seed: Seed,
    pub processes: u16,
    pub requests: u32,
    pub service_time: Span,
    pub latency: SpanRange,
    pub work: Span,
    /// Number of commands that each holder sends to the lock server, as simulated work.
    pub holder_commands: u32,
    pub patience: Span,
}

impl Load {
    /// Runs the workload once for each way of waiting, and once with a single process.
    pub fn run(&self, waitings: &[Waiting]) -> Result<LoadReport, EngineError> {
        let alone = Load { processes: 1, requests: 100, ..self.clone() };
        let cases: Result<Vec<LoadCase>, EngineError> =
            waitings.iter().map(|waiting| self.case(*waiting)).collect();
        Ok(LoadReport {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: tool(),
            config: LoadConfig {
                client: self.client.name.to_owned(),
                coordinator: self.client.deployment.coordinator().name().to_owned(),
                seed: self.seed,
                processes: self.processes,
                requests: self.requests,
                service_time_us: self.service_time.0,
                latency_us: (self.latency.min.0, self.latency.max.0),
                work_us: self.work.0,
                holder_commands: self.holder_commands,
                patience_us: self.patience.0,
            },
            alone: alone.case(Waiting::None)?,
            cases: cases?,
        })
    }

    fn case(&self, waiting: Waiting) -> Result<LoadCase, EngineError> {
        let book = Rc::new(Book { left: Cell::new(self.requests), ..Book::default() });
        let nodes: Vec<Node> = (1..=self.processes).map(Node::Client).collect();
        let roster = Rc::new(Roster::new(self.seed, &nodes, 1));
        let entry = entry(self.client.deployment.coordinator());
        let server = server::server(entry, self.seed, self.service_time.0, &book);
        let mut hosts = vec![(server::node(entry.coordinator), server)];
        hosts
            .extend(nodes.iter().map(|node| (*node, self.program(*node, waiting, &book, &roster))));
        let setup = Setup {
            quantum: QUANTUM,
            latency: (self.latency.min.0, self.latency.max.0),
            limit: LIMIT,
            ..Setup::calm(self.seed, hosts, roster)
        };
        setup.run(Engine::Fast)?;
        Ok(self.sum(waiting, &book))
    }

    fn program(
        &self,
        node: Node,
        waiting: Waiting,
        book: &Rc<Book>,
        roster: &Rc<Roster>,
    ) -> Software {
        let (load, book, roster) = (self.clone(), book.clone(), roster.clone());
        Software::Program(Rc::new(move |env: Env| -> TaskFuture {
            let (load, book, roster) = (load.clone(), book.clone(), roster.clone());
            Box::pin(async move {
                load.process(env, node, waiting, &book).await;
                roster.finish(node);
            })
        }))
    }

    async fn process(&self, env: Env, node: Node, waiting: Waiting, book: &Book) {
        let entry = entry(self.client.deployment.coordinator());
        let servers = server::servers(entry, self.seed, node);
        let settings = self.settings(waiting);
        let mut lock = (self.client.build)(env.clone(), &servers, &settings);
        let has_work = self.holder_commands > 0;
        let holder = || Holder::new(entry.coordinator, &env, &servers, &settings);
        let mut holder = has_work.then(holder).flatten();
        while book.left.get() > 0 {
            book.left.set(book.left.get() - 1);
            let asked = env.monotonic_clock();
            let Some(lease) = self.acquire(&env, &mut *lock, waiting).await else {
                book.given_up.set(book.given_up.get() + 1);
                continue;
            };
            let granted = env.monotonic_clock();
            if let Some(holder) = &mut holder {
                for _ in 0..self.holder_commands {
                    holder.work().await;
                }
            }
            env.sleep(self.work.into()).await;
            let done = env.monotonic_clock();
            lock.release(lease).await;
            let released = env.monotonic_clock();
            let us = |span: Duration| span.as_micros() as u64;
            book.acquire.borrow_mut().push(us(granted.since(asked)));
            book.hold.borrow_mut().push(us(done.since(granted)));
            book.release.borrow_mut().push(us(released.since(done)));
        }
    }

    async fn acquire(
        &self,
        env: &Env,
        lock: &mut dyn Lock,
        waiting: Waiting,
    ) -> Option<fencepost_clients::Lease> {
        let deadline = env.monotonic_clock().plus(self.patience.into());
        for attempt in 0.. {
            if let Acquisition::Granted(lease) = lock.acquire("lock").await {
                return Some(lease);
            }
            let pause = waiting.pause(attempt, env);
            if env.monotonic_clock().plus(pause) >= deadline {
                return None;
            }
            if !pause.is_zero() {
                env.sleep(pause).await;
            }
        }
        None
    }

    fn settings(&self, waiting: Waiting) -> Settings {
        let (own, patience) = (waiting == Waiting::Own, Duration::from(self.patience));
        let timeout = Duration::from_secs(60);
        Settings {
            ttl: patience * 2,
            retry: waiting::OWN_RETRY.durations(),
            acquire_timeout: if own { patience } else { Duration::ZERO },
            command_timeout: timeout,
            node_timeout: timeout,
            wait: None,
            hears_switches: true,
            lock_delay: None,
        }
    }

    fn sum(&self, waiting: Waiting, book: &Book) -> LoadCase {
        let served = book.release.borrow().len() as u32;
        let times = book.commands.borrow();
        let commands = times.iter().map(|(_, count)| count).sum::<u64>();
        let elapsed = times.last().map_or(0, |(at, _)| *at).max(1);
        let mut over_time = vec![0; PARTS];
        for (at, count) in times.iter() {
            let part = (at * PARTS as u64 / (elapsed + 1)) as usize;
            over_time[part] += count;
        }
        let (seconds, messages) = (elapsed as f64 / 1e6, book.messages.get());
        let round = |value: f64| (value * 1_000.0).round() / 1_000.0;
        LoadCase {
            waiting: waiting.to_string(),
            served,
            given_up: book.given_up.get(),
            elapsed_us: Micros(elapsed),
            commands,
            commands_per_request: round(commands as f64 / f64::from(served.max(1))),
            messages,
            messages_per_request: round(messages as f64 / f64::from(served.max(1))),
            requests_per_second: round(f64::from(served) / seconds),
            commands_per_second: round(commands as f64 / seconds),
            busy: round((commands * self.service_time.0.0) as f64 / elapsed as f64),
            latency_us: Latencies {
                acquire: Latency::of(book.acquire.take()),
                hold: Latency::of(book.hold.take()),
                release: Latency::of(book.release.take()),
            },
            commands_over_time: over_time,
        }
    }
}

#[derive(Default)]
struct Book {
    left: Cell<u32>,
    given_up: Cell<u32>,
    acquire: RefCell<Vec<u64>>,
    hold: RefCell<Vec<u64>>,
    release: RefCell<Vec<u64>>,
    messages: Cell<u64>,
    commands: RefCell<Vec<(u64, u64)>>,
}

#[cfg(test)]
mod tests;
