//! The extended query protocol (Parse, Bind, Execute). Outside a transaction block, Sync commits.

use super::query::check_failed;
use super::{Client, Job, Portal};
use crate::core::Core;
use crate::error::{Outcome, SqlError};
use crate::execute::{Execution, Run, Stop, plan, transactions};
use crate::session::Prepared;
use crate::sql::{self, Parsed};
use crate::text::utf8;
use crate::types::{Type, Value};
use crate::wire::{self, Body};
use std::rc::Rc;

impl Client {
    pub(super) fn parse(&mut self, core: &mut Core, mut body: Body) -> Outcome<()> {
        let (name, text) = (body.string()?, body.string()?);
        let mut types = Vec::new();
        for _ in 0..body.short()? {
            types.push(body.long()? as u32);
        }
        body.end()?;
        transactions::ensure(core, &mut self.session);
        let mut statements = sql::parse(&text)?;
        if statements.len() > 1 {
            let message = "cannot insert multiple commands into a prepared statement";
            return Err(SqlError::new("42601", message));
        }
        let prepared = match statements.pop() {
            Some(parsed) => self.prepare(core, parsed, &types)?,
            None => Prepared { statement: None, parameters: Vec::new() },
        };
        if !name.is_empty() && self.session.prepared.contains_key(&name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(SqlError::new("42P05", message));
        }
        self.session.prepared.insert(name, prepared);
        wire::message(&mut self.out, b'1', |_| {});
        Ok(())
    }

    fn prepare(&self, core: &Core, parsed: Parsed, types: &[u32]) -> Outcome<Prepared> {
        check_failed(&self.session, &parsed.statement)?;
        let mut known: Vec<Option<Type>> = Vec::new();
        for oid in types {
            known.push(match oid {
                0 => None,
                oid => Some(Type::of_oid(*oid).ok_or_else(|| {
                    SqlError::unsupported(format!("a parameter of the type with OID {oid}"))
                })?),
            });
        }
        known.resize(parsed.parameters.max(known.len()), None);
        let planned = plan(core, self.session.xid(), &parsed.statement, known)?;
        Ok(Prepared { statement: Some(Rc::new(parsed)), parameters: planned.parameters })
    }

    fn prepared(&self, name: &str) -> Outcome<Prepared> {
        self.session.prepared.get(name).cloned().ok_or_else(|| {
            let message = match name {
                "" => "unnamed prepared statement does not exist".to_owned(),
                name => format!("prepared statement \"{name}\" does not exist"),
            };
            SqlError::new("26000", message)
        })
    }

    pub(super) fn bind(&mut self, core: &mut Core, mut body: Body) -> Outcome<()> {
        let (name, statement) = (body.string()?, body.string()?);
        let prepared = self.prepared(&statement)?;
        let mut formats = Vec::new();
        for _ in 0..body.short()? {
            formats.push(body.short()?);
        }
        let count = usize::from(body.short()?);
        let wanted = prepared.parameters.len();
        if formats.len() > 1 && formats.len() != count {
            let has = formats.len();
            let message =
                format!("bind message has {has} parameter formats but {count} parameters");
            return Err(SqlError::new("08P01", message));
        }
        if count != wanted {
            let message = format!(
                "bind message supplies {count} parameters, but prepared statement \"{statement}\" \
                 requires {wanted}"
            );
            return Err(SqlError::new("08P01", message));
        }
        if let Some(parsed) = &prepared.statement {
            check_failed(&self.session, &parsed.statement)?;
        }
        if !name.is_empty() && self.portals.contains_key(&name) {
            let message = format!("cursor \"{name}\" already exists");
            return Err(SqlError::new("42P03", message));
        }
        transactions::ensure(core, &mut self.session);
        let parameters = values(&mut body, &formats, &prepared.parameters)?;
        let mut shown = Vec::new();
        for _ in 0..body.short()? {
            shown.push(body.short()?);
        }
        body.end()?;
        let nothing = sql::ast::Statement::Deallocate(None);
        let none = || Rc::new(Parsed { statement: nothing, parameters: 0 });
        let parsed = prepared.statement.clone().unwrap_or_else(none);
        let mut run = Run::new(parsed, parameters, core.now.wall.0);
        if prepared.statement.is_some() {
            let session = &mut self.session;
            let planned = Execution { core, session, run: &mut run }.plan();
            if let Err(Stop::Error(error)) = planned {
                return Err(*error);
            }
        }
        let (tag, formats) = (None, shown);
        let portal =
            Portal { prepared, run, formats, tag, has_suspended: false, is_exhausted: false };
        self.portals.insert(name, portal);
        wire::message(&mut self.out, b'2', |_| {});
        Ok(())
    }

    pub(super) fn describe(&mut self, core: &mut Core, mut body: Body) -> Outcome<()> {
        let kind = body.byte()?;
        let name = body.string()?;
        body.end()?;
        transactions::ensure(core, &mut self.session);
        let (prepared, formats) = match kind {
            b'S' => {
                let prepared = self.prepared(&name)?;
                wire::parameter_description(&mut self.out, &prepared.parameters);
                (prepared, Vec::new())
            }
            b'P' => {
                let portal = self.portals.get(&name).ok_or_else(|| no_portal(&name))?;
                (portal.prepared.clone(), portal.formats.clone())
            }
            other => {
                let message = format!("invalid DESCRIBE message subtype {other}");
                return Err(SqlError::new("08P01", message));
            }
        };
        let outputs = match &prepared.statement {
            Some(parsed) => {
                check_failed(&self.session, &parsed.statement)?;
                let types = prepared.parameters.iter().map(|kind| Some(*kind)).collect();
                plan(core, self.session.xid(), &parsed.statement, types)?.outputs
            }
            None => None,
        };
        match outputs {
            Some(outputs) => wire::row_description(&mut self.out, &outputs, &formats),
            None => wire::message(&mut self.out, b'n', |_| {}),
        }
        Ok(())
    }

