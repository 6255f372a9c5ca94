use crate::as_text;
use crate::did_you_mean::did_you_mean;
use crate::family::{Drawing, FAMILIES, Family};
use std::fmt;
use std::str::FromStr;

/// Families combined in one plan, written as their names joined by `+`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Families {
    /// Chosen families in the order of [`FAMILIES`], without repetition; never empty.
    chosen: Vec<Family>,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnknownFamily {
    #[error("unknown fault '{name}'{hint}: expected one of {valid}, or several joined by \
     '+'", hint = hint(.name), valid = valid())]
    Name { name: String },
    #[error(
        "fault '{name}' in '{text}' cannot be combined: expected '{name}' alone, or a combination \
         without '{name}'"
    )]
    NotAlone { name: &'static str, text: String },
}

impl Families {
    pub fn chosen(&self) -> impl Iterator<Item = Family> + '_ {
        self.chosen.iter().copied()
    }

    pub fn is_swarm(&self) -> bool {
        self.chosen().any(|family| matches!(family.drawing(), Drawing::Swarm))
    }

    /// Adds a family. Adding `none` has no effect, and any other family replaces `none`.
    #[must_use]
    pub fn with(mut self, family: Family) -> Families {
        self.chosen.push(family);
        self.chosen.sort_unstable();
        self.chosen.dedup();
        if self.chosen.len() > 1 {
            self.chosen.retain(|one| *one != Family::None);
        }
        self
    }

    pub fn is_none(&self) -> bool {
        self.chosen().all(|family| family == Family::None)
    }
}

impl From<Family> for Families {
    fn from(family: Family) -> Families {
        Families { chosen: vec![family] }
    }
}

impl FromStr for Families {
    type Err = UnknownFamily;

    fn from_str(text: &str) -> Result<Families, UnknownFamily> {
        let unknown = |name: &str| UnknownFamily::Name { name: name.to_owned() };
        let mut chosen = text
            .split('+')
            .map(|name| Family::named(name.trim()).ok_or_else(|| unknown(name.trim())))
            .collect::<Result<Vec<_>, _>>()?;
        chosen.sort_unstable();
        chosen.dedup();
        let alone = chosen.iter().find(|family| matches!(family, Family::None | Family::All));
        match alone {
            Some(family) if chosen.len() > 1 => {
                Err(UnknownFamily::NotAlone { name: family.name(), text: text.to_owned() })
            }
            _ => Ok(Families { chosen }),
        }
    }
}

impl fmt::Display for Families {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.chosen().map(Family::name).collect();
        f.pad(&names.join("+"))
    }
}

as_text!(
    Families,
    "One or more fault families, joined by '+'.",
    pattern "^[a-z+-]+$"
);

fn valid() -> String {
    let name = |family: &Family| match family.aliases() {
        [] => family.name().to_owned(),
        aliases => format!("{family} ({})", aliases.join(", ")),
    };
    FAMILIES.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn hint(name: &str) -> String {
    let names = FAMILIES.iter().flat_map(|family| [&[family.name()], family.aliases()].concat());
    did_you_mean(name, names)
}
