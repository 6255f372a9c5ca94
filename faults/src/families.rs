//! Which families a run combines, as people write it: `pause+failover`. Must never know what the
//! families draw.

use crate::family::{Drawing, FAMILIES, Family};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// One family or several, combined in one plan. Written and parsed as their names joined by `+`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Families {
    /// Places in [`FAMILIES`]: sorted, without repetition, at least one.
    places: Vec<usize>,
}

/// Text that names no families.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnknownFamily {
    /// A name that is not in the table.
    #[error("unknown fault '{name}'{hint}: expected one of {valid}, or several joined by \
     '+'", hint = hint(.name), valid = valid())]
    Name {
        /// The name.
        name: String,
    },
    /// `none` or `all` in a combination.
    #[error(
        "fault '{name}' in '{text}' stands alone: expected '{name}', or a combination without it"
    )]
    NotAlone {
        /// `none` or `all`.
        name: &'static str,
        /// The whole text.
        text: String,
    },
}

impl Families {
    /// The chosen families with their places in the table, in the order of the table.
    pub fn chosen(&self) -> impl Iterator<Item = (usize, &'static Family)> + '_ {
        self.places.iter().map(|&place| (place, &FAMILIES[place]))
    }

    /// Whether the seed draws which families are on: `all`.
    pub fn is_swarm(&self) -> bool {
        self.chosen().any(|(_, family)| matches!(family.drawing, Drawing::Swarm))
    }

    /// Whether the run is meant to be without faults.
    pub fn is_none(&self) -> bool {
        self.chosen().all(|(_, family)| family.name == "none")
    }
}

/// The place of the family that has this name or alias.
fn place(name: &str) -> Option<usize> {
    FAMILIES.iter().position(|family| family.name == name || family.aliases.contains(&name))
}

impl FromStr for Families {
    type Err = UnknownFamily;

    fn from_str(text: &str) -> Result<Families, UnknownFamily> {
        let unknown = |name: &str| UnknownFamily::Name { name: name.to_owned() };
        let mut places = text
            .split('+')
            .map(|name| place(name.trim()).ok_or_else(|| unknown(name.trim())))
            .collect::<Result<Vec<_>, _>>()?;
        places.sort_unstable();
        places.dedup();
        let alone = places
            .iter()
            .map(|&place| FAMILIES[place].name)
            .find(|name| matches!(*name, "none" | "all"));
        match alone {
            Some(name) if places.len() > 1 => {
                Err(UnknownFamily::NotAlone { name, text: text.to_owned() })
            }
            _ => Ok(Families { places }),
        }
    }
}

impl fmt::Display for Families {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.chosen().map(|(_, family)| family.name).collect();
        f.pad(&names.join("+"))
    }
}

impl Serialize for Families {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Families {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Families, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Families {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Families".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "description": "Names of fault families joined \
         by '+'.", "pattern": "^[a-z+-]+$" })
    }
}

/// Every valid name, aliases in brackets.
fn valid() -> String {
    let name = |family: &Family| match family.aliases {
        [] => family.name.to_owned(),
        aliases => format!("{} ({})", family.name, aliases.join(", ")),
    };
    FAMILIES.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// ` (did you mean 'pause'?)`, if a name is near enough to be a slip of the fingers.
fn hint(name: &str) -> String {
    let names = FAMILIES
        .iter()
        .flat_map(|family| [family.name].into_iter().chain(family.aliases.iter().copied()));
    let near = names.map(|valid| (distance(name, valid), valid)).min();
    match near {
        Some((edits, valid)) if edits <= 1 + valid.len() / 4 => {
            format!(" (did you mean '{valid}'?)")
        }
        _ => String::new(),
    }
}

/// The Levenshtein distance, row by row.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            let edits = change.min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], edits);
        }
    }
    row[b.len()]
}
