use super::plan::{InsertPlan, Plan, Planned};
use crate::bound::Bound;
use crate::error::{About, Outcome, SqlError};
use crate::store::table::{Column, Definition};
use crate::types::Value;

impl Planned {
    pub(crate) fn check_conflict(&self) -> Outcome<()> {
        let Plan::Insert(InsertPlan { conflict: Some(conflict), .. }) = &self.plan else {
            return Ok(());
        };
        if !conflict.lacks_index {
            return Ok(());
        }
        let message = "there is no unique or exclusion constraint matching the ON CONFLICT \
                       specification";
        Err(SqlError::new("42P10", message))
    }

    pub(crate) fn expressions(&self) -> Vec<&Bound> {
        let mut all: Vec<&Bound> =
            self.outputs.iter().flatten().map(|output| &output.bound).collect();
        match &self.plan {
            Plan::Select(plan) => all.extend(&plan.filter),
            Plan::Insert(plan) => all.extend(plan.rows.iter().flatten().flatten()),
            Plan::Modify(plan) => {
                all.extend(&plan.filter);
                let assignments = plan.assignments.as_deref().unwrap_or(&[]);
                all.extend(assignments.iter().filter_map(|(_, value)| value.as_ref()));
            }
            Plan::None => {}
        }
        all
    }
}

pub(crate) fn check_not_null(table: &Definition, values: &[Value]) -> Outcome<()> {
    let lacks = |(column, value): &(&Column, &Value)| column.not_null && value.is_null();
    let Some((column, _)) = table.columns.iter().zip(values).find(lacks) else { return Ok(()) };
    let message = format!(
        "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
        column.name, table.name
    );
    let detail = format!("Failing row contains ({}).", shown(table, values));
    let about = About {
        table: Some(table.name.clone()),
        column: Some(column.name.clone()),
        constraint: None,
    };
    Err(SqlError::new("23502", message).detail(detail).about(about))
}

fn shown(table: &Definition, values: &[Value]) -> String {
    let text = |(column, value): (&Column, &Value)| {
        let text = value.text(column.kind).unwrap_or_else(|| "null".to_owned());
        if text.len() > 64 { text.chars().take(64).collect::<String>() + "..." } else { text }
    };
    table.columns.iter().zip(values).map(text).collect::<Vec<_>>().join(", ")
}
