use super::actor::Actor;
use super::connections::Place;
use super::natives::UPTIME_MS;
use super::process::{Failed, Function, Kind, LuaValue, Pinned, Process};
use super::script::Script;
use crate::env::{Env, Monotonic, Note, Spawned};
use crate::lock::{
    Acquisition, Algorithm, Check, Extension, FencingToken, Lease, Lock, Release, Servers,
    Settings, Usage,
};
use crate::retry::Retry;
use bytes::Bytes;
use luna_core::runtime::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

impl Script {
    pub fn build(&self, env: Env, servers: &Servers, settings: &Settings) -> Box<dyn Lock> {
        let place = Rc::new(Place::new(&env, servers, settings, self.facts.deployment));
        let actor = Process::new(&env, &self.source, servers, settings)
            .map(|process| Actor::new(&process, &place));
        Box::new(Scripted { script: self.clone(), env, place, actor, renewals: BTreeMap::new() })
    }
}

struct Scripted {
    script: Script,
    env: Env,
    place: Rc<Place>,
    actor: Result<Actor, String>,
    renewals: BTreeMap<Bytes, Spawned>,
}

enum Answer {
    Yes,
    No,
    Unknown(String),
}

impl Scripted {
    fn ttl_ms(&self) -> LuaValue {
        LuaValue::Int(i64::try_from(self.place.settings.ttl.as_millis()).unwrap_or(i64::MAX))
    }

    fn lease_values(lease: &Lease) -> Vec<LuaValue> {
        vec![LuaValue::from(lease.resource.as_str()), LuaValue::Bytes(lease.owner.clone())]
    }

    async fn call(
        &self,
        function: Function,
        arguments: Vec<LuaValue>,
    ) -> Result<(Rc<Process>, Vec<Pinned>), (Kind, String)> {
        let actor = self.actor.as_ref().map_err(|problem| (Kind::Script, problem.clone()))?;
        let complaint = actor.process.complaint.borrow_mut().take();
        complaint.map_or(Ok(()), |complaint| Err((Kind::Script, complaint)))?;
        let function = actor.process.function(function);
        let outcome = actor.call(&function, arguments).await;
        let outcome = outcome.map_err(|Failed { kind, message, .. }| (kind, message));
        outcome.map(|values| (actor.process.clone(), values))
    }

    async fn attempt(&self, resource: &str) -> Result<Acquisition, String> {
        let patience = self.place.settings.acquire_timeout.as_micros() as f64 / 1_000.0;
        let arguments = vec![LuaValue::from(resource), self.ttl_ms(), LuaValue::Float(patience)];
        match self.call(Function::Acquire, arguments).await {
            Ok((process, values)) => {
                let values: Vec<Value> = values.iter().map(Pinned::value).collect();
                let outcome = process.with(|machine| granted(machine, &values));
                match outcome.unwrap_or(Ok(None)) {
                    Ok(Some((owner, token, valid_until))) => {
                        let resource = resource.to_owned();
                        Ok(Acquisition::Granted(Lease { resource, owner, token, valid_until }))
                    }
                    Ok(None) => Ok(Acquisition::Refused(reason(&process, &values).into())),
                    Err(problem) => Err(process.wrong(Function::Acquire, &problem)),
                }
            }
            Err((Kind::Refused, reason)) => Ok(Acquisition::Refused(reason.into())),
            Err((Kind::Unknown, reason)) => Ok(Acquisition::Unknown(reason)),
            Err((Kind::Script, reason)) => Err(reason),
        }
    }

    async fn attempts(&self, resource: &str) -> Result<(Acquisition, Monotonic), String> {
        let mut retry = Retry::start(&self.env, &self.place.settings);
        let mut standing = None;
        loop {
            let sent = self.env.monotonic_clock();
            let outcome = self.attempt(resource).await?;
            let is_over = self.script.facts.waits || matches!(outcome, Acquisition::Granted(_));
            if let Acquisition::Unknown(_) = outcome {
                standing = Some(outcome.clone());
            }
            if is_over {
                return Ok((outcome, sent));
            }
            if !retry.wait_to_retry().await {
                return Ok((standing.unwrap_or(outcome), sent));
            }
        }
    }

