//! A Lua state for scripts, kept by its thread and used by every server on it. Must never know
//! which server it is.
//!
//! A state costs 30 microseconds to make, as much as a whole run of few commands, so one is made
//! when a thread first needs it, and its compiled scripts are kept by their SHA-1. It must carry
//! nothing from one script to the next: globals and libraries cannot be changed (prelude.lua),
//! KEYS, ARGV, the random numbers and the count of looks are set anew for every run. Which scripts
//! a server *knows* is the server's own business.

use super::enter::{self, Compiled};
use super::functions;
use super::harm::Harm;
use super::library::json::Settings;
use super::random::ScriptRandom;
use crate::args::Args;
use crate::config::RedisVersion;
use crate::reply::Reply;
use indexmap::IndexMap;
use mlua::chunk::ChunkMode;
use mlua::state::{GcIncParams, GcMode};
use mlua::{Function, HookTriggers, Lua, LuaOptions, Result, StdLib, Table, Value, VmState};
use rustc_hash::FxBuildHasher;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The SHA-1 of a script, in lower-case hexadecimal digits.
pub(crate) type Sha = [u8; 40];

/// Garbage is collected when memory has grown to so many percent of what was in use: the state is
/// small, and going through it costs more than the memory is worth.
const GARBAGE_PERCENT: i32 = 1_000;
/// How many compiled scripts a thread keeps before it forgets them all.
const COMPILED_MAX: usize = 512;
/// How many instructions are executed between two looks at a run: about a millisecond, as in Redis.
const INSTRUCTIONS_PER_LOOK: u32 = 100_000;

/// What the functions of a state share with its engine.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Random numbers of scripts.
    pub(crate) random: ScriptRandom,
    /// How cjson reads and writes, which is the running server's.
    pub(crate) json: Rc<Cell<Settings>>,
    /// How often this run was looked at.
    looks: Cell<u32>,
}

/// How a run ended.
pub(crate) enum Outcome {
    /// With a value that is in the reply already.
    Replied,
    /// With a value.
    Returned(Value),
    /// With a problem: a table with `err`, and with `line` if it arose in the script itself.
    Failed(Value),
}

/// A Lua state with what was compiled in it.
pub(crate) struct Engine {
    lua: Lua,
    /// What scripts see.
    globals: Table,
    /// What scripts see that change nothing.
    open: Table,
    scope: enter::Scope,
    redis: Table,
    shared: Rc<Shared>,
    compiled: IndexMap<Sha, Compiled, FxBuildHasher>,
    version: Option<RedisVersion>,
}

thread_local! {
    static KEPT: RefCell<Option<Box<Engine>>> = const { RefCell::new(None) };
}

/// Uses this thread's engine. If `body` fails in Lua itself (out of memory), the engine is thrown
/// away.
pub(crate) fn with<R>(body: impl FnOnce(&mut Engine) -> Result<R>) -> Result<R> {
    let kept = KEPT.with_borrow_mut(Option::take);
    let mut engine = match kept {
        Some(engine) => engine,
        None => Box::new(Engine::new()?),
    };
    let result = body(&mut engine)?;
    KEPT.set(Some(engine));
    Ok(result)
}

impl Engine {
    fn new() -> Result<Self> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(false))?;
        let shared = Rc::new(Shared {
            random: ScriptRandom::new(),
            json: Rc::default(),
            looks: Cell::new(0),
        });
        let native = functions::table(&lua, &shared)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=prelude");
        let (globals, handle_problem, redis, real, open): (Table, Function, Table, Table, Table) =
            prelude.call(native)?;
        let scope = enter::Scope::new(&lua, [real, open.clone()], handle_problem)?;
        lua.gc_set_mode(GcMode::Incremental(GcIncParams::default().pause(GARBAGE_PERCENT)));
        look_at_runs(&lua, &shared)?;
        Ok(Engine {
            lua,
            globals,
            open,
            scope,
            redis,
            shared,
            compiled: IndexMap::default(),
            version: None,
        })
    }

    /// The Lua state.
    #[cfg(test)]
    pub(crate) fn lua(&self) -> &Lua {
        &self.lua
    }

    /// The tables in which scripts find their globals, for the test that looks for leaks.
    #[cfg(test)]
    pub(crate) fn worlds(&self) -> &[Table; 2] {
        &self.scope.globals
    }

    /// The random numbers of scripts, whose state is the running server's.
    pub(crate) fn random_state(&self) -> &std::cell::Cell<u64> {
        &self.shared.random.state
    }

    /// How cjson reads and writes, which is the running server's.
    pub(crate) fn json(&self) -> &Cell<Settings> {
        &self.shared.json
    }

    /// Compiles a script unless it is compiled already; what is returned is good until another one
    /// is compiled. The body is what follows a `#!` line, if there is one.
    ///
    /// # Errors
    /// With what Lua says of the script's syntax.
    pub(super) fn compile<'b>(
        &mut self,
        sha: Sha,
        body: impl FnOnce() -> &'b [u8],
    ) -> Result<Compiled> {
        if let Some(compiled) = self.compiled.get(&sha) {
            return Ok(*compiled);
        }
        if self.compiled.len() >= COMPILED_MAX {
            enter::forget(&self.lua, self.compiled.drain(..).map(|(_, script)| script))?;
        }
        let body = body();
        let chunk = self.lua.load(body).set_name("@user_script").set_mode(ChunkMode::Text);
        let harm = Harm::of(body);
        let globals = if harm == Harm::None { &self.open } else { &self.globals };
        let function = chunk.set_environment(globals.clone()).into_function()?;
        let compiled = enter::keep(&self.lua, function, harm)?;
        self.compiled.insert(sha, compiled);
        Ok(compiled)
    }

    /// Runs a compiled script with KEYS and ARGV. The simplest results are written to `reply`.
    pub(super) fn run(
        &mut self,
        script: Compiled,
        (keys, arguments): (Args<'_>, Args<'_>),
        version: RedisVersion,
        reply: &mut Reply,
    ) -> Result<Outcome> {
        if self.version != Some(version) {
            self.redis.raw_set("REDIS_VERSION", version.text())?;
            self.redis.raw_set("REDIS_VERSION_NUM", version.number())?;
            self.version = Some(version);
        }
        self.shared.looks.set(0);
        Ok(match enter::call_script(&self.lua, &self.scope, script, [keys, arguments], reply)? {
            None => Outcome::Replied,
            Some((true, value)) => Outcome::Returned(value),
            Some((false, problem)) => Outcome::Failed(problem),
        })
    }
}

fn look_at_runs(lua: &Lua, shared: &Rc<Shared>) -> Result<()> {
    let shared = Rc::clone(shared);
    let triggers = HookTriggers::new().every_nth_instruction(INSTRUCTIONS_PER_LOOK);
    lua.set_global_hook(triggers, move |_, _| {
        let looks = shared.looks.get().saturating_add(1);
        shared.looks.set(looks);
        functions::look(looks).map(|()| VmState::Continue)
    })
}
