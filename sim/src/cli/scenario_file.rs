use super::Failure;
use super::arguments::ScenarioArguments;
use super::output::read_file;
use crate::setup::lengths::Length;
use crate::setup::scenario::Scenario;
use fencepost_faults::did_you_mean;
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) fn scenario(arguments: &ScenarioArguments) -> Result<Scenario, Failure> {
    let file = match &arguments.scenario {
        Some(path) => Some(File::read(path)?),
        None => None,
    };
    let mut table = file.as_ref().map_or_else(toml::Table::new, |file| file.table.clone());
    for assignment in &arguments.set {
        let (key, value) = assigned(assignment)?;
        table.insert(key, value);
    }
    let keys: Vec<String> = table.keys().cloned().collect();
    let mut scenario = Scenario::of_table(table)
        .map_err(|error| Failure::wrong(format!("--set: {}", in_words(error.message(), None))))?;
    apply_flags(&mut scenario, arguments);
    let asked = asked_for(&keys, arguments, &scenario);
    scenario.keeps.extend(asked);
    scenario.validate().map_err(|wrong| {
        let line = file.as_ref().and_then(|file| file.line_of(&wrong.key));
        let is_set = arguments.set.iter().any(|text| key_of(text) == wrong.key);
        match (&arguments.scenario, line) {
            (Some(path), Some(line)) if !is_set => {
                Failure::content(path, format!("line {line}: {wrong}"))
            }
            _ => Failure::wrong(wrong),
        }
    })?;
    Ok(scenario)
}

struct File {
    text: String,
    table: toml::Table,
}

impl File {
    fn read(path: &Path) -> Result<File, Failure> {
        let text = read_file(path, "a scenario in TOML")?;
        let wrong = |error: toml::de::Error| {
            let line = error.span().map_or(1, |span| line_at(&text, span.start));
            let key = error.span().and_then(|span| key_before(&text, span.start));
            let problem = in_words(error.message(), key);
            let key = key.map_or(String::new(), |key| format!("{key}: "));
            Failure::content(path, format!("line {line}: {key}{problem}"))
        };
        let table = text.parse().map_err(wrong)?;
        toml::from_str::<Scenario>(&text).map_err(wrong)?;
        Ok(File { table, text })
    }

    fn line_of(&self, key: &str) -> Option<usize> {
        let position = self.text.lines().position(|line| key_of(line) == key);
        position.map(|index| index + 1)
    }
}

fn line_at(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

fn key_before(text: &str, at: usize) -> Option<&str> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
    let (key, _) = text.get(start..at)?.split_once('=')?;
    Some(key.trim())
}

fn key_of(assignment: &str) -> &str {
    assignment.split('=').next().unwrap_or_default().trim()
}

fn assigned(assignment: &str) -> Result<(String, toml::Value), Failure> {
    let (key, value) = assignment.split_once('=').ok_or_else(|| {
        Failure::wrong(format!("--set '{assignment}': expected KEY=VALUE, like down-after=2s"))
    })?;
    let (key, text) = (key.trim().to_owned(), value.trim());
    let value = value_of(text);
    let alone = |value| toml::Table::from_iter([(key.clone(), value)]).try_into::<Scenario>();
    let Err(of_value) = alone(value.clone()) else { return Ok((key, value)) };
    // If the user meant a duration or a name, the error for a string explains more.
    let of_text = alone(toml::Value::String(text.to_owned())).err();
    let error = of_text.filter(|error| !error.message().starts_with("invalid type"));
    let problem = in_words(error.unwrap_or(of_value).message(), Some(&key));
    Err(Failure::wrong(format!("--set '{assignment}': {problem}")))
}

/// Rewords a message of serde for the user, for example with `key` instead of `field`.
fn in_words(message: &str, key: Option<&str>) -> String {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((unknown, valid)) = unknown_of("field", &message) {
        return match did_you_mean(unknown, valid.iter().copied()) {
            hint if hint.is_empty() => {
                format!("unknown key '{unknown}': expected one of {}", valid.join(", "))
            }
            hint => format!("unknown key '{unknown}'{hint}"),
        };
    }
    if let Some((unknown, valid)) = unknown_of("variant", &message) {
        let hint = did_you_mean(unknown, valid.iter().copied());
        return format!("unknown value '{unknown}'{hint}: expected one of {}", valid.join(", "));
    }
    let largest = match message.rsplit_once(", expected ") {
        Some((_, "u8")) => u64::from(u8::MAX),
        Some((_, "u16")) => u64::from(u16::MAX),
        Some((_, "u32")) => u64::from(u32::MAX),
        Some((_, "u64")) => u64::MAX,
        _ => return message,
    };
    let valid = key.and_then(Scenario::valid_values).unwrap_or("at least 0");
    match valid.strip_prefix("at least ") {
        Some(least) => format!("expected a number from {least} to {largest}"),
        None => format!("expected a number from {valid}"),
    }
}

