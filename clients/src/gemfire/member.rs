//! A process as a member of a distributed system ([`Member`]). The member's cache closes when a
//! server reports that the member has departed, or when the servers that the member has recently
//! heard from have at most half of the view's weight (the oldest server weighs 15, the others 10).

use super::system::{System, first};
use crate::call_error::CallError;
use crate::env::{Address, Draw, Env, Monotonic, Spawned};
use crate::owned_key::fresh_digits;
use crate::stream::Stream;
use crate::task::Notify;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

const AGAIN: RangeInclusive<Duration> = Duration::from_millis(50)..=Duration::from_millis(150);

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    Departed {
        /// `true` if a server may have executed the call, or may not yet know of the departure.
        may_have_applied: bool,
    },
    Refused(String),
    /// The call failed for the reason in the text. A server may have executed it.
    Late(String),
}

pub struct Member {
    shared: Rc<Shared>,
    tasks: Vec<Spawned>,
}

#[derive(Clone, Default)]
struct View {
    number: u64,
    grantor: u8,
    version: u64,
    servers: Vec<u8>,
}

struct HeldLock {
    lock: String,
    serial: u64,
    end: String,
}

struct Shared {
    system: Rc<System>,
    name: String,
    number: u64,
    timeout: Duration,
    view: RefCell<View>,
    heard: RefCell<BTreeMap<u8, Monotonic>>,
    held: RefCell<Vec<HeldLock>>,
    is_closed: Cell<bool>,
    /// `true` if the grantor reported the departure, and has therefore released the member's locks.
    is_told: Cell<bool>,
    changed: Notify,
    serials: Cell<u64>,
    idle: RefCell<BTreeMap<u8, Stream>>,
}

impl Member {
    pub async fn join(system: &Rc<System>, deadline: Monotonic) -> Result<Member, Failure> {
        let env = &system.env;
        let name = String::from_utf8_lossy(&fresh_digits(env)[..8]).into_owned();
        let count = system.servers.len();
        let first = (u128::from(env.random(Draw::Jitter)) * count as u128) >> 64;
        let mut next = system.servers[first as usize].clone();
        for at in first as usize + 1.. {
            let why = match system.ask(&next, &format!("join {name}")).await {
                Ok(answer) => match &words(&answer)[..] {
                    ["joined", numbers @ ..] => {
                        if let Some(member) = Member::started(system, &name, numbers) {
                            return Ok(member);
                        }
                        answer.join(" ")
                    }
                    ["coordinator", host, port] => {
                        let port = port.parse().unwrap_or_default();
                        next = Address { host: (*host).to_owned(), port };
                        pause(env, deadline, "the coordinator did not answer").await?;
                        continue;
                    }
                    _ => format!("a server answered {}", answer.join(" ")),
                },
                Err(error) => error.to_string(),
            };
            next = system.servers[at % count].clone();
            pause(env, deadline, &why).await?;
        }
        Err(Failure::Late("no server answered".to_owned()))
    }

    fn started(system: &Rc<System>, name: &str, numbers: &[&str]) -> Option<Member> {
        let number = |at: usize| numbers.get(at)?.parse::<u64>().ok();
        let (env, servers) = (&system.env, system.ids().collect());
        let now = env.monotonic_clock();
        let shared = Rc::new(Shared {
            system: system.clone(),
            name: name.to_owned(),
            number: number(0)?,
            timeout: Duration::from_micros(number(2)?),
            view: RefCell::new(View { number: number(1)?, servers, ..View::default() }),
            heard: RefCell::new(system.ids().map(|id| (id, now)).collect()),
            held: RefCell::default(),
            is_closed: Cell::new(false),
            is_told: Cell::new(false),
            changed: Notify::new(),
            serials: Cell::new(0),
            idle: RefCell::default(),
        });
        let beats = system.ids().map(|id| env.spawn(send_heartbeats(shared.clone(), id)));
        let tasks = beats.chain([env.spawn(monitor(shared.clone()))]).collect();
        Some(Member { shared, tasks })
    }

    pub fn name(&self) -> &str {
        &self.shared.name
    }

    pub fn is_closed(&self) -> bool {
        self.shared.is_closed.get()
    }

    pub fn silence(&self) -> Duration {
        self.shared.silence()
    }

    pub fn next_serial(&self) -> u64 {
        self.shared.serials.set(self.shared.serials.get() + 1);
        self.shared.serials.get()
    }

    pub async fn lock(
        &self,
        lock: &str,
        serial: u64,
        lease: Duration,
        deadline: Monotonic,
    ) -> Result<(), Failure> {
        let lease_ms = lease.as_millis();
        let request = |now: Monotonic| {
            let wait = deadline.since(now).as_micros();
            format!("{lock} {serial} {wait} {lease_ms}")
        };
        let answer = self.ask_grantor("lock", request, deadline).await?;
        match &words(&answer)[..] {
            ["granted", end] => {
                let (lock, end) = (lock.to_owned(), (*end).to_owned());
                self.shared.held.borrow_mut().push(HeldLock { lock, serial, end });
                Ok(())
            }
            _ => Err(Failure::Late("another member holds the lock".to_owned())),
        }
    }

