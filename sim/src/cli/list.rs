use super::arguments::{ListArguments, Listing};
use super::choice::choices;
use super::options::view;
use super::output::print;
use super::{Failure, Outcome};
use crate::hosts::coordinators::COORDINATORS;
use crate::studies::boundary::quantity::{QUANTITIES, Varied};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use fencepost_clients::CLIENTS;
use fencepost_faults::{FAMILIES, Family};
use fencepost_reports::show::format::FORMATS;
use fencepost_reports::show::view::View;
use fencepost_reports::{StorageRule, Workload};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

pub(crate) static VIEWS: &[View<Lists>] = &[View::new("text", Lists::text), View::JSON];

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Lists {
    One(Vec<Row>),
    All(IndexMap<String, Vec<Row>>),
}

pub(crate) fn list(arguments: &ListArguments) -> Result<Outcome, Failure> {
    let lists = match arguments.what {
        Some(list) => Lists::One(rows(list)),
        None => {
            let all = Listing::value_variants().iter();
            Lists::All(all.map(|list| (title(*list), rows(*list))).collect())
        }
    };
    let view = view(VIEWS, &arguments.format)?;
    print(&view.write(&lists).map_err(Failure::wrong)?)?;
    Ok(Outcome::AsExpected)
}

fn title(list: Listing) -> String {
    list.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

impl Lists {
    fn text(&self) -> String {
        match self {
            Lists::One(rows) => lines("", rows),
            Lists::All(lists) => {
                let part =
                    |(title, rows): (&String, &Vec<Row>)| format!("{title}\n{}", lines("  ", rows));
                lists.iter().map(part).collect::<Vec<_>>().join("\n")
            }
        }
    }
}

fn lines(indent: &str, rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let line = |Row { name, about }: &Row| format!("{indent}{name:width$}  {about}\n");
    rows.iter().map(line).collect()
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    name: String,
    about: String,
}

impl Row {
    fn new(name: &str, about: &str) -> Row {
        Row { name: name.to_owned(), about: about.to_owned() }
    }
}

fn rows(what: Listing) -> Vec<Row> {
    match what {
        Listing::Clients => {
            CLIENTS.iter().map(|client| Row::new(client.name, client.about)).collect()
        }
        Listing::Coordinators => COORDINATORS
            .iter()
            .map(|entry| Row::new(entry.coordinator.name(), entry.about))
            .collect(),
        Listing::Faults => {
            let name = |family: &Family| [&[family.name()], family.aliases()].concat().join(", ");
            FAMILIES.iter().map(|family| Row::new(&name(family), family.about())).collect()
        }
        Listing::Workloads => values(choices::<Workload>()),
        Listing::Storages => values(choices::<StorageRule>()),
        Listing::Quantities => {
            let row = |quantity: &Varied| Row::new(quantity.name, quantity.about);
            QUANTITIES.iter().map(row).collect()
        }
        Listing::Formats => {
            FORMATS.iter().map(|format| Row::new(format.name(), format.about())).collect()
        }
    }
}

fn values(values: Vec<PossibleValue>) -> Vec<Row> {
    let row = |value: PossibleValue| {
        let about = value.get_help().map(ToString::to_string).unwrap_or_default();
        Row::new(value.get_name(), &about)
    };
    values.into_iter().map(row).collect()
}
