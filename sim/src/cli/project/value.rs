use crate::cli::Failure;
use crate::cli::arguments::ScenarioArguments;
use crate::cli::options::{clients, coordinator, families, format};
use crate::cli::scenario_file::scenario;
use crate::setup::scenario::ServersArgument;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command, FromArgMatches};
use std::any::TypeId;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::de::{DeInteger, DeValue};

const PATHS: [&str; 8] =
    ["baseline", "checkpoint", "cwd", "expect", "findings", "lock", "out", "scenario"];
const READ: [&str; 5] = ["baseline", "cwd", "expect", "lock", "scenario"];

pub(super) fn tokens(
    argument: &Arg,
    value: &DeValue<'_>,
    folder: Option<&Path>,
) -> Result<Vec<OsString>, String> {
    let key = argument.get_long().unwrap_or_default();
    let stated = |text: String| OsString::from(format!("--{key}={}", placed(key, text, folder)));
    let is_flag = matches!(argument.get_action(), ArgAction::SetTrue);
    let may_be_bare = argument.get_num_args().is_some_and(|range| range.min_values() == 0);
    match value {
        DeValue::Boolean(true) if is_flag || may_be_bare => Ok(vec![format!("--{key}").into()]),
        DeValue::Boolean(false) if is_flag || may_be_bare => Ok(Vec::new()),
        _ if is_flag => Err("expected true or false".to_owned()),
        DeValue::Array(items) if matches!(argument.get_action(), ArgAction::Append) => {
            let one = |item: &DeValue<'_>| text_of(argument, item).map(stated);
            items.iter().map(|item| one(item.get_ref())).collect()
        }
        value => Ok(vec![stated(text_of(argument, value)?)]),
    }
}

/// Returns a value as text for the command line. clap checks the text there.
fn text_of(argument: &Arg, value: &DeValue<'_>) -> Result<String, String> {
    let accepted = argument.get_value_parser().type_id();
    let is_free = accepted == TypeId::of::<String>() || accepted == TypeId::of::<PathBuf>();
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => Ok(number_of(number)),
        DeValue::Array(_) => Err("expected one value, not an array".to_owned()),
        DeValue::Table(_) => Err("expected one value, not a table".to_owned()),
        other if is_free => {
            Err(format!("expected a string, not a value of type {}", other.type_str()))
        }
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        DeValue::Boolean(state) => Ok(state.to_string()),
        DeValue::Datetime(time) => Ok(time.to_string()),
    }
}

fn number_of(number: &DeInteger<'_>) -> String {
    match number.radix() {
        16 => format!("0x{}", number.as_str()),
        _ => number.as_str().to_owned(),
    }
}

fn placed(key: &str, text: String, folder: Option<&Path>) -> String {
    let Some(folder) = folder.filter(|_| PATHS.contains(&key)) else { return text };
    let within = |path: &str| folder.join(path).display().to_string();
    match text.split_once('=') {
        Some((name, path)) if key == "lock" => format!("{name}={}", within(path)),
        _ => within(&text),
    }
}

pub(super) fn check(command: &Command, key: &str, tokens: &[OsString]) -> Result<(), String> {
    let words = std::iter::once(OsString::from("fencepost")).chain(tokens.iter().cloned());
    let matches = match command.clone().try_get_matches_from(words) {
        Ok(matches) => matches,
        // Another key or the command line may set the missing argument.
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {
            return read(key, tokens);
        }
        Err(error) => return Err(Failure::usage(&error).to_string()),
    };
    let all = |id: &str| -> Vec<String> {
        matches.get_many(id).map(|values| values.cloned().collect()).unwrap_or_default()
    };
    let one = || all(key).pop().unwrap_or_default();
    read(key, tokens)?;
    let checked = match key {
        "client" => clients(&all(key), None).map(drop),
        "coordinator" => coordinator(Some(&one())).map(drop),
        "fault" => families(&all(key)).map(drop),
        "format" => format(&one()).map(drop),
        "servers" => {
            let parse = |text: &String| ServersArgument::parse(text).map(drop);
            all(key).iter().try_for_each(parse).map_err(Failure::wrong)
        }
        _ => ScenarioArguments::from_arg_matches(&matches)
            .map_err(|error| Failure::usage(&error))
            .and_then(|arguments| scenario(&arguments).map(drop)),
    };
    checked.map_err(|failure| failure.to_string())
}

fn read(key: &str, tokens: &[OsString]) -> Result<(), String> {
    let paths = tokens.iter().filter(|_| READ.contains(&key)).filter_map(|token| {
        let (_, path) = token.to_str()?.split_once('=')?;
        let is_named = key == "lock" && !Path::new(path).exists();
        Some(path.split_once('=').filter(|_| is_named).map_or(path, |(_, path)| path))
    });
    match paths.into_iter().find(|path| !Path::new(path).exists()) {
        Some(path) => Err(format!("'{path}' not found: expected a path relative to this file")),
        None => Ok(()),
    }
}