    /// Releases the lock, or cancels a waiting lock call. Returns `true` if the lock was held.
    pub async fn unlock(
        &self,
        lock: &str,
        serial: u64,
        deadline: Monotonic,
    ) -> Result<bool, Failure> {
        let (request, version) = (|_| format!("{lock} {serial}"), self.version());
        let answer = self.ask_grantor("unlock", request, deadline).await;
        let is_it = |held: &HeldLock| held.lock == lock && held.serial <= serial;
        self.shared.held.borrow_mut().retain(|held| !is_it(held));
        match words(&answer?)[..] {
            ["unlocked"] => Ok(true),
            _ if self.version() == version => Ok(false),
            _ => Err(Failure::Late("the previous grantor may have released the lock".to_owned())),
        }
    }

    pub async fn increment(&self, key: &str, deadline: Monotonic) -> Result<u64, Failure> {
        loop {
            let view = self.shared.view.borrow().clone();
            match self.increment_in(&view, key).await {
                Some(value) => return Ok(value),
                None if self.is_closed() => {
                    return Err(Failure::Departed { may_have_applied: true });
                }
                None => pause(self.env(), deadline, "the view changed during a put").await?,
            }
        }
    }

    async fn increment_in(&self, view: &View, key: &str) -> Option<u64> {
        let (name, number) = (&self.shared.name, view.number);
        let get = format!("get {name} {number} {key}");
        let answer = self.shared.call(view.grantor, &get).await.ok()?;
        let ["value", value] = words(&answer)[..] else { return None };
        let value = value.parse::<u64>().ok()?.checked_add(1)?;
        for id in &view.servers {
            let put = format!("put {name} {number} {key} {value}");
            let answer = self.shared.call(*id, &put).await.ok()?;
            if words(&answer) != ["done"] {
                return None;
            }
        }
        Some(value)
    }

    fn env(&self) -> &Env {
        &self.shared.system.env
    }

    fn version(&self) -> u64 {
        self.shared.view.borrow().version
    }

    async fn ask_grantor(
        &self,
        verb: &str,
        request: impl Fn(Monotonic) -> String,
        deadline: Monotonic,
    ) -> Result<Vec<String>, Failure> {
        let mut may_have_applied = false;
        loop {
            if self.is_closed() {
                let may_stand = !self.shared.is_told.get();
                let may_have_applied = may_have_applied || may_stand;
                return Err(Failure::Departed { may_have_applied });
            }
            let View { grantor, version, .. } = self.shared.view.borrow().clone();
            let now = self.env().monotonic_clock();
            let line = format!("{verb} {} {version} {}", self.shared.name, request(now));
            let limit = deadline.since(now) + self.shared.system.timeout;
            let call = self.shared.call_within(grantor, &line, limit);
            let why = match self.call_while_granted_by(version, call).await {
                None => {
                    may_have_applied = true;
                    "the grantor has departed".to_owned()
                }
                Some(Err(error)) => {
                    may_have_applied |= error.may_have_applied();
                    error.to_string()
                }
                Some(Ok(answer)) => match &words(&answer)[..] {
                    ["departed"] => {
                        self.shared.depart(grantor);
                        continue;
                    }
                    ["full" | "error", ..] => return Err(Failure::Refused(answer.join(" "))),
                    ["busy" | "later" | "not-grantor"] => {
                        format!("the grantor answered {}", answer.join(" "))
                    }
                    _ => return Ok(answer),
                },
            };
            pause(self.env(), deadline, &why).await?;
        }
    }

    async fn call_while_granted_by<T>(
        &self,
        version: u64,
        call: impl Future<Output = T>,
    ) -> Option<T> {
        let mut call = pin!(call);
        let is_over = || self.is_closed() || self.shared.view.borrow().version != version;
        loop {
            let changed = self.shared.changed.notified();
            let result = first(call.as_mut(), changed).await;
            if is_over() {
                return None;
            }
            if result.is_some() {
                return result;
            }
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.tasks.drain(..).for_each(Spawned::abort);
    }
}

impl Shared {
    fn silence(&self) -> Duration {
        self.timeout * 5 / 2
    }

    /// Closes the cache. A grantor other than `by` may not know of the departure.
    fn depart(&self, by: u8) {
        self.is_told.set(self.is_told.get() || by == self.view.borrow().grantor);
        self.close();
    }

    fn close(&self) {
        self.is_closed.set(true);
        self.changed.notify_all();
    }

