use crate::error::{Outcome, SqlError};
use crate::types::Type;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Statement {
    Select(Select),
    Insert(Insert),
    Update(Update),
    Delete(Delete),
    CreateTable(CreateTable),
    DropTable { tables: Vec<Named>, if_exists: bool },
    Transaction(TransactionStatement),
    Set(Set),
    Show(String),
    Deallocate(Option<String>),
}

impl Statement {
    pub(crate) fn takes_snapshot(&self) -> bool {
        matches!(
            self,
            Statement::CreateTable(_) | Statement::DropTable { .. } | Statement::Deallocate(_)
        )
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) position: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum LockMode {
    AccessShare,
    RowShare,
    RowExclusive,
    Share,
    Exclusive,
    AccessExclusive,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TransactionStatement {
    Begin(Modes, &'static str),
    Commit,
    Rollback,
    Set(Modes),
    SetSession(Modes),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Isolation {
    /// Behaves like READ COMMITTED, although SHOW displays READ UNCOMMITTED.
    ReadUncommitted,
    #[default]
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Modes {
    pub(crate) isolation: Option<Isolation>,
    pub(crate) read_only: Option<bool>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Set {
    pub(crate) is_local: bool,
    pub(crate) name: Option<String>,
    pub(crate) value: Option<String>,
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
    pub(crate) default: Option<(Expression, String)>,
}

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

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Item {
    All { table: Option<String>, position: usize },
    Expression { expression: Expression, label: Option<String> },
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Order {
    pub(crate) expression: Expression,
    pub(crate) is_descending: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Locking {
    pub(crate) strength: Strength,
    pub(crate) policy: Policy,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Strength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

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
    /// One list of values per row. `None` means `DEFAULT VALUES`.
    pub(crate) rows: Vec<Option<Vec<Expression>>>,
    pub(crate) on_conflict: Option<OnConflict>,
    pub(crate) returning: Vec<Item>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct OnConflict {
    pub(crate) columns: Option<Vec<Named>>,
    pub(crate) constraint: Option<Named>,
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

/// Expression depth limit (real server: about 3,000). `tests/depth.rs` checks the stack use.
const DEPTH_MAX: u32 = 500;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Expression {
    pub(crate) node: Node,
    pub(crate) position: usize,
    depth: u32,
}

impl Expression {
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
    Column { table: Option<String>, name: String },
    Default,
    Negate(Box<Expression>),
    Not(Box<Expression>),
    Logic { operator: Operator, parts: Vec<Expression> },
    Binary { operator: Operator, left: Box<Expression>, right: Box<Expression> },
    IsNull { value: Box<Expression>, is_negated: bool },
    Cast { value: Box<Expression>, to: Type },
    Case { arms: Vec<(Expression, Expression)>, otherwise: Option<Box<Expression>> },
    Call { name: String, arguments: Vec<Expression>, star: bool },
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