    fn renew(&mut self, lease: &Lease, sent: Monotonic) {
        let Ok(actor) = &self.actor else { return };
        let renewal = Renewal {
            actor: Actor::new(&actor.process, &self.place),
            lease: lease.clone(),
            confirmed: sent,
        };
        let task = self.env.spawn(renewal.renew_until_lost());
        self.renewals.insert(lease.owner.clone(), task);
    }

    async fn ask(&self, function: Function, arguments: Vec<LuaValue>) -> Answer {
        match self.call(function, arguments).await {
            Ok((process, values)) => yes_or_no(function, &process, &values),
            Err((_, reason)) => Answer::Unknown(reason),
        }
    }

    async fn extend_now(&mut self, lease: &mut Lease) -> Extension {
        let sent = self.env.monotonic_clock();
        let mut arguments = Scripted::lease_values(lease);
        arguments.push(self.ttl_ms());
        match self.ask(Function::Extend, arguments).await {
            Answer::Yes => {
                lease.valid_until = Some(sent.plus(self.place.settings.ttl));
                Extension::Extended
            }
            Answer::No => {
                self.env.note(Note::LockLost);
                Extension::NotHeld
            }
            Answer::Unknown(reason) => Extension::Unknown(reason),
        }
    }

    async fn check_now(&mut self, lease: &Lease) -> Check {
        match self.ask(Function::IsHeld, Scripted::lease_values(lease)).await {
            Answer::Yes => Check::Ours,
            Answer::No => {
                self.env.note(Note::LockLost);
                Check::NotHeld
            }
            Answer::Unknown(reason) => Check::Unknown(reason),
        }
    }
}

struct Renewal {
    actor: Actor,
    lease: Lease,
    confirmed: Monotonic,
}

impl Renewal {
    async fn renew_until_lost(mut self) {
        let (env, ttl) = (self.actor.place.env.clone(), self.actor.place.settings.ttl);
        loop {
            env.sleep(ttl / 3).await;
            let sent = env.monotonic_clock();
            match self.once().await {
                Answer::Yes => self.confirmed = sent,
                Answer::No => return env.note(Note::LockLost),
                Answer::Unknown(_) if env.monotonic_clock().since(self.confirmed) >= ttl => {
                    return env.note(Note::LockLost);
                }
                Answer::Unknown(_) => {}
            }
        }
    }

    async fn once(&self) -> Answer {
        let process = &self.actor.process;
        let mut arguments = Scripted::lease_values(&self.lease);
        let ttl_ms = self.actor.place.settings.ttl.as_millis();
        arguments.push(LuaValue::Int(i64::try_from(ttl_ms).unwrap_or(i64::MAX)));
        let outcome = self.actor.call(&process.function(Function::Renew), arguments).await;
        let answer = match outcome {
            Ok(values) => {
                let values: Vec<Value> = values.iter().map(Pinned::value).collect();
                read_answer(Function::Renew, process, &values)
            }
            Err(Failed { kind: Kind::Script, message, .. }) => Err(message),
            Err(failed) => return Answer::Unknown(failed.message),
        };
        answer.unwrap_or_else(|problem| {
            process.complaint.borrow_mut().get_or_insert(problem.clone());
            Answer::Unknown(problem)
        })
    }
}

fn yes_or_no(function: Function, process: &Rc<Process>, values: &[Pinned]) -> Answer {
    let values: Vec<Value> = values.iter().map(Pinned::value).collect();
    read_answer(function, process, &values).unwrap_or_else(Answer::Unknown)
}

/// Reads a boolean; nil counts as `false`. Rejects other values, because Lua treats even 0 as true.
fn read_answer(
    function: Function,
    process: &Rc<Process>,
    values: &[Value],
) -> Result<Answer, String> {
    match values.first() {
        None | Some(Value::Nil | Value::Bool(false)) => Ok(Answer::No),
        Some(Value::Bool(true)) => Ok(Answer::Yes),
        Some(other) => {
            let kind = other.type_name();
            let hint = if kind == "number" { "; 0 is true in Lua" } else { "" };
            let name = function.name();
            let problem = format!("{name} returned a {kind}: expected true, false or nil{hint}");
            Err(process.wrong(function, &problem))
        }
    }
}

