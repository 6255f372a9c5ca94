use super::evaluate::Row;
use super::locking::serialization;
use super::plan::SelectPlan;
use super::{Execution, StatementResult, Stop};
use crate::bound::Output;
use crate::sql::ast::Locking;
use crate::store::rows::Standing;
use crate::store::{TableId, VersionId};
use crate::types::compare;
use std::cmp::Ordering;

impl Execution<'_> {
    pub(super) fn select(
        &mut self,
        plan: &SelectPlan,
        outputs: &[Output],
    ) -> Result<StatementResult, Stop> {
        let Some(table) = plan.table else { return self.select_nothing(plan, outputs) };
        if self.run.progress.targets.is_none() {
            let found = self.find(plan, table)?;
            self.run.progress.targets = Some(found);
            self.end_part();
        }
        if !plan.counts.is_empty() {
            self.touch_until(table, None)?;
            return self.select_counts(plan, table, outputs);
        }
        while let Some(target) = self.target() {
            if self.run.progress.current.is_none() {
                self.touch_until(table, Some(target))?;
            }
            let version = match plan.locking {
                Some(locking) => self.lock_target(plan, table, locking, target)?,
                None => Some(target),
            };
            if let Some(version) = version {
                let values = self.values(table, version);
                self.give(Some(outputs), Row::of(&values))?;
                self.run.progress.count += 1;
            }
            self.run.progress.at += 1;
            self.run.progress.current = None;
            self.run.progress.is_later = false;
            self.end_part();
        }
        self.touch_until(table, None)?;
        Ok(StatementResult { tag: format!("SELECT {}", self.run.progress.count) })
    }

    fn select_nothing(
        &mut self,
        plan: &SelectPlan,
        outputs: &[Output],
    ) -> Result<StatementResult, Stop> {
        let is_one = self.passes(plan.filter.as_ref(), Row::default())?;
        let counts = vec![i64::from(is_one); plan.counts.len()];
        let shows = is_one || !counts.is_empty();
        if shows {
            self.give(Some(outputs), Row { counts: &counts, ..Row::default() })?;
        }
        Ok(StatementResult { tag: format!("SELECT {}", u8::from(shows)) })
    }

    fn find(&mut self, plan: &SelectPlan, table: TableId) -> Result<Vec<VersionId>, Stop> {
        let mut found = Vec::new();
        for version in self.look_up_versions(table, plan.filter.as_ref())? {
            let values = self.values(table, version);
            let row = Row::of(&values);
            if !self.passes(plan.filter.as_ref(), row)? {
                continue;
            }
            let mut keys = Vec::new();
            if plan.counts.is_empty() {
                for (bound, is_descending) in &plan.order {
                    keys.push((self.evaluate(bound, row)?, *is_descending));
                }
            }
            found.push((keys, version));
        }
        found.sort_by(|(left, _), (right, _)| {
            let pairs = left.iter().zip(right);
            let orders = pairs.map(|((left, is_descending), (right, _))| {
                let order = compare(left, right);
                if *is_descending { order.reverse() } else { order }
            });
            orders.fold(Ordering::Equal, Ordering::then)
        });
        Ok(found.into_iter().map(|(_, version)| version).collect())
    }

    fn select_counts(
        &mut self,
        plan: &SelectPlan,
        table: TableId,
        outputs: &[Output],
    ) -> Result<StatementResult, Stop> {
        let mut counts = vec![0; plan.counts.len()];
        for version in self.run.progress.targets.clone().unwrap_or_default() {
            let values = self.values(table, version);
            for (count, counted) in counts.iter_mut().zip(&plan.counts) {
                let is_null = match counted {
                    Some(bound) => self.evaluate(bound, Row::of(&values))?.is_null(),
                    None => false,
                };
                *count += i64::from(!is_null);
            }
        }
        self.give(Some(outputs), Row { counts: &counts, ..Row::default() })?;
        Ok(StatementResult { tag: "SELECT 1".to_owned() })
    }

    fn lock_target(
        &mut self,
        plan: &SelectPlan,
        table: TableId,
        locking: Locking,
        target: VersionId,
    ) -> Result<Option<VersionId>, Stop> {
        let mut version = self.run.progress.current.unwrap_or(target);
        loop {
            self.run.progress.current = Some(version);
            match self.take_row_lock(table, version, locking.strength, locking.policy)? {
                Standing::Free => break,
                Standing::Own | Standing::Taken(_) => return Ok(None),
                // Unlike UPDATE and DELETE, SELECT reports a deleted row as updated.
                Standing::Deleted | Standing::Replaced(_) if self.is_strict() => {
                    return Err(serialization("update").into());
                }
                Standing::Deleted => return Ok(None),
                Standing::Replaced(next) => {
                    version = next;
                    self.run.progress.is_later = true;
                }
            }
        }
        self.lock_version(table, version, locking.strength);
        let values = self.values(table, version);
        let is_later = self.run.progress.is_later;
        if is_later && !self.passes(plan.filter.as_ref(), Row::of(&values))? {
            return Ok(None);
        }
        Ok(Some(version))
    }
}
