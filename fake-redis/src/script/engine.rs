//! The Lua state of a thread. All servers of the thread share it, because creation is slow. Shared
//! tables are read-only (shared.rs), so that scripts cannot leave globals behind. The state of a
//! running script is in [`Run`](super::run::Run). Each server has its own set of *known* scripts.

use super::host::{Result, raise_text, string};
use super::shared::{self, SharedTables};
use super::{functions, host, lend, limits};
use crate::config::RedisVersion;
use crate::data::number;
use crate::protocol::args::Args;
use crate::protocol::reply::Reply;
use crate::state::scripts::Sha;
use indexmap::IndexMap;
use luna_core::runtime::Value;
use luna_core::version::LuaVersion;
use luna_core::vm::{HostRootTicket, LuaError, Vm};
use rustc_hash::FxBuildHasher;
use std::cell::RefCell;

const COMPILED_MAX: usize = 512;
const KEPT_BYTES: usize = 16 << 20;
const GARBAGE_MAX: usize = 512 << 10;

pub(super) enum Outcome {
    Replied,
    Returned(Value),
    Failed(Value),
}

pub(super) struct Engine {
    vm: Vm,
    /// The VM pins `run` and `set_version`, so it never collects these functions of prelude.lua.
    run: Value,
    set_version: Value,
    #[cfg(test)]
    pub(crate) globals: Value,
    shared: SharedTables,
    compiled: IndexMap<Sha, HostRootTicket, FxBuildHasher>,
    version: Option<RedisVersion>,
    alive: usize,
}

thread_local! {
    static KEPT: RefCell<Option<Box<Engine>>> = const { RefCell::new(None) };
}

pub(super) fn with<R>(
    body: impl FnOnce(&mut Engine) -> Result<R>,
) -> std::result::Result<R, Vec<u8>> {
    let kept = KEPT.with_borrow_mut(Option::take);
    let mut engine = match kept {
        Some(engine) => engine,
        None => Box::new(Engine::new()?),
    };
    let result = body(&mut engine).map_err(|error| engine.text_of(error))?;
    engine.collect_garbage();
    if engine.vm.memory_used() <= KEPT_BYTES {
        KEPT.set(Some(engine));
    }
    Ok(result)
}

impl Engine {
    fn new() -> std::result::Result<Self, Vec<u8>> {
        let mut vm = Vm::sandbox(LuaVersion::Lua51)
            .open_base()
            .open_math()
            .open_string()
            .open_table()
            .open_coroutine()
            .build();
        vm.set_loader_input_budget(limits::MEMORY_MAX);
        host::set_number_check(find_number_check(&mut vm));
        shared::take();
        let natives = functions::natives(&mut vm);
        let prelude = vm.load(include_bytes!("prelude.lua"), b"=prelude");
        let prelude = prelude.map_err(|error| error.to_string().into_bytes())?;
        let made = vm.call_value(Value::Closure(prelude), &[natives]);
        let made = made.map_err(|error| vm.error_text(&error).into_bytes())?;
        let [run, set_version, globals] = made[..] else {
            return Err(b"the prelude returned something else".to_vec());
        };
        for value in [run, set_version, globals] {
            vm.pin_host(value);
        }
        vm.collect_garbage();
        let alive = vm.memory_used();
        Ok(Engine {
            vm,
            run,
            set_version,
            #[cfg(test)]
            globals,
            shared: shared::take(),
            compiled: IndexMap::default(),
            version: None,
            alive,
        })
    }

    pub(super) fn vm(&mut self) -> &mut Vm {
        &mut self.vm
    }

    fn text_of(&self, error: LuaError) -> Vec<u8> {
        host::text_of(error.0).unwrap_or_else(|| self.vm.error_text(&error).into_bytes())
    }

    pub(super) fn compile<'b>(
        &mut self,
        sha: Sha,
        body: impl FnOnce() -> &'b [u8],
    ) -> Result<Value> {
        if let Some(ticket) = self.compiled.get(&sha) {
            return Ok(self.vm.read_host(*ticket).unwrap_or(Value::Nil));
        }
        if self.compiled.len() >= COMPILED_MAX {
            for (_, ticket) in self.compiled.drain(..) {
                let _ = self.vm.unpin(ticket);
            }
        }
        let script = match self.vm.load(body(), b"@user_script") {
            Ok(script) => Value::Closure(script),
            Err(error) => {
                let problem = [b"user_script:", error.to_string().as_bytes()].concat();
                return Err(raise_text(&mut self.vm, &problem));
            }
        };
        self.compiled.insert(sha, self.vm.pin_host(script));
        Ok(script)
    }

    pub(super) fn run(
        &mut self,
        script: Value,
        (keys, arguments): (Args<'_>, Args<'_>),
        version: RedisVersion,
        reply: &mut Reply,
    ) -> Result<Outcome> {
        shared::select(&self.shared);
        self.vm.set_instr_budget(None);
        if self.version != Some(version) {
            let known = if version < RedisVersion::V7_0 {
                [Value::Nil, Value::Nil]
            } else {
                let text = string(&mut self.vm, version.text().as_bytes());
                [text, Value::Float(version.number() as f64)]
            };
            self.vm.call_value(self.set_version, &known)?;
            self.version = Some(version);
        }
        let (keys, arguments) = (self.list(keys), self.list(arguments));
        limits::begin(&mut self.vm);
        let ended = self.vm.call_value(self.run, &[script, keys, arguments]);
        self.vm.set_memory_cap(None);
        limits::resume_panic();
        lend::borrow(|run| run.walks.forget(&mut self.vm));
        let ended = ended?;
        let value = ended.get(1).copied().unwrap_or(Value::Nil);
        Ok(match (ended.first(), value) {
            (Some(Value::Bool(true)), Value::Str(text)) => {
                reply.bulk(text.as_bytes());
                Outcome::Replied
            }
            (Some(Value::Bool(true)), Value::Float(number)) => {
                reply.integer(number::truncated(number));
                Outcome::Replied
            }
            (Some(Value::Bool(true)), value) => Outcome::Returned(value),
            (_, problem) => Outcome::Failed(problem),
        })
    }

    fn list(&mut self, parts: Args<'_>) -> Value {
        let mut list = self.vm.new_table();
        for (part, index) in parts.iter().zip(1_i32..) {
            list = list.with(f64::from(index), part);
        }
        Value::Table(list.build())
    }

    fn collect_garbage(&mut self) {
        if self.vm.memory_used() > self.alive + GARBAGE_MAX {
            self.vm.collect_garbage();
            self.alive = self.vm.memory_used();
        }
    }
}

fn find_number_check(vm: &mut Vm) -> host::Native {
    let math = string(vm, b"math");
    let floor = string(vm, b"floor");
    let floor = match vm.globals().get(math) {
        Value::Table(math) => math.get(floor),
        _ => Value::Nil,
    };
    match floor {
        Value::Native(floor) => floor.f,
        _ => |_, _, _| Ok(0),
    }
}