fn reason(process: &Rc<Process>, values: &[Value]) -> String {
    match values.get(1) {
        Some(text @ Value::Str(_)) => {
            process.with(|machine| machine.text_of(*text)).unwrap_or_default()
        }
        _ => "held by another".to_owned(),
    }
}

type Grant = (Bytes, Option<FencingToken>, Option<Monotonic>);

fn granted(
    machine: &mut super::machine::Machine,
    values: &[Value],
) -> Result<Option<Grant>, String> {
    let owner = |value: Value| match value {
        Value::Str(text) => Some(Bytes::copy_from_slice(text.as_bytes())),
        Value::Int(number) => Some(Bytes::from(number.to_string())),
        _ => None,
    };
    let expected = "the owner as a string, a table with owner, or nil";
    match values.first().copied().unwrap_or(Value::Nil) {
        Value::Nil | Value::Bool(false) => Ok(None),
        table @ Value::Table(_) => {
            let named = machine.field(table, "owner");
            let owner = owner(named).ok_or_else(|| {
                format!(
                    "acquire returned a table whose owner is a {}: expected a string",
                    named.type_name()
                )
            })?;
            let token = match machine.field(table, "token") {
                Value::Nil => None,
                Value::Int(token @ 0..) => Some(FencingToken(token.unsigned_abs())),
                other => {
                    let told = machine.text_of(other);
                    return Err(format!(
                        "acquire returned the token '{told}': expected a whole number, at least 0"
                    ));
                }
            };
            Ok(Some((owner, token, valid_until(machine, table)?)))
        }
        value => match owner(value) {
            Some(owner) => Ok(Some((owner, None, None))),
            None => Err(format!("acquire returned a {}: expected {expected}", value.type_name())),
        },
    }
}

fn valid_until(
    machine: &mut super::machine::Machine,
    table: Value,
) -> Result<Option<Monotonic>, String> {
    let milliseconds = match machine.field(table, "valid_until") {
        Value::Nil => return Ok(None),
        Value::Int(number) => number as f64,
        Value::Float(number) => number,
        other => {
            return Err(format!(
                "acquire returned a valid_until that is a {}: expected milliseconds of monotonic()",
                other.type_name()
            ));
        }
    };
    if !milliseconds.is_finite() {
        return Err(format!(
            "acquire returned valid_until {milliseconds}: expected a time of monotonic(), such as \
             monotonic() + ttl"
        ));
    }
    // A time before the start of the run counts as the start.
    Ok(Some(Monotonic(((milliseconds - UPTIME_MS) * 1_000.0).round().max(0.0) as u64)))
}

impl Algorithm for Scripted {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let (outcome, sent) = match self.attempts(resource).await {
            Ok(outcome) => outcome,
            Err(problem) => return Acquisition::Unknown(problem),
        };
        if let Acquisition::Granted(lease) = &outcome
            && self.script.facts.has_renew
        {
            self.renew(lease, sent);
        }
        outcome
    }

    async fn release(&mut self, lease: Lease) -> Release {
        if let Some(task) = self.renewals.remove(&lease.owner) {
            task.abort();
        }
        let mut arguments = Scripted::lease_values(&lease);
        arguments.extend(lease.token.map(|token| LuaValue::Int(token.0 as i64)));
        match self.ask(Function::Release, arguments).await {
            Answer::Yes => Release::Released,
            Answer::No => Release::NotHeld,
            Answer::Unknown(reason) => Release::Unknown(reason),
        }
    }

    async fn extend(&mut self, lease: &mut Lease) -> Extension {
        if !self.script.facts.extends {
            return Extension::Unsupported;
        }
        self.extend_now(lease).await
    }

    async fn check(&mut self, lease: &Lease) -> Check {
        if !self.script.facts.checks {
            return Check::Unsupported;
        }
        self.check_now(lease).await
    }

    fn usage(&self) -> Usage {
        let facts = &self.script.facts;
        Usage { extends: facts.extends, checks: facts.checks, renews: facts.renews, ..Usage::PLAIN }
    }
}
