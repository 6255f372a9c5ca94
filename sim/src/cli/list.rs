//! `fencepost list`: what there is to choose from.

use super::arguments::{ListArguments, Listing};
use super::choice::choices;
use super::output::print;
use super::{Failure, Outcome};
use crate::hosts::coordinators::COORDINATORS;
use crate::studies::boundary::quantity::{QUANTITIES, Varied};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use fencepost_clients::CLIENTS;
use fencepost_faults::{FAMILIES, Family};
use fencepost_reports::show::format::FORMATS;
use fencepost_reports::{StorageRule, Workload};
use serde_json::{Map, Value};

/// Prints names with a line each: of one list, or of all of them under their titles.
pub(crate) fn list(arguments: &ListArguments) -> Result<Outcome, Failure> {
    let lists: Vec<Listing> =
        arguments.what.map_or(Listing::value_variants().to_vec(), |one| vec![one]);
    let lists: Vec<_> = lists.into_iter().map(|list| (list, rows(list))).collect();
    let text = match (arguments.format.as_str(), arguments.what) {
        ("text", Some(_)) => text(&lists[0].1),
        ("text", None) => titled(&lists),
        ("json", Some(_)) => format!("{:#}\n", json(&lists[0].1)),
        ("json", None) => format!("{:#}\n", Value::Object(all(&lists))),
        (other, _) => {
            return Err(Failure::wrong(format!("unknown format '{other}': expected text or json")));
        }
    };
    print(&text)?;
    Ok(Outcome::AsExpected)
}

/// The name of a list, as `list` takes it.
fn title(list: Listing) -> String {
    list.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn titled(lists: &[(Listing, Vec<Row>)]) -> String {
    let part = |(list, rows): &(Listing, Vec<Row>)| {
        let lines = text(rows);
        let lines: String = lines.lines().map(|line| format!("  {line}\n")).collect();
        format!("{}\n{lines}", title(*list))
    };
    lists.iter().map(part).collect::<Vec<_>>().join("\n")
}

fn all(lists: &[(Listing, Vec<Row>)]) -> Map<String, Value> {
    lists.iter().map(|(list, rows)| (title(*list), json(rows))).collect()
}

/// A name and what it stands for.
type Row = (String, String);

fn rows(what: Listing) -> Vec<Row> {
    match what {
        Listing::Clients => {
            CLIENTS.iter().map(|client| (client.name.to_owned(), client.about.to_owned())).collect()
        }
        Listing::Coordinators => COORDINATORS
            .iter()
            .map(|entry| (entry.coordinator.name().to_owned(), entry.about.to_owned()))
            .collect(),
        Listing::Faults => {
            let name = |family: &Family| [&[family.name()], family.aliases()].concat().join(", ");
            FAMILIES.iter().map(|family| (name(family), family.about().to_owned())).collect()
        }
        Listing::Workloads => values(choices::<Workload>()),
        Listing::Storages => values(choices::<StorageRule>()),
        Listing::Quantities => {
            let row = |quantity: &Varied| (quantity.name.to_owned(), quantity.about.to_owned());
            QUANTITIES.iter().map(row).collect()
        }
        Listing::Formats => FORMATS
            .iter()
            .map(|format| (format.name().to_owned(), format.about().to_owned()))
            .collect(),
    }
}

/// The values of an argument with the first line of their documentation.
fn values(values: Vec<PossibleValue>) -> Vec<Row> {
    let row = |value: PossibleValue| {
        (value.get_name().to_owned(), value.get_help().map(ToString::to_string).unwrap_or_default())
    };
    values.into_iter().map(row).collect()
}

fn text(rows: &[Row]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter().map(|(name, about)| format!("{name:width$}  {about}\n")).collect()
}

fn json(rows: &[Row]) -> Value {
    rows.iter().map(|(name, about)| serde_json::json!({ "name": name, "about": about })).collect()
}
