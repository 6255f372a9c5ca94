//! Statements and expressions as they were written. Names are not looked up yet.

use crate::error::{Outcome, SqlError};
use crate::types::Type;

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Statement {
    Select(Select),
    Insert(Insert),
    Update(Update),
    Delete(Delete),
    CreateTable(CreateTable),
    DropTable {
        tables: Vec<Named>,
        if_exists: bool,
    },
    Transaction(TransactionStatement),
    Set(Set),
    Show(String),
    /// `DEALLOCATE name`, or all.
    Deallocate(Option<String>),
}

impl Statement {
    /// Whether it needs no plan and yet takes the snapshot of its transaction.
    pub(crate) fn takes_snapshot(&self) -> bool {
        matches!(
            self,
            Statement::CreateTable(_) | Statement::DropTable { .. } | Statement::Deallocate(_)
        )
    }
}

/// A name, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) position: usize,
}

/// The modes of a table lock, from the weakest to the strongest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum LockMode {
    AccessShare,
    RowShare,
    RowExclusive,
    Share,
    Exclusive,
    AccessExclusive,
}

/// What governs a transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TransactionStatement {
    Begin(Modes, &'static str),
    Commit,
    Rollback,
    /// `SET TRANSACTION`.
    Set(Modes),
    /// `SET SESSION CHARACTERISTICS AS TRANSACTION`.
    SetSession(Modes),
}

/// How far a transaction is kept apart from others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Isolation {
    /// `READ UNCOMMITTED` is the same, but shown as what was asked for.
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// What a transaction is asked to be; what is not said stays as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Modes {
    pub(crate) isolation: Option<Isolation>,
    pub(crate) read_only: Option<bool>,
}

/// `SET name = value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Set {
    /// Only until the transaction ends.
    pub(crate) is_local: bool,
    /// `None` for all of them.
    pub(crate) name: Option<String>,
    /// `None` for the default.
    pub(crate) value: Option<String>,
    /// Whether it was written as `RESET`.
    pub(crate) is_reset: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CreateTable {
    pub(crate) name: Named,
    pub(crate) if_not_exists: bool,
    pub(crate) columns: Vec<ColumnDefinition>,
    pub(crate) keys: Vec<Key>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ColumnDefinition {
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) not_null: bool,
    /// The default, and its text.
    pub(crate) default: Option<(Expression, String)>,
}

