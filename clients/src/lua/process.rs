use super::machine::{INSTRUCTIONS, Machine, PARTS, Resumed};
use super::natives::{self, Host};
use super::source::{OUT_OF_INSTRUCTIONS, OUT_OF_WAITS, Source, placed};
use super::words::{Request, request_of};
use crate::call_error::CallError;
use crate::env::{Env, Monotonic, Spawned};
use crate::lock::{Servers, Settings};
use luna_core::runtime::Value;
use luna_core::vm::HostRootTicket;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

pub(super) struct Process {
    host: Rc<Host>,
    source: Arc<Source>,
    machine: RefCell<Option<Machine>>,
    functions: [HostRootTicket; PARTS],
    budget: Cell<(Monotonic, i64)>,
    waits_too_briefly: Cell<bool>,
    pub(super) complaint: RefCell<Option<String>>,
    pub(super) tasks: RefCell<BTreeMap<i64, Spawned>>,
    pub(super) tasks_begun: Cell<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Function {
    Acquire = 1,
    Release = 2,
    Extend = 3,
    IsHeld = 4,
    Renew = 5,
}

impl Function {
    pub(super) fn name(self) -> &'static str {
        match self {
            Function::Acquire => "acquire",
            Function::Release => "release",
            Function::Extend => "extend",
            Function::IsHeld => "is_held",
            Function::Renew => "renew",
        }
    }
}

pub(super) struct Failed {
    pub(super) kind: Kind,
    pub(super) message: String,
    pub(super) error: Pinned,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Refused,
    Unknown,
    Script,
}

pub(super) struct Pinned {
    process: Rc<Process>,
    ticket: HostRootTicket,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.process.with(|machine| machine.unpin(self.ticket));
    }
}

impl Pinned {
    pub(super) fn value(&self) -> Value {
        self.process.with(|machine| machine.read(self.ticket)).unwrap_or(Value::Nil)
    }
}

pub(super) enum Step {
    Asks(Request),
    Returned(Vec<Pinned>),
    Failed(Failed),
}

pub(super) enum Reply {
    Values(Vec<LuaValue>),
    Failed { message: String, is_unknown: bool, code: Option<String> },
    Raised(Pinned),
    Misused(String),
}

pub(super) enum LuaValue {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Bytes(bytes::Bytes),
    List(Vec<LuaValue>),
    Kept(Pinned),
}

impl From<&str> for LuaValue {
    fn from(text: &str) -> LuaValue {
        LuaValue::Bytes(bytes::Bytes::copy_from_slice(text.as_bytes()))
    }
}

impl Process {
    pub(super) fn new(
        env: &Env,
        source: &Arc<Source>,
        servers: &Servers,
        settings: &Settings,
    ) -> Result<Rc<Process>, String> {
        let mut machine = Machine::take(source).map_err(|raw| source.describe(&raw))?;
        let masters = match servers {
            Servers::Independent(masters) => masters.len() as i64,
            Servers::One(_) | Servers::Sentinels { .. } | Servers::Ensemble(_) => 0,
        };
        let parts = machine.instantiate(masters).map_err(|raw| source.describe(&raw))?;
        Ok(Rc::new(Process {
            host: Rc::new(Host { env: env.clone(), retry: settings.retry.clone() }),
            source: source.clone(),
            functions: parts.map(|part| machine.pin(part)),
            machine: RefCell::new(Some(machine)),
            budget: Cell::new((Monotonic(0), INSTRUCTIONS)),
            waits_too_briefly: Cell::new(false),
            complaint: RefCell::default(),
            tasks: RefCell::default(),
            tasks_begun: Cell::new(0),
        }))
    }

    pub(super) fn with<R>(&self, body: impl FnOnce(&mut Machine) -> R) -> Option<R> {
        self.machine.borrow_mut().as_mut().map(body)
    }

    pub(super) fn function(self: &Rc<Self>, function: Function) -> Pinned {
        let ticket = self.functions[function as usize];
        let value = self.with(|machine| machine.read(ticket)).unwrap_or(Value::Nil);
        self.pin(value)
    }

    pub(super) fn pin(self: &Rc<Self>, value: Value) -> Pinned {
        let ticket = self.with(|machine| machine.pin(value));
        Pinned { process: self.clone(), ticket: ticket.unwrap_or(self.functions[0]) }
    }

    pub(super) fn adopt(self: &Rc<Self>, ticket: HostRootTicket) -> Pinned {
        Pinned { process: self.clone(), ticket }
    }

    pub(super) fn begin(self: &Rc<Self>, function: &Pinned) -> Pinned {
        let ticket = self.with(|machine| machine.begin(function.ticket));
        Pinned { process: self.clone(), ticket: ticket.unwrap_or(self.functions[0]) }
    }

