#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EventClass {
    Generic,
    String,
    Hash,
    List,
    Set,
    SortedSet,
    Stream,
    Expired,
    Evicted,
    New,
}

const LETTERS: &[(u8, u32)] = &[
    (b'K', 1),
    (b'E', 1 << 1),
    (b'g', 1 << 2),
    (b'$', 1 << 3),
    (b'l', 1 << 4),
    (b's', 1 << 5),
    (b'h', 1 << 6),
    (b'z', 1 << 7),
    (b'x', 1 << 8),
    (b'e', 1 << 9),
    (b't', 1 << 10),
    (b'd', 1 << 11),
    (b'm', 1 << 12),
    (b'n', 1 << 13),
];
const ALL_CLASSES: u32 = 0b1111_1111_1100;
const KEYSPACE: u32 = 1;
const KEYEVENT: u32 = 1 << 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct EventClasses(u32);

impl EventClasses {
    pub(crate) fn parse(letters: &[u8]) -> Option<Self> {
        let bit = |letter: &u8| match letter {
            b'A' => Some(ALL_CLASSES),
            letter => LETTERS.iter().find(|(known, _)| known == letter).map(|(_, bit)| *bit),
        };
        letters.iter().try_fold(0, |bits, letter| Some(bits | bit(letter)?)).map(EventClasses)
    }

    pub(crate) fn letters(self) -> String {
        let mut letters = String::new();
        let is_all = self.0 & ALL_CLASSES == ALL_CLASSES;
        if is_all {
            letters.push('A');
        }
        let classes = LETTERS[2..]
            .iter()
            .filter(|(_, bit)| self.0 & bit != 0 && !(is_all && bit & ALL_CLASSES != 0));
        letters.extend(classes.map(|(letter, _)| char::from(*letter)));
        letters.extend(
            LETTERS[..2]
                .iter()
                .filter(|(_, bit)| self.0 & bit != 0)
                .map(|(letter, _)| char::from(*letter)),
        );
        letters
    }

    pub(crate) fn by_key(self) -> bool {
        self.0 & KEYSPACE != 0
    }

    pub(crate) fn by_event(self) -> bool {
        self.0 & KEYEVENT != 0
    }

    pub(crate) fn has(self, class: EventClass) -> bool {
        if self.0 == 0 {
            return false;
        }
        let letter = match class {
            EventClass::Generic => b'g',
            EventClass::String => b'$',
            EventClass::Hash => b'h',
            EventClass::List => b'l',
            EventClass::Set => b's',
            EventClass::SortedSet => b'z',
            EventClass::Stream => b't',
            EventClass::Expired => b'x',
            EventClass::Evicted => b'e',
            EventClass::New => b'n',
        };
        LETTERS.iter().any(|(known, bit)| *known == letter && self.0 & bit != 0)
    }
}
