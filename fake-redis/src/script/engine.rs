//! A Lua state for scripts, kept by its thread and used by every server on it.
//!
//! A state costs 30 microseconds to make, as much as a whole run of few commands, so one is made
//! when a thread first needs it, and its compiled scripts are kept by their SHA-1. It must carry
//! nothing from one script to the next: globals and libraries cannot be changed (prelude.lua);
//! KEYS, ARGV, environments, the random numbers and the counts of objects, instructions and looks
//! are set anew for every run; garbage and addresses are not seen (lua/README.md). Which scripts a
//! server *knows* is the server's own business.

use super::enter::{Compiled, Scope};
use super::functions;
use super::long::MEMORY_MAX;
use super::lua_state;
use super::problem;
use super::random::ScriptRandom;
use super::shared::Shared;
use crate::config::RedisVersion;
use crate::protocol::args::Args;
use crate::protocol::reply::Reply;
use crate::state::scripts::{Settings, Sha};
use indexmap::IndexMap;
use mlua::chunk::ChunkMode;
use mlua::state::{GcIncParams, GcMode};
use mlua::{Function, HookTriggers, Lua, LuaOptions, Result, StdLib, Table, Value, VmState};
use rustc_hash::FxBuildHasher;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Garbage is collected when memory has grown to so many percent of what was in use: the state is
/// small, and going through it costs more than the memory is worth.
const GARBAGE_PERCENT: i32 = 1_000;
/// How many compiled scripts a thread keeps before it forgets them all.
const COMPILED_MAX: usize = 512;
/// How many instructions are executed between two looks at a run: about a millisecond, as in Redis.
const INSTRUCTIONS_PER_LOOK: u32 = 100_000;

/// An engine that uses more after a script is thrown away: what a script needs must not depend on
/// what others left for the garbage collector.
const KEPT_KILOBYTES: usize = 16 * 1_024;
/// Garbage is collected in full whenever a run is looked at while so much memory is used, unless
/// more than half of it was alive the last time.
const COLLECTED_FROM: usize = MEMORY_MAX / 2;

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
    scope: Scope,
    redis: Table,
    shared: Rc<Shared>,
    compiled: IndexMap<Sha, Compiled, FxBuildHasher>,
    version: Option<RedisVersion>,
}

thread_local! {
    static KEPT: RefCell<Option<Box<Engine>>> = const { RefCell::new(None) };
}

/// Uses this thread's engine. It is thrown away if `body` fails in Lua itself, or leaves much
/// behind.
pub(crate) fn with<R>(body: impl FnOnce(&mut Engine) -> Result<R>) -> Result<R> {
    let kept = KEPT.with_borrow_mut(Option::take);
    let mut engine = match kept {
        Some(engine) => engine,
        None => Box::new(Engine::new()?),
    };
    let result = body(&mut engine)?;
    if engine.scope.used_kilobytes() <= KEPT_KILOBYTES {
        KEPT.set(Some(engine));
    }
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
            ending: Cell::new(None),
            alive: Cell::new(0),
        });
        let native = functions::table(&lua, &shared)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=prelude");
        let (handle_problem, redis): (Function, Table) = prelude.call(native)?;
        let scope = Scope::new(&lua, handle_problem)?;
        lua.gc_set_mode(GcMode::Incremental(GcIncParams::default().pause(GARBAGE_PERCENT)));
        look_at_runs(&lua, &shared)?;
        lua_state::seal(&lua)?;
        Ok(Engine { lua, scope, redis, shared, compiled: IndexMap::default(), version: None })
    }

    /// The Lua state.
    #[cfg(test)]
    pub(crate) fn lua(&self) -> &Lua {
        &self.lua
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
            self.compiled.drain(..).try_for_each(|(_, script)| self.scope.forget(script))?;
        }
        let chunk = self.lua.load(body()).set_name("@user_script").set_mode(ChunkMode::Text);
        let compiled = self.scope.keep(chunk.into_function()?)?;
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
            self.tell_version(version)?;
        }
        self.shared.looks.set(0);
        self.shared.alive.set(0);
        self.shared.ending.set(None);
        Ok(match self.scope.call(script, [keys, arguments], reply)? {
            None => Outcome::Replied,
            Some((true, value)) => Outcome::Returned(value),
            Some((false, problem)) => Outcome::Failed(problem),
        })
    }
    fn tell_version(&mut self, version: RedisVersion) -> Result<()> {
        lua_state::thaw(&self.redis, &self.lua)?;
        self.redis.raw_set("REDIS_VERSION", version.text())?;
        self.redis.raw_set("REDIS_VERSION_NUM", version.number())?;
        lua_state::freeze(&self.redis, &self.lua)?;
        self.version = Some(version);
        Ok(())
    }
}

fn look_at_runs(lua: &Lua, shared: &Rc<Shared>) -> Result<()> {
    let (shared, raw) = (Rc::clone(shared), lua_state::Raw::of(lua)?);
    let triggers = HookTriggers::new().every_nth_instruction(INSTRUCTIONS_PER_LOOK);
    lua.set_global_hook(triggers, move |lua, _| {
        look_at_run(lua, raw, &shared).map(|()| VmState::Continue)
    })
}

/// # Errors
/// If the run has to end, and then at every instruction until it has: where C's stack is full, a
/// script could catch one error in place of this one.
fn look_at_run(lua: &Lua, raw: lua_state::Raw, shared: &Shared) -> Result<()> {
    let looks = shared.looks.get().saturating_add(1);
    shared.looks.set(looks);
    let ending = match shared.ending.get() {
        None => problem::look(looks, memory_needed(lua, raw.wanted(), shared)),
        ending => ending,
    };
    shared.ending.set(ending);
    match ending {
        None => Ok(()),
        Some(ending) => {
            raw.end_script();
            Err(problem::stop(ending))
        }
    }
}

/// How many bytes a script uses and is about to use; garbage does not count if they are many.
fn memory_needed(lua: &Lua, wanted: usize, shared: &Shared) -> usize {
    let used = lua.used_memory();
    let threshold = COLLECTED_FROM.max(shared.alive.get().saturating_mul(2));
    // Where C's stack is full, garbage is collected the next time.
    if used.saturating_add(wanted) < threshold || lua.gc_collect().is_err() {
        return used.saturating_add(wanted);
    }
    shared.alive.set(lua.used_memory());
    lua.used_memory().saturating_add(wanted)
}
