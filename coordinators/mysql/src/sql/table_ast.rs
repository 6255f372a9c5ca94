use super::expression::{Expression, Item, Named};
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TableStatement {
    CreateDatabase { name: String, if_missing: bool },
    CreateTable(CreateTable),
    DropTable { table: Named, if_there: bool },
    Select(Select),
    Insert(Insert),
    Update(Update),
    Delete(Delete),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CreateTable {
    pub(crate) table: Named,
    pub(crate) if_missing: bool,
    pub(crate) columns: Vec<ColumnSpec>,
    pub(crate) keys: Vec<Vec<String>>,
    /// Name given to the primary key. The server warns and ignores the name.
    pub(crate) ignored_name: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ColumnSpec {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) nullable: Option<bool>,
    pub(crate) default: Option<Expression>,
    pub(crate) is_key: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Kind {
    Integer {
        bytes: u8,
        width: u32,
    },
    /// A string column. A `CHAR` drops trailing spaces.
    Text {
        characters: u32,
        is_char: bool,
    },
    /// A column of times. A `TIMESTAMP` has a smaller range than a `DATETIME`.
    Time {
        places: u8,
        is_timestamp: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Strength {
    Share,
    Update,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LockWait {
    Usual,
    Seconds(u64),
    Skip,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Source {
    pub(crate) table: Named,
    pub(crate) alias: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Select {
    pub(crate) items: Option<Vec<Item>>,
    pub(crate) from: Source,
    pub(crate) condition: Option<Expression>,
    pub(crate) limit: Option<(u64, u64)>,
    pub(crate) lock: Option<(Strength, LockWait)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Insert {
    pub(crate) table: Named,
    pub(crate) ignores: bool,
    pub(crate) columns: Option<Vec<Named>>,
    pub(crate) rows: Vec<Vec<Option<Expression>>>,
    pub(crate) on_duplicate: Vec<(Named, Expression)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Update {
    pub(crate) table: Source,
    pub(crate) set: Vec<(Named, Expression)>,
    pub(crate) condition: Option<Expression>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Delete {
    pub(crate) from: Named,
    pub(crate) condition: Option<Expression>,
}
