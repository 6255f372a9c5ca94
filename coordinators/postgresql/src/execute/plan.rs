use crate::bind::Binder;
use crate::bound::{Bound, Output};
use crate::core::Core;
use crate::error::{Outcome, SqlError};
use crate::sql::ast::{
    Assignment, Delete, Expression, Insert, Item, Locking, Named, Node, OnConflict, Select, Source,
    Statement, Strength, Update,
};
use crate::store::table::{Column, Definition};
use crate::store::{TableId, Xid};
use crate::types::{Type, Value};

#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    pub(crate) outputs: Option<Vec<Output>>,
    pub(crate) parameters: Vec<Type>,
}

/// Columns with their new values. `None` means the default.
pub(crate) type Assignments = Vec<(usize, Option<Bound>)>;

#[derive(Debug)]
pub(crate) enum Plan {
    Select(SelectPlan),
    Insert(InsertPlan),
    Modify(ModifyPlan),
    None,
}

#[derive(Debug)]
pub(crate) struct SelectPlan {
    pub(crate) table: Option<TableId>,
    pub(crate) filter: Option<Bound>,
    pub(crate) order: Vec<(Bound, bool)>,
    pub(crate) locking: Option<Locking>,
    pub(crate) counts: Vec<Option<Bound>>,
}

#[derive(Debug)]
pub(crate) struct InsertPlan {
    pub(crate) table: TableId,
    pub(crate) rows: Vec<Vec<Option<Bound>>>,
    pub(crate) conflict: Option<ConflictPlan>,
}

#[derive(Debug)]
pub(crate) struct ConflictPlan {
    pub(crate) indexes: Vec<usize>,
    pub(crate) lacks_index: bool,
    /// Assignments and condition of `DO UPDATE`. `None` means `DO NOTHING`.
    pub(crate) update: Option<(Assignments, Option<Bound>)>,
    pub(crate) strength: Strength,
}

#[derive(Debug)]
pub(crate) struct ModifyPlan {
    pub(crate) table: TableId,
    pub(crate) filter: Option<Bound>,
    pub(crate) assignments: Option<Assignments>,
    pub(crate) strength: Strength,
}

pub(crate) fn plan(
    core: &Core,
    own: Option<Xid>,
    statement: &Statement,
    types: Vec<Option<Type>>,
) -> Outcome<Planned> {
    match statement {
        Statement::Select(select) => plan_select(core, own, select, types),
        Statement::Insert(insert) => plan_insert(core, own, insert, types),
        Statement::Update(update) => plan_update(core, own, update, types),
        Statement::Delete(delete) => plan_delete(core, own, delete, types),
        Statement::Show(name) => {
            let output = Output {
                label: name.clone(),
                bound: Bound::Constant(Value::Null),
                kind: Type::Text,
                origin: None,
            };
            Ok(Planned { plan: Plan::None, outputs: Some(vec![output]), parameters: Vec::new() })
        }
        _ => Ok(Planned { plan: Plan::None, outputs: None, parameters: Vec::new() }),
    }
}

fn binder<'t>(
    table: Option<&'t Definition>,
    source: Option<&Source>,
    types: Vec<Option<Type>>,
) -> Binder<'t> {
    Binder::new(table, source.and_then(|source| source.alias.clone()), types)
}

fn plan_select(
    core: &Core,
    own: Option<Xid>,
    select: &Select,
    types: Vec<Option<Type>>,
) -> Outcome<Planned> {
    let source = select.from.as_ref();
    let table = source.map(|source| core.table(&source.table, own)).transpose()?;
    let mut binder = binder(table, source, types);
    binder.counts = Some(Vec::new());
    let outputs = binder.outputs(&select.items)?;
    let loose = binder.loose_column();
    let counts = binder.counts.take().unwrap_or_default();
    let filter = filter(&mut binder, select.filter.as_ref())?;
    if let (Some((name, position)), false) = (loose, counts.is_empty()) {
        let message = format!(
            "column \"{name}\" must appear in the GROUP BY clause or be used in an aggregate \
             function"
        );
        return Err(SqlError::new("42803", message).at(position));
    }
    let mut order = Vec::new();
    for by in &select.order {
        let named = ordered_output(&by.expression, &outputs)?;
        let bound = match named {
            Some(bound) => bound.clone(),
            None => binder.bind(&by.expression)?.bound,
        };
        order.push((bound, by.is_descending));
    }
    if select.locking.is_some() && !counts.is_empty() {
        let message = "FOR UPDATE is not allowed with aggregate functions";
        return Err(SqlError::new("0A000", message));
    }
    let table = table.map(|table| table.id);
    let locking = select.locking;
    let plan = SelectPlan { table, filter, order, locking, counts };
    let parameters = binder.settled()?;
    Ok(Planned { plan: Plan::Select(plan), outputs: Some(outputs), parameters })
}

