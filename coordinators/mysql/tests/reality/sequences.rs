use super::fake::Fake;
use super::packets::{is_misread, is_refused, query, shown};
use super::real::{Connection, Real, is_release_modelled};
use super::statements::{ODD, locking, words};
use fencepost_testing::differential::{differential, drawn};
use proptest::prelude::*;

const CASES: u32 = 600;
pub(crate) const SHRINK_MAX: u32 = 200;
const ALONE: u32 = 3_000;
const SHORT_US: u64 = 30_000;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Say(String),
    Leave,
    Kill(usize, bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => locking().prop_map(Step::Say),
        1 => Just(Step::Leave),
        1 => (0..3_usize, any::<bool>()).prop_map(|(at, is_query)| Step::Kill(at, is_query)),
    ]
}

struct Pair {
    real: Connection,
    fake: u32,
    waits: bool,
    is_over: bool,
}

struct World<'r> {
    real: &'r mut Real,
    fake: Fake,
    pairs: Vec<Pair>,
    log: Vec<String>,
}

impl World<'_> {
    fn compare(&mut self) -> Result<(), TestCaseError> {
        for (index, pair) in self.pairs.iter_mut().enumerate().filter(|(_, pair)| pair.waits) {
            let log = self.log.join("\n");
            let Some(own) = self.fake.answer(pair.fake) else {
                let waits = self.real.waits(&mut pair.real);
                prop_assert!(waits, "{index} waits in ours only, after\n{log}");
                continue;
            };
            let expected = pair.real.read();
            prop_assert_eq!(shown(&expected), shown(&own), "to {}, after\n{}", index, log);
            pair.waits = false;
        }
        Ok(())
    }

    fn send_statement(&mut self, index: usize, sql: &str) -> Result<(), TestCaseError> {
        self.log.push(format!("{index}: {sql}"));
        let pair = &mut self.pairs[index];
        pair.waits = true;
        pair.real.send(&query(sql));
        self.fake.send(pair.fake, &query(sql));
        if sql.contains("0.02") {
            self.fake.pass(SHORT_US);
        }
        self.compare()
    }

    fn leave(&mut self, index: usize) -> Result<(), TestCaseError> {
        self.log.push(format!("{index} leaves"));
        let pair = &mut self.pairs[index];
        pair.is_over = true;
        self.fake.hang_up(pair.fake);
        let gone = std::mem::replace(&mut pair.real, self.real.session());
        let id = gone.id;
        drop(gone);
        prop_assert!(self.real.is_gone(id));
        self.compare()
    }

    fn kill(&mut self, index: usize, other: usize, is_query: bool) -> Result<(), TestCaseError> {
        let id = self.pairs[other].real.id;
        let is_own = other == index;
        let (was_waiting, was_over) = (self.pairs[other].waits, self.pairs[other].is_over);
        // Skip a KILL QUERY that could arrive late and interrupt the session's next statement.
        if was_over || is_query && !was_waiting && !is_own {
            return Ok(());
        }
        if !is_query {
            self.pairs[other].is_over = true;
        }
        let what = if is_query { "QUERY " } else { "" };
        self.send_statement(index, &format!("KILL {what}{id}"))?;
        if !is_query {
            prop_assert!(self.real.is_gone(id));
        }
        self.compare()
    }

    fn take(&mut self, index: usize, step: &Step) -> Result<(), TestCaseError> {
        if self.pairs[index].waits || self.pairs[index].is_over {
            return Ok(());
        }
        match step {
            Step::Say(sql) => self.send_statement(index, sql),
            Step::Leave => self.leave(index),
            Step::Kill(other, is_query) => self.kill(index, *other, *is_query),
        }
    }

    fn cancel_random(&mut self, index: usize) -> Result<(), TestCaseError> {
        let waiting = self.pairs.iter().filter(|pair| pair.waits).count();
        if waiting < 2 || !self.pairs[index].waits {
            return Ok(());
        }
        let kill = format!("KILL QUERY {}", self.pairs[index].real.id);
        self.log.push(kill.clone());
        self.real.query_observer(&kill);
        let observer = self.fake.session();
        self.fake.send(observer, &query(&kill));
        self.fake.hang_up(observer);
        self.compare()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) setup: Vec<String>,
    pub(crate) first: Vec<String>,
    pub(crate) last: &'static [&'static str],
    /// `true` if at most one session may wait, because MariaDB resumes sessions in any order.
    pub(crate) one_waits: bool,
}