fn unknown_of<'m>(what: &str, message: &'m str) -> Option<(&'m str, Vec<&'m str>)> {
    let rest = message.strip_prefix("unknown ")?.strip_prefix(what)?.strip_prefix(" `")?;
    let (unknown, valid) = rest.split_once("`, expected ")?;
    Some((unknown, valid.split('`').skip(1).step_by(2).collect()))
}

/// Returns the lengths that the user explicitly set to their built-in values.
fn asked_for(
    keys: &[String],
    arguments: &ScenarioArguments,
    scenario: &Scenario,
) -> BTreeSet<Length> {
    let flagged = [
        (Length::Ttl, arguments.ttl.is_some()),
        (Length::Hold, arguments.hold.is_some()),
        (Length::Retry, arguments.retry.is_some()),
    ];
    let is_asked = |length: Length| {
        keys.iter().any(|key| key == length.key()) || flagged.contains(&(length, true))
    };
    Length::ALL
        .into_iter()
        .filter(|length| is_asked(*length) && length.is_built_in(scenario))
        .collect()
}

fn value_of(text: &str) -> toml::Value {
    let quoted = |text: &str| toml::Value::String(text.to_owned());
    match text.parse::<i64>() {
        Ok(number) => toml::Value::Integer(number),
        Err(_) => quoted(text.trim_matches('"')),
    }
}

fn apply_flags(scenario: &mut Scenario, arguments: &ScenarioArguments) {
    fn set<T: Copy>(place: &mut T, flag: Option<T>) {
        if let Some(value) = flag {
            *place = value;
        }
    }
    set(&mut scenario.processes, arguments.processes);
    set(&mut scenario.cycles, arguments.cycles);
    set(&mut scenario.ttl, arguments.ttl);
    set(&mut scenario.hold, arguments.hold);
    set(&mut scenario.calls.retry, arguments.retry);
    set(&mut scenario.faults.restart_delay, arguments.restart_delay);
    set(&mut scenario.timing.latency, arguments.latency);
    set(&mut scenario.timing.max_time, arguments.max_time);
    set(&mut scenario.servers.persistence, arguments.persistence);
    if let Some(bound) = arguments.availability {
        scenario.availability = Some(bound.unwrap_or(scenario.ttl.max(scenario.soonest())));
    }
    set(&mut scenario.workload, arguments.workload);
    set(&mut scenario.storage, arguments.storage);
    set(&mut scenario.strategy, arguments.strategy);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.toml");
        std::fs::write(&path, text).unwrap();
        let arguments = ScenarioArguments { scenario: Some(path), ..ScenarioArguments::default() };
        scenario(&arguments).unwrap_err().to_string()
    }

    #[test]
    fn a_wrong_line_of_a_file_is_named_with_its_key() {
        let said = refusal("cycles = 5\n\nproceses = 3\n");
        assert!(
            said.ends_with("line 3: unknown key 'proceses' (did you mean 'processes'?)"),
            "{said}"
        );
        let said = refusal("cycles = 5\nttl = \"10x\"\n");
        assert!(said.contains("line 2: ttl: duration '10x': expected"), "{said}");
        let said = refusal("# none\nprocesses = 0\n");
        assert!(said.ends_with("line 2: processes '0': expected 1 to 64"), "{said}");
        let said = refusal("cycles = \n");
        assert!(said.contains("line 1: "), "{said}");
    }

    #[test]
    fn what_is_set_is_named_as_it_was_given() {
        let set = |text: &str| {
            let set = vec![text.to_owned()];
            let arguments = ScenarioArguments { set, ..ScenarioArguments::default() };
            scenario(&arguments).unwrap_err().to_string()
        };
        assert_eq!(set("tll=10s"), "--set 'tll=10s': unknown key 'tll' (did you mean 'ttl'?)");
        assert!(set("hold=fast").starts_with("--set 'hold=fast': duration 'fast': expected"));
        let listed = set("colour=red");
        assert!(
            listed.starts_with(
                "--set 'colour=red': unknown key 'colour': expected one of processes, "
            )
        );
    }
}
