use super::engine::{self, Outcome};
use super::host::{as_number, field, text_of};
use super::random::ScriptRandom;
use super::run::Run;
use super::{convert, lend, random};
use crate::config::RedisVersion;
use crate::protocol::args::Args;
use crate::protocol::error::{self, CommandError};
use crate::protocol::reply::Reply;
use crate::state::client_key::ClientKey;
use crate::state::command_info::Flags;
use crate::state::scripts::{Permissions, Script, Sha, sha_of};
use crate::state::server::{Call, Command, Effect, Server};
use luna_core::runtime::{Gc, Table, Value};
use luna_core::vm::Vm;

impl Run<'_> {
    /// Before 7.0, every script starts with the seed 0 (`redisSrand48(0)` in scripting.c).
    fn first_random_state(&self) -> u64 {
        let is_seeded = self.server.config.version < RedisVersion::V7_0;
        if is_seeded { random::SEED_ZERO_STATE } else { self.server.scripts.left().0 }
    }
}

impl Server {
    /// Returns a command's flags. For EVAL they depend on the script (`evalGetCommandFlags`).
    pub(crate) fn flags_of(&self, command: &Command, args: Args<'_>) -> Flags {
        let version = self.config.version;
        let flags = command.flags(version);
        let declared = match command.name {
            "eval" | "eval_ro" => {
                read_header(args.get(1), version).ok().and_then(|(declared, _)| declared)
            }
            "evalsha" | "evalsha_ro" => {
                self.scripts.get(args.get(1)).and_then(|(_, script)| script.declared)
            }
            _ => return flags,
        };
        declared.map_or(flags, |declared| declared.flags(flags))
    }
}

impl Call<'_> {
    pub(crate) fn load_script(&mut self, text: &[u8]) -> Result<Sha, CommandError> {
        let sha = sha_of(text);
        if self.server.scripts.knows(&sha) {
            return Ok(sha);
        }
        let (declared, body) = read_header(text, self.server.config.version)?;
        engine::with(|engine| {
            let compiled = engine.compile(sha, || body).map(drop);
            Ok(compiled.map_err(|error| text_of(error.0).unwrap_or_default()))
        })
        .and_then(|compiled| compiled)
        .map_err(|text| syntax_problem(&text))?;
        self.server.scripts.learn(sha, Script { body: body.into(), declared });
        Ok(sha)
    }

    pub(crate) fn run_script(
        &mut self,
        sha: Sha,
        keys: usize,
        read_only: bool,
    ) -> Result<(), CommandError> {
        let Some((_, script)) = self.server.scripts.get(&sha) else {
            return Err(error::NO_SCRIPT);
        };
        let declared = script.declared;
        let mut permissions = declared.unwrap_or_default();
        match declared {
            Some(declared) => self.check_declared(declared, read_only)?,
            None if self.server.is_stale() => return Err(error::MASTER_DOWN),
            None => {}
        }
        permissions.read_only |= read_only;
        self.effect = Effect::Replaced;
        let (keys, arguments) = (self.args.from(3).up_to(keys), self.args.from(3 + keys));
        let version = self.server.config.version;
        let (server, reply) = (&mut *self.server, &mut *self.reply);
        let mut run = Run::begin(server, self.client, permissions);
        run.random = ScriptRandom::at(run.first_random_state());
        let start = reply.bytes().len();
        let result = engine::with(|engine| {
            let text = || run.server.scripts.body(&sha);
            let compiled = engine.compile(sha, text)?;
            let outcome =
                lend::lend(&mut run, || engine.run(compiled, (keys, arguments), version, reply))?;
            run.server.scripts.leave(run.random.state, run.json[0]);
            let protocol = run.server.client(ClientKey::SCRIPT).protocol;
            if let Some(error) = uncounted_error(engine.vm(), &outcome) {
                run.server.statistics.count_error(&error);
            }
            match outcome {
                Outcome::Replied => Ok(()),
                Outcome::Returned(value) => convert::to_reply(engine.vm(), value, protocol, reply),
                Outcome::Failed(problem) if version < RedisVersion::V7_0 => {
                    write_old_problem(engine.vm(), problem, &sha, reply);
                    Ok(())
                }
                Outcome::Failed(problem) => {
                    write_problem(engine.vm(), problem, &sha, reply);
                    Ok(())
                }
            }
        });
        run.end();
        if result.is_err() {
            self.reply.truncate(start);
        }
        let is_error = self.reply.bytes().get(start) == Some(&b'-');
        self.server.statistics.repeats_error = is_error;
        result.map_err(|text| CommandError::text([b"ERR Error running script: ", &*text].concat()))
    }

    fn check_declared(&self, declared: Permissions, read_only: bool) -> Result<(), CommandError> {
        if read_only && !declared.read_only {
            return Err(CommandError::fixed(
                "ERR Can not execute a script with write flag using *_ro command.",
            ));
        }
        if self.server.is_stale() && !declared.allow_stale {
            return Err(CommandError::fixed(
                "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and \
                 'allow-stale' flag is not set on the script.",
            ));
        }
        if !declared.read_only {
            match self.server.check_write() {
                Err(error) if error == error::READ_ONLY => {
                    let text = "READONLY Can not run script with write flag on readonly replica";
                    return Err(CommandError::fixed(text));
                }
                other => other?,
            }
        }
        if self.server.turn.is_out_of_memory && !declared.allow_oom && !declared.read_only {
            let text = "OOM allow-oom flag is not set on the script, can not run it when used \
             memory > 'maxmemory'";
            return Err(CommandError::fixed(text));
        }
        Ok(())
    }
}

