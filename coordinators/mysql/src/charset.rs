#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Charset {
    pub(crate) name: &'static str,
    pub(crate) collation: &'static str,
    pub(crate) number: u16,
    pub(crate) longest: u32,
    is_default: bool,
}

const fn charset(
    name: &'static str,
    collation: &'static str,
    number: u16,
    longest: u32,
    is_default: bool,
) -> Charset {
    Charset { name, collation, number, longest, is_default }
}

const ALL: &[Charset] = &[
    charset("utf8mb4", "utf8mb4_general_ci", 45, 4, true),
    charset("utf8mb4", "utf8mb4_unicode_ci", 224, 4, false),
    charset("utf8mb3", "utf8mb3_general_ci", 33, 3, true),
    charset("utf8mb3", "utf8mb3_unicode_ci", 192, 3, false),
    charset("latin1", "latin1_swedish_ci", 8, 1, true),
];

pub(crate) const DEFAULT: Charset = ALL[0];

impl Charset {
    pub(crate) fn numbered(number: u16) -> Charset {
        ALL.iter().copied().find(|one| one.number == number).unwrap_or(DEFAULT)
    }

    pub(crate) fn named(name: &str) -> Option<Charset> {
        let name = name.to_ascii_lowercase();
        let name = if name == "utf8" { "utf8mb3" } else { &name };
        ALL.iter().copied().find(|one| one.is_default && one.name == name)
    }

    pub(crate) fn of_collation(collation: &str) -> Option<Charset> {
        let collation = collation.to_ascii_lowercase();
        let collation = match collation.strip_prefix("utf8_") {
            Some(rest) => format!("utf8mb3_{rest}"),
            None => collation,
        };
        ALL.iter().copied().find(|one| one.collation == collation)
    }

    pub(crate) fn characters(self, text: &[u8]) -> usize {
        if self.longest == 1 {
            return text.len();
        }
        text.utf8_chunks().map(|part| part.valid().chars().count() + part.invalid().len()).sum()
    }
}
