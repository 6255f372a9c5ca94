//! The option `--lock FILE`, which adds a lock written in Lua.

use super::Failure;
use super::arguments::LockArguments;
use super::output::read_file;
use crate::engine::Engine;
use crate::run::RunSpec;
use crate::setup::scenario::{Hold, LockScript, Scenario};
use crate::setup::span::{Span, SpanRange};
use fencepost_clients::find;
use fencepost_clients::lua::Script;
use fencepost_faults::{Families, Family, Micros, Seed};
use fencepost_reports::{History, What};
use std::path::Path;
use std::rc::Rc;

const LOCK_FILE: &str = "a lock in Lua, like one from `fencepost new lock NAME`";

pub(crate) fn add_scripts(
    arguments: &LockArguments,
    scenario: &mut Scenario,
) -> Result<(), Failure> {
    for text in &arguments.lock {
        add_script(text, scenario)?;
    }
    Ok(())
}

pub(crate) fn add_script(text: &str, scenario: &mut Scenario) -> Result<(), Failure> {
    let lock = read(text)?;
    let is_known = find(&lock.name).is_some()
        || scenario.scripts.iter().any(|known| known.name == lock.name)
        || scenario.programs.iter().any(|known| known.name == lock.name);
    if is_known {
        let (name, file) = (&lock.name, lock.script.file());
        return Err(Failure::wrong(format!(
            "--lock '{text}' has the same name as another lock, {name}: expected NAME=FILE with a \
             different name, like my-{name}={file}"
        )));
    }
    take_numbers(&lock, scenario)?;
    try_out(&lock, scenario)?;
    scenario.scripts.push(lock);
    Ok(())
}

fn read(text: &str) -> Result<LockScript, Failure> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    let (name, file) = match text.split_once('=') {
        Some((name, file)) if is_name(name) => (Some(name), file),
        _ => (None, text),
    };
    let path = Path::new(file);
    if path.is_dir() {
        return Err(Failure::content(path, format!("is a folder: expected {LOCK_FILE}")));
    }
    let name = name.map(str::to_owned).or_else(|| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        is_name(&name).then_some(name)
    });
    let name = name.ok_or_else(|| {
        let valid = "expected NAME=FILE, with a name of letters, digits, '-', '_' and '.'";
        Failure::wrong(format!("--lock '{text}': {valid}"))
    })?;
    let text = read_file(path, LOCK_FILE)?;
    let is_lua = path.extension().is_some_and(|end| end == "lua");
    let script = Script::read(file, &text).map_err(|error| match is_lua {
        true => Failure::wrong(error),
        false => Failure::wrong(format!("{error}: expected {LOCK_FILE}")),
    })?;
    Ok(LockScript { name, script })
}

fn take_numbers(lock: &LockScript, scenario: &mut Scenario) -> Result<(), Failure> {
    let built_in = Scenario::default();
    let stated = |key: &str| scenario.keeps.iter().any(|length| length.key() == key);
    let (states_ttl, states_retry) = (
        scenario.ttl != built_in.ttl || stated("ttl"),
        scenario.calls.retry != built_in.calls.retry || stated("retry"),
    );
    if let Some(ttl) = lock.script.ttl_ms().filter(|_| !states_ttl) {
        scenario.ttl = Span::millis(ttl);
    }
    if let Some((min, max)) = lock.script.retry_ms().filter(|_| !states_retry) {
        scenario.calls.retry = SpanRange::new(Span::millis(min), Span::millis(max));
    }
    scenario.validate().map_err(|wrong| Failure::wrong(format!("{}: {wrong}", lock.script.file())))
}

fn try_out(lock: &LockScript, scenario: &Scenario) -> Result<(), Failure> {
    let mut alone = Scenario { processes: 2, cycles: 2, ..Scenario::default() };
    (alone.ttl, alone.calls.retry, alone.workload) =
        (scenario.ttl, scenario.calls.retry, scenario.workload);
    alone.servers.redis_version = scenario.servers.redis_version;
    if lock.script.keeps_its_lease() {
        // Longer than the ttl, so that the lock renews or extends its lease.
        let ttl = scenario.ttl.0.as_micros();
        let span = |tenths: u64| Span(Micros(ttl.saturating_mul(tenths) / 10));
        alone.hold = Hold::Drawn(SpanRange::new(span(11), span(14)));
    }
    alone.scripts = vec![lock.clone()];
    let families = Families::from(Family::None);
    let spec = RunSpec::draw(Seed(0), lock.definition(), &families, Rc::new(alone));
    let outcome = spec.run(Engine::Fast).map_err(Failure::wrong)?;
    if let Some(error) = lock.own_error(&outcome.history) {
        return Err(Failure::wrong(error));
    }
    match are_over_at_once(&outcome.history) {
        false => Ok(()),
        true => Err(Failure::wrong(lock.script.describe(
            "acquire returned a valid_until that had already passed: expected a time of \
             monotonic(), such as monotonic() + ttl",
        ))),
    }
}

/// Returns `true` if every validity that `acquire` returned had already ended.
fn are_over_at_once(history: &History) -> bool {
    let stated = history.events.iter().filter_map(|event| match event.what {
        What::Ok { valid_for_us, .. } => valid_for_us,
        _ => None,
    });
    let stated: Vec<Micros> = stated.collect();
    !stated.is_empty() && stated.iter().all(|left| *left == Micros::ZERO)
}