/// A primary key or a unique constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    pub(crate) name: Option<String>,
    pub(crate) columns: Vec<Named>,
    pub(crate) is_primary: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Source {
    pub(crate) table: Named,
    pub(crate) alias: Option<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Select {
    pub(crate) items: Vec<Item>,
    pub(crate) from: Option<Source>,
    pub(crate) filter: Option<Expression>,
    pub(crate) order: Vec<Order>,
    pub(crate) locking: Option<Locking>,
}

/// A part of what is selected or returned.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Item {
    /// `*`, or that of a table.
    All {
        table: Option<String>,
        position: usize,
    },
    Expression {
        expression: Expression,
        label: Option<String>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Order {
    pub(crate) expression: Expression,
    pub(crate) is_descending: bool,
}

/// `FOR UPDATE` and its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Locking {
    pub(crate) strength: Strength,
    pub(crate) policy: Policy,
}

/// How strongly a row is locked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Strength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

/// What is done if another has the row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    Wait,
    Nowait,
    SkipLocked,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Insert {
    pub(crate) table: Source,
    pub(crate) columns: Option<Vec<Named>>,
    /// One list for each row; `None` for `DEFAULT VALUES`.
    pub(crate) rows: Vec<Option<Vec<Expression>>>,
    pub(crate) on_conflict: Option<OnConflict>,
    pub(crate) returning: Vec<Item>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct OnConflict {
    /// The columns of the key; none for any.
    pub(crate) columns: Option<Vec<Named>>,
    /// `ON CONFLICT ON CONSTRAINT`.
    pub(crate) constraint: Option<Named>,
    /// `DO UPDATE`; `None` for `DO NOTHING`.
    pub(crate) update: Option<(Vec<Assignment>, Option<Expression>)>,
    pub(crate) position: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Assignment {
    pub(crate) column: Named,
    pub(crate) value: Expression,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Update {
    pub(crate) table: Source,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) filter: Option<Expression>,
    pub(crate) returning: Vec<Item>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Delete {
    pub(crate) table: Source,
    pub(crate) filter: Option<Expression>,
    pub(crate) returning: Vec<Item>,
}

/// The deepest expression. Everything that descends into one (binding, evaluation, drop) recurses
/// once or a few times per level; `tests/depth.rs` measures that the deepest one fits the stack.
/// The real server gets to about 3,000 before `max_stack_depth` stops it.
const DEPTH_MAX: u32 = 500;

/// An expression and where it begins, or where its operator is. None is deeper than [`DEPTH_MAX`].
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Expression {
    pub(crate) node: Node,
    pub(crate) position: usize,
    depth: u32,
}

impl Expression {
    /// Errors: 54001 if it would be too deep.
    pub(crate) fn new(node: Node, position: usize) -> Outcome<Expression> {
        let depth = 1 + node.deepest_part();
        match depth > DEPTH_MAX {
            true => Err(SqlError::too_deep()),
            false => Ok(Expression { node, position, depth }),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Node {
    Null,
    Boolean(bool),
    Integer(String),
    Decimal(String),
    Text(String),
    Parameter(u16),
    Column {
        table: Option<String>,
        name: String,
    },
    /// `DEFAULT`, as a value to be stored.
    Default,
    Negate(Box<Expression>),
    Not(Box<Expression>),
    /// All parts of `a AND b AND c`, or of an OR.
    Logic {
        operator: Operator,
        parts: Vec<Expression>,
    },
    Binary {
        operator: Operator,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    IsNull {
        value: Box<Expression>,
        is_negated: bool,
    },
    Cast {
        value: Box<Expression>,
        to: Type,
    },
    /// The conditions with their values, in order, and the value if none is true.
    Case {
        arms: Vec<(Expression, Expression)>,
        otherwise: Option<Box<Expression>>,
    },
    Call {
        name: String,
        arguments: Vec<Expression>,
        star: bool,
    },
    /// A function that is written without brackets.
    Keyword(&'static str),
}

impl Node {
    fn deepest_part(&self) -> u32 {
        let deepest = |parts: &[Expression]| parts.iter().map(|part| part.depth).max().unwrap_or(0);
        match self {
            Node::Negate(value)
            | Node::Not(value)
            | Node::IsNull { value, .. }
            | Node::Cast { value, .. } => value.depth,
            Node::Logic { parts, .. } => deepest(parts),
            Node::Binary { left, right, .. } => left.depth.max(right.depth),
            Node::Case { arms, otherwise } => {
                let arms = arms.iter().map(|(when, then)| when.depth.max(then.depth));
                arms.max().max(otherwise.as_ref().map(|value| value.depth)).unwrap_or(0)
            }
            Node::Call { arguments, .. } => deepest(arguments),
            Node::Null
            | Node::Boolean(_)
            | Node::Integer(_)
            | Node::Decimal(_)
            | Node::Text(_)
            | Node::Parameter(_)
            | Node::Column { .. }
            | Node::Default
            | Node::Keyword(_) => 0,
        }
    }
}

/// The operators of two sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    Different,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Operator {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Operator::Or => "OR",
            Operator::And => "AND",
            Operator::Equal => "=",
            Operator::Different => "<>",
            Operator::Less => "<",
            Operator::LessEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterEqual => ">=",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Remainder => "%",
        }
    }

    pub(crate) fn is_comparison(self) -> bool {
        use Operator::{Different, Equal, Greater, GreaterEqual, Less, LessEqual};
        matches!(self, Equal | Different | Less | LessEqual | Greater | GreaterEqual)
    }
}
