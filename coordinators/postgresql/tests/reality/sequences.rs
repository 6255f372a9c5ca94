use super::fake::Fake;
use super::messages::{is_whole, query, shown};
use super::real::{Connection, Real};
use super::statements::{LAST, ODD, TABLES, statement};
use fencepost_testing::differential::{differential, drawn};
use proptest::prelude::*;
use std::collections::BTreeMap;

const CASES: u32 = 1_000;
const SHRINK_MAX: u32 = 400;
const ALONE: u32 = 1_500;
const DEADLOCK_US: u64 = 1_100_000;

struct Pair {
    real: Connection,
    fake: u32,
    waits: Option<String>,
}

struct World<'r> {
    real: &'r mut Real,
    fake: Fake,
    pairs: Vec<Pair>,
    log: Vec<String>,
    reasons: &'r mut BTreeMap<String, u32>,
}

impl World<'_> {
    fn compare(&mut self, index: usize) -> Result<bool, TestCaseError> {
        let pair = &mut self.pairs[index];
        let Some(own) = self.fake.answer(pair.fake) else {
            let waits = self.real.waits(&mut pair.real);
            prop_assert!(waits, "{index} waits in ours only, after\n{}", self.log.join("\n"));
            return Ok(false);
        };
        let expected = shown(&pair.real.read());
        let own = shown(&own);
        if let Some((_, reason)) = own.split_once("Reason code: ") {
            let reason = reason.split(" H").next().unwrap_or_default();
            *self.reasons.entry(reason.to_owned()).or_default() += 1;
        }
        prop_assert_eq!(expected, own, "to {}, after\n{}", index, self.log.join("\n"));
        pair.waits = None;
        Ok(true)
    }

    fn send_statement(&mut self, index: usize, sql: &str) -> Result<bool, TestCaseError> {
        self.log.push(format!("{index}: {sql}"));
        let bytes = query(sql);
        let waited: Vec<usize> =
            (0..self.pairs.len()).filter(|at| self.pairs[*at].waits.is_some()).collect();
        self.pairs[index].waits = Some(sql.to_owned());
        self.pairs[index].real.send(&bytes);
        self.fake.send(self.pairs[index].fake, &bytes);
        let has_answer =
            |fake: &Fake, at: usize, pairs: &[Pair]| is_whole(fake.unread(pairs[at].fake));
        let answered = waited.iter().filter(|at| has_answer(&self.fake, **at, &self.pairs)).count();
        if waited.len() > 1 && answered > 0 {
            return Ok(false);
        }
        if has_answer(&self.fake, index, &self.pairs) {
            self.compare(index)?;
            for at in waited {
                self.compare(at)?;
            }
            return Ok(true);
        }
        self.fake.pass(DEADLOCK_US);
        let is_resolved = (0..self.pairs.len())
            .any(|at| has_answer(&self.fake, at, &self.pairs) && self.pairs[at].waits.is_some());
        if is_resolved && waited.len() > 1 {
            return Ok(false);
        }
        for at in 0..self.pairs.len() {
            if self.pairs[at].waits.is_some() {
                self.compare(at)?;
            }
        }
        Ok(true)
    }
}

fn check(
    real: &mut Real,
    steps: &[(usize, String)],
    reasons: &mut BTreeMap<String, u32>,
) -> Result<(), TestCaseError> {
    real.wait_alone();
    let mut fake = Fake::start();
    let mut pairs = Vec::new();
    for _ in 0..3 {
        let (session, id) = (real.session(), fake.session());
        let welcome = shown(&fake.answer(id).unwrap_or_default());
        prop_assert_eq!(shown(&session.welcome), welcome);
        pairs.push(Pair { real: session, fake: id, waits: None });
    }
    pairs[0].real.ask(&query("DROP TABLE IF EXISTS t, u, lock"));
    let mut world = World { real, fake, pairs, log: Vec::new(), reasons };
    for sql in TABLES {
        world.send_statement(0, sql)?;
    }
    for (index, sql) in steps {
        if world.pairs[*index].waits.is_none() && !world.send_statement(*index, sql)? {
            return Ok(());
        }
    }
    for _ in 0..3 {
        for index in 0..world.pairs.len() {
            for sql in ["ROLLBACK", "SELECT pg_advisory_unlock_all()"] {
                if world.pairs[index].waits.is_none() && !world.send_statement(index, sql)? {
                    return Ok(());
                }
            }
        }
    }
    for sql in LAST {
        if world.pairs[0].waits.is_none() && !world.send_statement(0, sql)? {
            return Ok(());
        }
    }
    Ok(())
}

pub(crate) fn run(
    cases: u32,
    steps: impl Strategy<Value = Vec<(usize, String)>>,
) -> Option<BTreeMap<String, u32>> {
    let real = Real::start()?;
    let world = std::cell::RefCell::new((real, BTreeMap::new()));
    differential(cases, SHRINK_MAX, &steps, |steps| {
        let (real, reasons) = &mut *world.borrow_mut();
        check(real, &steps, reasons)
    });
    Some(world.into_inner().1)
}

#[test]
fn replies_and_waits_are_those_of_a_real_postgresql() {
    run(CASES, prop::collection::vec((0..3_usize, statement()), 1..30));
}

#[test]
fn statements_alone_are_answered_as_by_a_real_postgresql() {
    let Some(real) = Real::start() else { return };
    let odd = ODD.iter().map(|sql| (*sql).to_owned());
    let all: Vec<String> = odd.chain(drawn(ALONE, 7, &statement())).collect();
    let mut different = Vec::new();
    let (mut session, mut seen) = (real.session(), std::collections::BTreeSet::new());
    for sql in all {
        if sql.contains("pg_advisory_lock") || !seen.insert(sql.clone()) {
            continue;
        }
        let mut fake = Fake::start();
        let id = fake.session();
        fake.answer(id);
        session.ask(&query("ROLLBACK; RESET ALL; DROP TABLE IF EXISTS t, u, lock"));
        for setup in TABLES {
            let expected = session.ask(&query(setup));
            fake.send(id, &query(setup));
            assert_eq!(shown(&expected), shown(&fake.answer(id).unwrap()), "{setup}");
        }
        let expected = shown(&session.ask(&query(&sql)));
        fake.send(id, &query(&sql));
        let own = shown(&fake.answer(id).unwrap_or_default());
        if own != expected {
            different.push(format!("{sql}\n  PostgreSQL: {expected:?}\n  ours:       {own:?}"));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}