    /// Resumes a coroutine that has waited too often for less than 1 ms, so that it fails.
    pub(super) fn end(self: &Rc<Self>, coroutine: &Pinned, reply: Reply) -> Step {
        self.budget.set((self.host.env.monotonic_clock(), 0));
        self.waits_too_briefly.set(true);
        let step = self.resume(coroutine, reply);
        self.waits_too_briefly.set(false);
        step
    }

    pub(super) fn resume(self: &Rc<Self>, coroutine: &Pinned, reply: Reply) -> Step {
        let now = self.host.env.monotonic_clock();
        let (since, left) = self.budget.get();
        let instructions = if now > since { INSTRUCTIONS } else { left };
        let mut slot = self.machine.borrow_mut();
        let Some(machine) = slot.as_mut() else { return Step::Returned(Vec::new()) };
        let is_first = matches!(&reply, Reply::Values(_)) && !coroutine.is_begun(machine);
        let values = values_of(machine, &reply, is_first);
        let resume = || machine.resume(coroutine.ticket, values, instructions);
        let (outcome, left) = natives::on(&self.host, resume);
        self.budget.set((now, left));
        let step = match outcome {
            Ok(Resumed::Asks(values)) => Ok(request_of(machine, &values)),
            Ok(Resumed::Returned(values)) => {
                Err(Ok(values.into_iter().map(|value| machine.pin(value)).collect::<Vec<_>>()))
            }
            Err(error) => {
                let (kind, message) = self.meaning(machine, error.0, coroutine.ticket);
                Err(Err((kind, message, machine.pin(error.0))))
            }
        };
        drop(slot);
        let pinned = |ticket| Pinned { process: self.clone(), ticket };
        match step {
            Ok(asked) => Step::Asks(asked),
            Err(Ok(tickets)) => Step::Returned(tickets.into_iter().map(pinned).collect()),
            Err(Err((kind, message, error))) => {
                Step::Failed(Failed { kind, message, error: pinned(error) })
            }
        }
    }

    fn meaning(
        &self,
        machine: &mut Machine,
        error: Value,
        coroutine: HostRootTicket,
    ) -> (Kind, String) {
        let message = machine.field(error, "message");
        if !matches!(message, Value::Str(_)) {
            let mut text = machine.text_of(error);
            if self.waits_too_briefly.get() {
                text = text.replace(OUT_OF_INSTRUCTIONS, OUT_OF_WAITS);
            }
            let raw = placed(text, &machine.traceback(coroutine));
            return (Kind::Script, self.source.describe(&raw));
        }
        let is_unknown = machine.field(error, "unknown").truthy();
        let kind = if is_unknown { Kind::Unknown } else { Kind::Refused };
        (kind, machine.text_of(message))
    }

    pub(super) fn wrong(&self, function: Function, problem: &str) -> String {
        let ticket = self.functions[function as usize];
        let line = self.with(|machine| machine.line_of(ticket)).unwrap_or_default();
        self.source.describe_line(line, problem)
    }
}

impl Pinned {
    fn is_begun(&self, machine: &Machine) -> bool {
        matches!(machine.read(self.ticket), Value::Coro(one) if one.started)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(machine) = self.machine.take() {
            machine.recycle();
        }
    }
}

pub(super) fn failed(error: &CallError) -> Reply {
    let code = match error {
        CallError::Server(text) => text.split(' ').next().map(str::to_owned),
        _ => None,
    };
    let is_unknown = error.may_have_applied();
    Reply::Failed { message: error.to_string(), is_unknown, code }
}

fn values_of(machine: &mut Machine, reply: &Reply, is_first: bool) -> Vec<Value> {
    let mut values = Vec::with_capacity(4);
    match reply {
        Reply::Values(told) => {
            if !is_first {
                values.push(Value::Bool(true));
            }
            values.extend(told.iter().map(|one| value_of(machine, one)));
        }
        Reply::Failed { message, is_unknown, code } => {
            let message = machine.string(message.as_bytes());
            let code = code.as_ref().map_or(Value::Nil, |code| machine.string(code.as_bytes()));
            values.extend([Value::Bool(false), message, Value::Bool(*is_unknown), code]);
        }
        Reply::Raised(error) => {
            values.extend([machine.string(b"again"), machine.read(error.ticket)]);
        }
        Reply::Misused(problem) => {
            let problem = machine.string(problem.as_bytes());
            values.extend([machine.string(b"misused"), problem]);
        }
    }
    values
}

fn value_of(machine: &mut Machine, told: &LuaValue) -> Value {
    match told {
        LuaValue::Nil => Value::Nil,
        LuaValue::Bool(is_true) => Value::Bool(*is_true),
        LuaValue::Int(number) => Value::Int(*number),
        LuaValue::Float(number) => Value::Float(*number),
        LuaValue::Bytes(bytes) => machine.string(bytes),
        LuaValue::List(all) => {
            let values: Vec<Value> = all.iter().map(|one| value_of(machine, one)).collect();
            machine.list(&values)
        }
        LuaValue::Kept(pinned) => machine.read(pinned.ticket),
    }
}