    async fn call(&self, id: u8, request: &str) -> Result<Vec<String>, CallError> {
        self.call_within(id, request, self.system.timeout).await
    }

    async fn call_within(
        &self,
        id: u8,
        request: &str,
        limit: Duration,
    ) -> Result<Vec<String>, CallError> {
        let unknown = || CallError::NoPrimary("the grantor is unknown".to_owned());
        let address = self.system.address(id).ok_or_else(unknown)?;
        let idle = self.idle.borrow_mut().remove(&id);
        if let Some(mut stream) = idle {
            stream.limit(limit);
            match stream.exchange(request).await {
                Err(CallError::Unsent(_)) => {}
                outcome => return self.keep(id, stream, outcome),
            }
        }
        let mut stream = Stream::open(&self.system.env, address, self.system.timeout).await?;
        stream.limit(limit);
        let outcome = stream.exchange(request).await;
        self.keep(id, stream, outcome)
    }

    fn keep(
        &self,
        id: u8,
        stream: Stream,
        outcome: Result<Vec<String>, CallError>,
    ) -> Result<Vec<String>, CallError> {
        if outcome.is_ok() {
            self.idle.borrow_mut().insert(id, stream);
        }
        outcome
    }

    fn heartbeat(&self) -> String {
        let view = self.view.borrow().number;
        let mut line = format!("alive {} {} {view}", self.name, self.number);
        for HeldLock { lock, serial, end } in self.held.borrow().iter() {
            line += &format!(" {lock} {serial} {end}");
        }
        line
    }

    fn handle_answer(&self, id: u8, answer: &[String]) -> Option<()> {
        match words(answer)[..] {
            ["departed"] => self.depart(id),
            ["view", number, grantor, version, servers] => {
                let number = number.parse().ok()?;
                self.heard.borrow_mut().insert(id, self.system.env.monotonic_clock());
                if number > self.view.borrow().number || self.view.borrow().version == 0 {
                    let (grantor, version) = (grantor.parse().ok()?, version.parse().ok()?);
                    let servers = servers.split(',').filter_map(|id| id.parse().ok()).collect();
                    self.view.replace(View { number, grantor, version, servers });
                    self.changed.notify_all();
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn has_heard_majority(&self, now: Monotonic) -> bool {
        let (view, heard) = (self.view.borrow(), self.heard.borrow());
        let weigh = |at: usize| if at == 0 { 15 } else { 10 };
        let is_heard = |id: &u8| heard.get(id).is_some_and(|at| now.since(*at) < self.silence());
        let all: u32 = (0..view.servers.len()).map(weigh).sum();
        let heard = view.servers.iter().enumerate().filter(|(_, id)| is_heard(id));
        2 * heard.map(|(at, _)| weigh(at)).sum::<u32>() > all
    }
}

async fn send_heartbeats(shared: Rc<Shared>, id: u8) {
    let (env, mut link) = (shared.system.env.clone(), None);
    while !shared.is_closed.get() {
        if !matches!(send_heartbeat(&shared, id, &mut link).await, Ok(Some(()))) {
            env.sleep(env.jitter(&AGAIN)).await;
        }
    }
}

async fn send_heartbeat(
    shared: &Shared,
    id: u8,
    link: &mut Option<Stream>,
) -> Result<Option<()>, CallError> {
    let Some(address) = shared.system.address(id) else { return Ok(None) };
    let mut stream = match link.take() {
        Some(stream) => stream,
        None => Stream::open(&shared.system.env, address, shared.system.timeout).await?,
    };
    stream.limit(shared.silence());
    let answer = stream.exchange(&shared.heartbeat()).await?;
    *link = Some(stream);
    Ok(shared.handle_answer(id, &answer))
}

async fn monitor(shared: Rc<Shared>) {
    let env = shared.system.env.clone();
    let mut last = env.monotonic_clock();
    while !shared.is_closed.get() {
        env.sleep(shared.timeout / 2).await;
        let now = env.monotonic_clock();
        let has_slept = now.since(last) > shared.timeout * 3 / 2;
        last = now;
        if has_slept {
            shared.heard.borrow_mut().values_mut().for_each(|heard| *heard = now);
        } else if !shared.has_heard_majority(now) {
            shared.close();
        }
    }
}

fn words(answer: &[String]) -> Vec<&str> {
    answer.iter().map(String::as_str).collect()
}

async fn pause(env: &Env, deadline: Monotonic, why: &str) -> Result<(), Failure> {
    let delay = env.jitter(&AGAIN);
    let late = || Failure::Late(why.to_owned());
    if env.is_interrupted() || env.monotonic_clock().plus(delay) >= deadline {
        return Err(late());
    }
    env.sleep(delay).await;
    if env.is_interrupted() { Err(late()) } else { Ok(()) }
}