/// Returns the result column to which an ORDER BY expression refers by name or number, if any.
fn ordered_output<'o>(by: &Expression, outputs: &'o [Output]) -> Outcome<Option<&'o Bound>> {
    let error = |code, message: String| Err(SqlError::new(code, message).at(by.position));
    match &by.node {
        Node::Column { table: None, name } => {
            let output = outputs.iter().find(|output| output.label == *name);
            Ok(output.map(|output| &output.bound))
        }
        Node::Integer(digits) => {
            let number = digits.parse::<usize>().ok();
            match number.and_then(|number| outputs.get(number.wrapping_sub(1))) {
                Some(output) => Ok(Some(&output.bound)),
                None => {
                    let message = format!("ORDER BY position {digits} is not in select list");
                    error("42P10", message)
                }
            }
        }
        Node::Null | Node::Text(_) => error("42601", "non-integer constant in ORDER BY".to_owned()),
        _ => Ok(None),
    }
}

fn filter(
    binder: &mut Binder<'_>,
    expression: Option<&crate::sql::ast::Expression>,
) -> Outcome<Option<Bound>> {
    expression.map(|expression| binder.boolean(expression, "WHERE")).transpose()
}

fn columns_of(table: &Definition, named: &[Named]) -> Outcome<Vec<usize>> {
    let mut found = Vec::new();
    for column in named {
        let name = &column.name;
        let Some(index) = table.column(name) else {
            let message =
                format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
            return Err(SqlError::new("42703", message).at(column.position));
        };
        if found.contains(&index) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(SqlError::new("42701", message).at(column.position));
        }
        found.push(index);
    }
    Ok(found)
}

fn returned(binder: &mut Binder<'_>, items: &[Item]) -> Outcome<Option<Vec<Output>>> {
    if items.is_empty() { Ok(None) } else { binder.outputs(items).map(Some) }
}

fn plan_insert(
    core: &Core,
    own: Option<Xid>,
    insert: &Insert,
    types: Vec<Option<Type>>,
) -> Outcome<Planned> {
    let table = core.table(&insert.table.table, own)?;
    let columns = match &insert.columns {
        Some(named) => columns_of(table, named)?,
        None => (0..table.columns.len()).collect(),
    };
    let mut values = Binder::new(None, None, types);
    let mut rows = Vec::new();
    let width = insert.rows.first().and_then(Option::as_ref).map_or(0, Vec::len);
    for row in &insert.rows {
        let mut bound: Vec<Option<Bound>> = vec![None; table.columns.len()];
        let row = row.as_deref().unwrap_or(&[]);
        if row.len() != width {
            let message = "VALUES lists must all be the same length";
            let position = row.first().map_or(1, |first| first.position);
            return Err(SqlError::new("42601", message).at(position));
        }
        check_width(insert, row, &columns)?;
        for (value, index) in row.iter().zip(&columns) {
            if !value.is_default() {
                bound[*index] = Some(values.stored(value, &table.columns[*index])?);
            }
        }
        rows.push(bound);
    }
    let mut binder = binder(Some(table), Some(&insert.table), values.parameters);
    let conflict = match &insert.on_conflict {
        Some(conflict) => Some(plan_conflict(&mut binder, table, conflict)?),
        None => None,
    };
    let outputs = returned(&mut binder, &insert.returning)?;
    let plan = InsertPlan { table: table.id, rows, conflict };
    Ok(Planned { plan: Plan::Insert(plan), outputs, parameters: binder.settled()? })
}

fn check_width(
    insert: &Insert,
    row: &[crate::sql::ast::Expression],
    columns: &[usize],
) -> Outcome<()> {
    if let Some(extra) = row.get(columns.len()) {
        let message = "INSERT has more expressions than target columns";
        return Err(SqlError::new("42601", message).at(extra.position));
    }
    if let (Some(named), false) = (&insert.columns, row.is_empty())
        && let Some(missing) = named.get(row.len())
    {
        let message = "INSERT has more target columns than expressions";
        return Err(SqlError::new("42601", message).at(missing.position));
    }
    Ok(())
}

