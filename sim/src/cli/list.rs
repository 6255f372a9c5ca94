//! `fencepost list`: what there is to choose from. Must never know more of it than name and line.

use super::arguments::{ListArguments, Listing};
use super::choice::choices;
use super::output::print;
use super::{Failure, Outcome};
use crate::boundary::quantity::{QUANTITIES, Varied};
use clap::builder::PossibleValue;
use fencepost_clients::CLIENTS;
use fencepost_faults::{FAMILIES, Family};
use fencepost_reports::format::FORMATS;
use fencepost_reports::{StorageRule, Workload};

/// Prints names with a line each.
pub(crate) fn list(arguments: &ListArguments) -> Result<Outcome, Failure> {
    let rows = rows(arguments.what);
    let text = match arguments.format.as_str() {
        "text" => text(&rows),
        "json" => json(&rows),
        other => {
            return Err(Failure::wrong(format!("unknown format '{other}': expected text or json")));
        }
    };
    print(&text)?;
    Ok(Outcome::AsExpected)
}

fn rows(what: Listing) -> Vec<(String, String)> {
    match what {
        Listing::Clients => {
            CLIENTS.iter().map(|client| (client.name.to_owned(), client.about.to_owned())).collect()
        }
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
fn values(values: Vec<PossibleValue>) -> Vec<(String, String)> {
    let row = |value: PossibleValue| {
        (value.get_name().to_owned(), value.get_help().map(ToString::to_string).unwrap_or_default())
    };
    values.into_iter().map(row).collect()
}

fn text(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter().map(|(name, about)| format!("{name:width$}  {about}\n")).collect()
}

fn json(rows: &[(String, String)]) -> String {
    let row =
        |(name, about): &(String, String)| serde_json::json!({ "name": name, "about": about });
    let rows: Vec<_> = rows.iter().map(row).collect();
    format!("{:#}\n", serde_json::Value::Array(rows))
}