    pub(super) fn close(&mut self, mut body: Body) -> Outcome<()> {
        let kind = body.byte()?;
        let name = body.string()?;
        body.end()?;
        match kind {
            b'S' => drop(self.session.prepared.remove(&name)),
            b'P' => drop(self.portals.remove(&name)),
            other => {
                let message = format!("invalid CLOSE message subtype {other}");
                return Err(SqlError::new("08P01", message));
            }
        }
        wire::message(&mut self.out, b'3', |_| {});
        Ok(())
    }

    pub(super) fn execute(&mut self, core: &mut Core, mut body: Body) {
        self.commands += 1;
        let read = |body: &mut Body| {
            let (name, rows) = (body.string()?, body.long()?);
            body.end()?;
            Ok((name, u32::try_from(rows).unwrap_or(0)))
        };
        match read(&mut body) {
            Ok((name, rows)) => {
                transactions::ensure(core, &mut self.session);
                self.start_clock(core);
                self.job = Some(Job::Execute(name, rows));
                self.advance(core);
            }
            Err(error) => {
                self.fail(core, &error);
                self.is_skipping = true;
            }
        }
    }

    pub(super) fn continue_execute(
        &mut self,
        core: &mut Core,
        name: &str,
        rows: u32,
    ) -> Result<(), Stop> {
        let Some(mut portal) = self.portals.remove(name) else {
            return Err(no_portal(name).into());
        };
        let Some(parsed) = portal.prepared.statement.clone() else {
            wire::message(&mut self.out, b'I', |_| {});
            self.portals.insert(name.to_owned(), portal);
            return Ok(());
        };
        check_failed(&self.session, &parsed.statement)?;
        if portal.tag.is_none() {
            let run = &mut portal.run;
            let outcome = Execution { core, session: &mut self.session, run }.step();
            self.send_notices();
            match outcome {
                Ok(done) => portal.tag = Some(done.tag),
                Err(Stop::Error(error)) => {
                    if portal.run.streams() {
                        self.send_rows(&mut portal, 0)?;
                    }
                    return Err(Stop::Error(error));
                }
                Err(stop) => {
                    self.portals.insert(name.to_owned(), portal);
                    return Err(stop);
                }
            }
        } else if portal.is_exhausted && !portal.run.streams() {
            let message = format!("portal \"{name}\" cannot be run");
            return Err(SqlError::new("55000", message).into());
        }
        self.timers.statement = None;
        let sent = self.send_rows(&mut portal, rows as usize)?;
        if !portal.run.rows.is_empty()
            || (rows > 0 && sent == rows as usize && portal.run.streams())
        {
            portal.has_suspended = true;
            wire::message(&mut self.out, b's', |_| {});
        } else {
            let is_counted = portal.run.streams() && (portal.has_suspended || portal.is_exhausted);
            let tag = match &portal.tag {
                Some(tag) if !is_counted => tag.clone(),
                _ => format!("SELECT {sent}"),
            };
            portal.is_exhausted = true;
            wire::text(&mut self.out, b'C', &tag);
        }
        if self.session.transaction.is_some() {
            self.portals.insert(name.to_owned(), portal);
        } else {
            self.portals.clear();
        }
        Ok(())
    }

    fn send_rows(&mut self, portal: &mut Portal, most: usize) -> Outcome<usize> {
        let Some(planned) = portal.run.planned.clone() else { return Ok(0) };
        let Some(outputs) = &planned.outputs else { return Ok(0) };
        let there = portal.run.rows.len();
        let count = if most == 0 { there } else { most.min(there) };
        for row in portal.run.rows.drain(..count) {
            wire::data_row(&mut self.out, &row, outputs, &portal.formats)?;
        }
        Ok(count)
    }

    pub(super) fn continue_sync(&mut self, core: &mut Core) -> Result<(), Stop> {
        let is_block = self.session.transaction.as_ref().is_some_and(|open| open.is_block);
        if !is_block {
            transactions::commit(core, &mut self.session)?;
            self.portals.clear();
        }
        self.ready(core);
        Ok(())
    }
}

fn no_portal(name: &str) -> SqlError {
    SqlError::new("34000", format!("portal \"{name}\" does not exist"))
}

fn values(body: &mut Body, formats: &[u16], types: &[Type]) -> Outcome<Vec<(Value, Type)>> {
    let mut values = Vec::new();
    for (index, kind) in types.iter().enumerate() {
        let length = body.long()?;
        if length < 0 {
            values.push((Value::Null, *kind));
            continue;
        }
        let bytes = body.take(length as usize)?;
        let format = match formats {
            [] => 0,
            [all] => *all,
            each => each[index],
        };
        let value = match format {
            0 => Value::read(utf8(&bytes)?, *kind)?,
            1 => Value::read_binary(&bytes, *kind, index + 1)?,
            other => {
                let message = format!("unsupported format code: {other}");
                return Err(SqlError::new("22023", message));
            }
        };
        values.push((value, *kind));
    }
    Ok(values)
}