fn plan_conflict(
    binder: &mut Binder<'_>,
    table: &Definition,
    conflict: &OnConflict,
) -> Outcome<ConflictPlan> {
    let indexes = || table.indexes.iter().enumerate();
    let indexes: Vec<usize> = if let Some(named) = &conflict.columns {
        let mut wanted = columns_of(table, named).map_err(|mut error| {
            if error.code == "42703"
                && let Some(column) = named.iter().find(|one| Some(one.position) == error.position)
            {
                error.message = format!("column \"{}\" does not exist", column.name);
            }
            error
        })?;
        wanted.sort_unstable();
        let has_them = |columns: &[usize]| {
            let mut own = columns.to_vec();
            own.sort_unstable();
            own == wanted
        };
        indexes().filter(|(_, index)| has_them(&index.columns)).map(|(at, _)| at).collect()
    } else if let Some(named) = &conflict.constraint {
        let found: Vec<usize> =
            indexes().filter(|(_, index)| index.name == named.name).map(|(at, _)| at).collect();
        if found.is_empty() {
            let (name, table_name) = (&named.name, &table.name);
            let message =
                format!("constraint \"{name}\" for table \"{table_name}\" does not exist");
            return Err(SqlError::new("42704", message));
        }
        found
    } else {
        indexes().map(|(at, _)| at).collect()
    };
    let lacks_index = indexes.is_empty() && conflict.columns.is_some();
    let Some((assignments, condition)) = &conflict.update else {
        let strength = Strength::NoKeyUpdate;
        return Ok(ConflictPlan { indexes, lacks_index, update: None, strength });
    };
    if conflict.columns.is_none() && conflict.constraint.is_none() {
        let message = "ON CONFLICT DO UPDATE requires inference specification or constraint name";
        let hint = "For example, ON CONFLICT (column_name).";
        return Err(SqlError::new("42601", message).hint(hint).at(conflict.position));
    }
    binder.has_excluded = true;
    let assignments = plan_assignments(binder, table, assignments)?;
    let condition = filter(binder, condition.as_ref())?;
    binder.has_excluded = false;
    refuse_duplicates(table, &assignments)?;
    let strength = strength_of(table, &assignments);
    let update = Some((assignments, condition));
    Ok(ConflictPlan { indexes, lacks_index, update, strength })
}

fn plan_assignments(
    binder: &mut Binder<'_>,
    table: &Definition,
    assignments: &[Assignment],
) -> Outcome<Assignments> {
    let mut planned: Assignments = Vec::new();
    for assignment in assignments {
        let named = std::slice::from_ref(&assignment.column);
        let index = columns_of(table, named)?[0];
        let column: &Column = &table.columns[index];
        let value = match assignment.value.is_default() {
            true => None,
            false => Some(binder.stored(&assignment.value, column)?),
        };
        planned.push((index, value));
    }
    Ok(planned)
}

fn refuse_duplicates(table: &Definition, assignments: &[(usize, Option<Bound>)]) -> Outcome<()> {
    for (at, (column, _)) in assignments.iter().enumerate() {
        if assignments[..at].iter().any(|(other, _)| other == column) {
            let name = &table.columns[*column].name;
            let message = format!("multiple assignments to same column \"{name}\"");
            return Err(SqlError::new("42601", message));
        }
    }
    Ok(())
}

fn strength_of(table: &Definition, assignments: &[(usize, Option<Bound>)]) -> Strength {
    let keys = || table.indexes.iter();
    let touches =
        |(column, _): &(usize, Option<Bound>)| keys().any(|index| index.columns.contains(column));
    if assignments.iter().any(touches) { Strength::Update } else { Strength::NoKeyUpdate }
}

fn plan_update(
    core: &Core,
    own: Option<Xid>,
    update: &Update,
    types: Vec<Option<Type>>,
) -> Outcome<Planned> {
    let table = core.table(&update.table.table, own)?;
    let mut binder = binder(Some(table), Some(&update.table), types);
    let filter = filter(&mut binder, update.filter.as_ref())?;
    let outputs = returned(&mut binder, &update.returning)?;
    let assignments = plan_assignments(&mut binder, table, &update.assignments)?;
    refuse_duplicates(table, &assignments)?;
    let strength = strength_of(table, &assignments);
    let assignments = Some(assignments);
    let plan = ModifyPlan { table: table.id, filter, assignments, strength };
    Ok(Planned { plan: Plan::Modify(plan), outputs, parameters: binder.settled()? })
}

fn plan_delete(
    core: &Core,
    own: Option<Xid>,
    delete: &Delete,
    types: Vec<Option<Type>>,
) -> Outcome<Planned> {
    let table = core.table(&delete.table.table, own)?;
    let mut binder = binder(Some(table), Some(&delete.table), types);
    let filter = filter(&mut binder, delete.filter.as_ref())?;
    let outputs = returned(&mut binder, &delete.returning)?;
    let (assignments, strength) = (None, Strength::Update);
    let plan = ModifyPlan { table: table.id, filter, assignments, strength };
    Ok(Planned { plan: Plan::Modify(plan), outputs, parameters: binder.settled()? })
}
