//! EVAL and its like: a script is made known, checked and run, and its result becomes a reply.

use super::engine::{self, Outcome};
use super::run::Run;
use super::{convert, lend, random};
use crate::config::RedisVersion;
use crate::protocol::error::{self, CommandError};
use crate::protocol::reply::Reply;
use crate::state::client_key::ClientKey;
use crate::state::scripts::{Permissions, Script, Sha, sha_of};
use crate::state::server::Call;
use mlua::{Error, Value};

impl Run<'_> {
    /// Where `math.random` begins: before 7.0 anew in every script, since replicas ran the same
    /// scripts.
    fn first_random_state(&self) -> u64 {
        let is_seeded = self.server.config.version < RedisVersion::V7_0;
        if is_seeded { random::SEED_ZERO_STATE } else { self.server.scripts.left().0 }
    }
}

impl Call<'_> {
    /// Makes a script known under its SHA-1, if it compiles.
    pub(crate) fn learn_script(&mut self, text: &[u8]) -> Result<Sha, CommandError> {
        let sha = sha_of(text);
        if self.server.scripts.knows(&sha) {
            return Ok(sha);
        }
        let (declared, body) = read_header(text)?;
        engine::with(|engine| Ok(engine.compile(sha, || body)))
            .and_then(|compiled| compiled)
            .map_err(syntax_problem)?;
        self.server.scripts.learn(sha, Script { body: body.into(), declared });
        Ok(sha)
    }

    /// Runs a script that is known, for EVAL and its like: the keys follow their number at argument
    /// 2.
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
        if declared.is_some() {
            self.check_declared(permissions, read_only)?;
        }
        permissions.read_only |= read_only;
        self.state_no_effect();
        let (keys, arguments) = (self.args.from(3).up_to(keys), self.args.from(3 + keys));
        let version = self.server.config.version;
        let (server, reply) = (&mut *self.server, &mut *self.reply);
        let mut run = Run::begin(server, self.client, permissions);
        let start = reply.bytes().len();
        let result = engine::with(|engine| {
            let text = || run.server.scripts.body(&sha);
            let compiled = engine.compile(sha, text)?;
            engine.random_state().set(run.first_random_state());
            engine.json().set(run.server.scripts.left().1);
            let outcome =
                lend::lend(&mut run, || engine.run(compiled, (keys, arguments), version, reply))?;
            run.server.scripts.leave(engine.random_state().get(), engine.json().get());
            let protocol = run.server.client(ClientKey::SCRIPT).protocol;
            if let Some(error) = uncounted_error(&outcome)? {
                run.server.statistics.count_error(&error);
            }
            match outcome {
                Outcome::Replied => Ok(()),
                Outcome::Returned(value) => convert::to_reply(&value, protocol, reply),
                Outcome::Failed(problem) if version < RedisVersion::V7_0 => {
                    write_old_problem(&problem, &sha, reply)
                }
                Outcome::Failed(problem) => write_problem(&problem, &sha, reply),
            }
        });
        run.end();
        if result.is_err() {
            self.reply.truncate(start);
        }
        let is_error = self.reply.bytes().get(start) == Some(&b'-');
        self.server.statistics.answers_with(is_error);
        result.map_err(|error| CommandError::text(format!("ERR Error running script: {error}")))
    }

    /// Scripts that say what they do are checked before they run, as `scriptPrepareForRun` in
    /// script.c.
    fn check_declared(&self, declared: Permissions, read_only: bool) -> Result<(), CommandError> {
        if read_only && !declared.read_only {
            return Err(CommandError::fixed(
                "ERR Can not execute a script with write flag using *_ro command.",
            ));
        }
        if self.server.is_stale() && !declared.allow_stale {
            return Err(error::MASTER_DOWN);
        }
        if !declared.read_only {
            match self.server.check_write() {
                Err(error) if error == error::READ_ONLY => {
                    let text = "READONLY Can not run script with write flag on readonly replica.";
                    return Err(CommandError::fixed(text));
                }
                other => other?,
            }
        }
        if self.server.turn.is_out_of_memory() && !declared.allow_oom && !declared.read_only {
            let text = "OOM allow-oom flag is not set on the script, can not run it when used \
             memory > 'maxmemory'";
            return Err(CommandError::fixed(text));
        }
        Ok(())
    }
}

/// The error that a script answers with, unless it came from a command and was counted with that
/// (`luaReplyToRedisReply`, `luaCallFunction` in script_lua.c).
fn uncounted_error(outcome: &Outcome) -> mlua::Result<Option<CommandError>> {
    let (table, must_be_said) = match outcome {
        Outcome::Returned(Value::Table(table)) => (table, false),
        Outcome::Failed(Value::Table(table)) => (table, true),
        _ => return Ok(None),
    };
    let is_counted = !table.raw_get::<Value>("ignore_error_stats_update")?.is_nil();
    if is_counted || must_be_said && table.raw_get::<Value>("said")?.is_nil() {
        return Ok(None);
    }
    let text = table.raw_get::<Value>("err")?;
    Ok(text.as_string().map(|text| CommandError::text(&*text.as_bytes())))
}

/// The error reply for a script that failed: where, if that is known, is added to what. See
/// `luaCallFunction` in script_lua.c.
fn write_problem(problem: &Value, sha: &Sha, reply: &mut Reply) -> mlua::Result<()> {
    let Value::Table(problem) = problem else {
        reply.error(b"ERR unknown error");
        return Ok(());
    };
    let mut text = match problem.raw_get::<Value>("err")? {
        Value::String(text) => text.as_bytes().to_vec(),
        Value::Integer(number) => number.to_string().into_bytes(),
        _ => b"ERR unknown error".to_vec(),
    };
    if let (Value::String(source), Some(line)) =
        (problem.raw_get("source")?, problem.raw_get::<Option<i64>>("line")?)
    {
        for part in [
            b" script: ".as_slice(),
            sha,
            b", on ",
            &source.as_bytes(),
            format!(":{line}.").as_bytes(),
        ] {
            text.extend_from_slice(part);
        }
    }
    reply.error(&text);
    Ok(())
}

/// The same before 7.0: `Error running script`, from where, and what.
fn write_old_problem(problem: &Value, sha: &Sha, reply: &mut Reply) -> mlua::Result<()> {
    let mut text = [b"ERR Error running script (call to f_", sha.as_slice(), b"): "].concat();
    if let Value::Table(problem) = problem {
        if let (Value::String(source), Some(line)) =
            (problem.raw_get("source")?, problem.raw_get::<Option<i64>>("line")?)
        {
            text.extend_from_slice(&source.as_bytes());
            text.extend_from_slice(format!(":{line}: ").as_bytes());
        }
        let said = problem.raw_get::<Value>("said")?;
        let said = if said.is_nil() { problem.raw_get::<Value>("err")? } else { said };
        if let Value::String(said) = said {
            text.extend_from_slice(&said.as_bytes());
        }
    }
    reply.error(&text);
    Ok(())
}

fn syntax_problem(error: Error) -> CommandError {
    let message = match error {
        Error::SyntaxError { message, .. } => message,
        other => other.to_string(),
    };
    CommandError::text(format!("ERR Error compiling script (new function): {message}"))
}

/// Splits off a first line `#!lua flags=...`, as `evalExtractShebangFlags` in eval.c.
fn read_header(text: &[u8]) -> Result<(Option<Permissions>, &[u8]), CommandError> {
    if !text.starts_with(b"#!") {
        return Ok((None, text));
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