pub(crate) fn check(
    real: &mut Real,
    frame: &Frame,
    steps: &[(usize, Step)],
) -> Result<(), TestCaseError> {
    prop_assert!(real.is_alone(), "sessions of the sequence before are still there");
    let first = real.session();
    let mut fake = Fake::start(first.id - u32::from(!frame.setup.is_empty()));
    if !frame.setup.is_empty() {
        let id = fake.session();
        for sql in &frame.setup {
            real.query_observer(sql);
            fake.send(id, &query(sql));
        }
        fake.hang_up(id);
    }
    let mut pairs = Vec::new();
    for session in [first, real.session(), real.session()] {
        pairs.push(Pair { real: session, fake: fake.session(), waits: false, is_over: false });
    }
    let mut world = World { real, fake, pairs, log: Vec::new() };
    for index in 0..world.pairs.len() {
        for sql in &frame.first {
            world.take(index, &Step::Say(sql.clone()))?;
        }
    }
    for (index, step) in steps {
        world.take(*index, step)?;
        if frame.one_waits {
            world.cancel_random(*index)?;
        }
    }
    for _ in 0..3 {
        for index in 0..world.pairs.len() {
            for sql in frame.last {
                world.take(index, &Step::Say((*sql).to_owned()))?;
            }
        }
    }
    prop_assert!(world.pairs.iter().all(|pair| !pair.waits), "{}", world.log.join("\n"));
    Ok(())
}

#[test]
fn replies_and_waits_are_those_of_a_real_mariadb() {
    let Some(mut real) = Real::start() else { return };
    let steps = prop::collection::vec((0..3_usize, step()), 1..30);
    let real = std::cell::RefCell::new(&mut real);
    let last = &["SELECT RELEASE_ALL_LOCKS()"];
    let frame = Frame { setup: Vec::new(), first: Vec::new(), last, one_waits: false };
    differential(CASES, SHRINK_MAX, &steps, |steps| check(&mut real.borrow_mut(), &frame, &steps));
}

fn is_of_a_release(sql: &str) -> bool {
    let sql = sql.to_ascii_uppercase();
    ["VERSION", "TRUE", "FALSE"].iter().any(|word| sql.contains(word))
}

#[test]
fn statements_alone_are_answered_as_by_a_real_mariadb() {
    let Some(mut real) = Real::start() else { return };
    let odd = ODD.iter().map(|sql| (*sql).to_owned());
    let all: Vec<String> = odd.chain(drawn(ALONE, 7, &words())).collect();
    let (mut different, mut compared) = (Vec::new(), 0);
    let is_modelled = is_release_modelled();
    for (index, sql) in all.into_iter().enumerate() {
        if !is_modelled && is_of_a_release(&sql) {
            continue;
        }
        let mut session = real.session();
        let mut fake = Fake::start(session.id);
        let id = fake.session();
        for sql in [sql.as_str(), "SHOW WARNINGS", "SELECT 'a', DATABASE(), @@autocommit"] {
            fake.send(id, &query(sql));
            let own = fake.answer(id).unwrap_or_default();
            if is_refused(&own) {
                break;
            }
            compared += 1;
            let expected = session.ask(&query(sql));
            if index >= ODD.len() && is_misread(&own) && is_misread(&expected) {
                break;
            }
            let (expected, own) = (shown(&expected), shown(&own));
            if own != expected {
                different.push(format!("{sql}\n  MariaDB: {expected}\n  ours:    {own}"));
                break;
            }
        }
        let id = session.id;
        drop(session);
        assert!(real.is_gone(id), "{sql}: its session is still there");
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    assert!(compared > 3 * ODD.len(), "most are refused: {compared}");
}