/// Returns the script's error, unless a command has already counted it (`luaCallFunction`).
fn uncounted_error(vm: &mut Vm, outcome: &Outcome) -> Option<CommandError> {
    let (table, must_be_said) = match *outcome {
        Outcome::Returned(Value::Table(table)) => (table, false),
        Outcome::Failed(Value::Table(table)) => (table, true),
        _ => return None,
    };
    let is_counted = !field(vm, table, "ignore_error_stats_update").is_nil();
    if is_counted || must_be_said && field(vm, table, "said").is_nil() {
        return None;
    }
    text_of(field(vm, table, "err")).map(CommandError::text)
}

fn place_of(vm: &mut Vm, problem: Gc<Table>) -> Option<(Vec<u8>, i64)> {
    let source = text_of(field(vm, problem, "source"))?;
    let line = as_number(field(vm, problem, "line"))?;
    Some((source, line as i64))
}

fn write_problem(vm: &mut Vm, problem: Value, sha: &Sha, reply: &mut Reply) {
    let Value::Table(problem) = problem else { return reply.error(b"ERR unknown error") };
    let mut text = match field(vm, problem, "err") {
        Value::Str(text) => text.as_bytes().to_vec(),
        other => match as_number(other).filter(|number| number.fract() == 0.0) {
            Some(number) => format!("{}", number as i64).into_bytes(),
            None => b"ERR unknown error".to_vec(),
        },
    };
    if let Some((source, line)) = place_of(vm, problem) {
        text.extend([b" script: ", sha.as_slice(), b", on ", &source].concat());
        text.extend_from_slice(format!(":{line}.").as_bytes());
    }
    reply.error(&text);
}

fn write_old_problem(vm: &mut Vm, problem: Value, sha: &Sha, reply: &mut Reply) {
    let mut text = [b"ERR Error running script (call to f_", sha.as_slice(), b"): "].concat();
    if let Value::Table(problem) = problem {
        if let Some((source, line)) = place_of(vm, problem) {
            text.extend_from_slice(&source);
            text.extend_from_slice(format!(":{line}: ").as_bytes());
        }
        let said = field(vm, problem, "said");
        let said = if said.is_nil() { field(vm, problem, "err") } else { said };
        text.extend(text_of(said).unwrap_or_default());
    }
    reply.error(&text);
}

fn syntax_problem(text: &[u8]) -> CommandError {
    CommandError::text([b"ERR Error compiling script (new function): ", text].concat())
}

fn read_header(
    text: &[u8],
    version: RedisVersion,
) -> Result<(Option<Permissions>, &[u8]), CommandError> {
    if !text.starts_with(b"#!") {
        return Ok((None, text));
    }
    if version < RedisVersion::V7_0 {
        return Err(syntax_problem(b"user_script:1: unexpected symbol near '#'"));
    }
    let end = text.iter().position(|byte| *byte == b'\n');
    let end = end.ok_or(CommandError::fixed("ERR Invalid script shebang"))?;
    let words: Vec<&[u8]> = text[..end]
        .split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
        .collect();
    if words.first() != Some(&b"#!lua".as_slice()) {
        let engine = words.first().copied().unwrap_or_default();
        return Err(CommandError::text(
            [b"ERR Unexpected engine in script shebang: ", engine].concat(),
        ));
    }
    let mut permissions = Permissions::default();
    for word in &words[1..] {
        let Some(flags) = word.strip_prefix(b"flags=") else {
            return Err(CommandError::text([b"ERR Unknown lua shebang option: ", *word].concat()));
        };
        read_flags(flags, &mut permissions)?;
    }
    Ok((Some(permissions), &text[end..]))
}

fn read_flags(flags: &[u8], permissions: &mut Permissions) -> Result<(), CommandError> {
    for flag in flags.split(|byte| *byte == b',').filter(|flag| !flag.is_empty()) {
        match flag {
            b"no-writes" => permissions.read_only = true,
            b"allow-oom" => permissions.allow_oom = true,
            b"allow-stale" => permissions.allow_stale = true,
            b"no-cluster" | b"allow-cross-slot-keys" => {}
            _ => {
                return Err(CommandError::text(
                    [b"ERR Unexpected flag in script shebang: ", flag].concat(),
                ));
            }
        }
    }
    Ok(())
}
