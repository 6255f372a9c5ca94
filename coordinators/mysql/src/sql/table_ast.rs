//! What statements about tables say.

use super::expression::{Expression, Item, Named};

/// One statement that names databases or tables.
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
    /// The names of the columns of the primary key, if it is told apart from them.
    pub(crate) keys: Vec<Vec<String>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ColumnSpec {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Whether `NOT NULL` or `NULL` was said.
    pub(crate) nullable: Option<bool>,
    pub(crate) default: Option<Expression>,
    pub(crate) is_key: bool,
}

/// The type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// So many bytes, and so many characters as a client is told.
    Integer { bytes: u8, width: u32 },
    /// So many characters at most; of a `CHAR`, blanks at the end are not kept.
    Text { characters: u32, is_char: bool },
    /// So many digits after the point. A `TIMESTAMP` has bounds that a `DATETIME` has not.
    Time { places: u8, is_timestamp: bool },
}

/// How a statement reads rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Strength {
    Share,
    Update,
}

/// How long a statement waits for a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Patience {
    /// As long as the session's variable says.
    Usual,
    Seconds(u64),
    /// Rows that others have are passed over.
    Skip,
}

/// A table as a statement names it, and what else the statement may call it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Source {
    pub(crate) table: Named,
    pub(crate) alias: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Select {
    /// None for `*`.
    pub(crate) items: Option<Vec<Item>>,
    pub(crate) from: Source,
    pub(crate) condition: Option<Expression>,
    /// How many rows at most, from which on.
    pub(crate) limit: Option<(u64, u64)>,
    pub(crate) lock: Option<(Strength, Patience)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Insert {
    pub(crate) table: Named,
    pub(crate) ignores: bool,
    /// None for all.
    pub(crate) columns: Option<Vec<Named>>,
    /// The values; None for a default.
    pub(crate) rows: Vec<Vec<Option<Expression>>>,
    /// What is set in a row that is there already.
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
