//! One thread of a process, from its first acquire to its last release.

use super::guard::{Answer, Guard, Request};
use super::impatience::{CallRecorder, Impatience, until_given_up};
use crate::setup::roster::Roster;
use crate::setup::scenario::{Calls, Hold, Nesting, Scenario, Section};
use crate::world::recorder::Recorder;
use fencepost_clients::env::Monotonic;
use fencepost_clients::{Acquisition, Check, Env, Extension, Lease, Lock, Release};
use fencepost_faults::{Micros, Node, SimTime, draw};
use fencepost_reports::{Action, What};
use std::rc::Rc;
use std::time::Duration;

pub(crate) struct Process {
    pub(crate) node: Node,
    pub(crate) env: Env,
    pub(crate) lock: Box<dyn Lock>,
    pub(crate) guard: Guard,
    pub(crate) resource: Rc<str>,
    pub(crate) scenario: Rc<Scenario>,
    pub(crate) recorder: Rc<Recorder>,
    pub(crate) roster: Rc<Roster>,
    pub(crate) is_work: bool,
    pub(crate) is_nested: bool,
}

struct WorkSpan {
    began: Monotonic,
    stood_still: Duration,
    span: Duration,
}

pub(crate) async fn work(mut process: Process) {
    let roster = process.roster.clone();
    let member = roster.member(process.node);
    if member.cycles_left.get() == process.scenario.cycles {
        process.wait_for_start().await;
    }
    while member.cycles_left.get() > 0 {
        let think = draw::uniform(&mut *member.draws.borrow_mut(), process.scenario.think.micros());
        process.env.sleep(Duration::from_micros(think)).await;
        // These draws precede the cycle, so that the lock cannot influence later draws.
        let hold = process.draw_hold();
        process.is_work = process.draw_section();
        process.is_nested = process.draw_nesting();
        process.cycle(hold).await;
        member.cycles_left.set(member.cycles_left.get() - 1);
    }
    roster.finish(process.node);
}

pub(crate) async fn probe(mut process: Process, healed_at: SimTime) {
    process.env.sleep(Micros(healed_at.0).into()).await;
    if let Some((_, lease)) = process.acquire().await {
        process.release(lease).await;
    }
    process.roster.finish(process.node);
}

impl Process {
    async fn wait_for_start(&self) {
        let before = match self.node.machine() {
            Node::Client(number) => u64::from(number) - 1,
            _ => 0,
        };
        let wait = self.scenario.stagger.0.0.saturating_mul(before);
        if wait > 0 {
            self.env.sleep(Duration::from_micros(wait)).await;
        }
    }

    fn draw_hold(&self) -> Option<Duration> {
        match self.scenario.hold {
            Hold::Drawn(range) => {
                let draws = &mut *self.roster.member(self.node).draws.borrow_mut();
                Some(Duration::from_micros(draw::log_uniform(draws, range.micros())))
            }
            Hold::UntilValidity => None,
        }
    }

    fn draw_section(&self) -> bool {
        match self.scenario.section {
            Section::Wait => false,
            Section::Work => true,
            Section::Either => {
                draw::chance(&mut *self.roster.member(self.node).draws.borrow_mut(), 500)
            }
        }
    }

    fn draw_nesting(&self) -> bool {
        let is_drawn =
            || draw::chance(&mut *self.roster.member(self.node).nesting.borrow_mut(), 500);
        self.lock.usage().nests
            && match self.scenario.nesting {
                Nesting::Drawn => is_drawn(),
                Nesting::Always => true,
                Nesting::Never => false,
            }
    }

    fn impatience(&self, are_such: fn(Calls) -> bool) -> Option<Impatience> {
        let is_probe = self.node == Node::Probe;
        let gives_up = &mut *self.roster.member(self.node).impatience.borrow_mut();
        Impatience::draw(gives_up, &self.scenario, are_such).filter(|_| !is_probe)
    }

    fn call_recorder(&self, operation: u64) -> CallRecorder {
        CallRecorder {
            env: self.env.clone(),
            recorder: self.recorder.clone(),
            node: self.node,
            operation,
        }
    }

    async fn cycle(&mut self, hold: Option<Duration>) {
        if let Some((acquisition, mut lease)) = self.acquire().await {
            // If the lock reports no validity, the application counts the ttl from now.
            if self.lock.usage().extends && lease.valid_until.is_none() {
                let ttl = self.scenario.ttl.into();
                lease.valid_until = Some(self.env.monotonic_clock().plus(ttl));
            }
            self.critical_section(acquisition, &mut lease, hold).await;
            self.release(lease).await;
        }
    }

    async fn acquire(&mut self) -> Option<(u64, Lease)> {
        let impatience = self.impatience(Calls::have_acquires);
        let operation = self.recorder.invoke(self.node, Action::Acquire);
        let (resource, call_recorder) = (self.resource.clone(), self.call_recorder(operation));
        let outcome = until_given_up(call_recorder, impatience, self.lock.acquire(&resource)).await;
        match outcome.unwrap_or_else(|given_up| Acquisition::Unknown(given_up.to_string())) {
            Acquisition::Granted(lease) => {
                let now = self.env.monotonic_clock();
                let valid_for_us = lease.valid_until.map(|until| Micros::from(until.since(now)));
                let owner = Some(String::from_utf8_lossy(&lease.owner).into_owned());
                let token = lease.token.map(|token| token.0);
                self.recorder.record(
                    self.node,
                    What::Ok { operation, owner, token, valid_for_us, value: None },
                );
                Some((operation, lease))
            }
            Acquisition::Refused(reason) => {
                self.recorder.fail(self.node, operation, reason);
                None
            }
            Acquisition::Unknown(reason) => {
                self.recorder.info(self.node, operation, reason);
                None
            }
        }
    }

    /// Halfway through its work, the process checks that a lease without extensions lasts for the
    /// rest of the work. A pause after this check can make the write late (Kleppmann 2016).
    async fn critical_section(
        &mut self,
        acquisition: u64,
        lease: &mut Lease,
        hold: Option<Duration>,
    ) {
        let Some(read) = self.read(acquisition, lease).await else { return };
        if let Some(hang) = self.draw_hang() {
            self.env.sleep(hang).await;
            return;
        }
        let (work, rest) = match hold {
            Some(hold) => (hold, Duration::ZERO),
            None => {
                let valid = self.remaining(lease).unwrap_or(self.scenario.ttl.into());
                (valid / 2, valid - valid / 2)
            }
        };
        let (before_look, after_look) = (work / 2, work - work / 2);
        let works = self.works(lease, self.within(lease, before_look)).await;
        if !works || self.is_nested && !self.nests().await {
            return;
        }
        let Some(next) = self.scenario.workload.next(read) else { return };
        let usage = self.lock.usage();
        let too_short = self.remaining(lease).filter(|left| !usage.extends && *left <= after_look);
        if let Some(remaining) = too_short {
            if usage.leaves {
                let stretch = self.begins(remaining);
                self.work_until_lost(lease, &stretch).await;
            } else {
                self.env.sleep(remaining).await;
            }
            return;
        }
        if self.works(lease, after_look).await && self.checks(lease).await {
            self.write(acquisition, lease, next, read).await;
            self.works(lease, self.within(lease, rest)).await;
        }
    }

    fn draw_hang(&self) -> Option<Duration> {
        let is_first = self.roster.member(self.node).cycles_left.get() == self.scenario.cycles;
        self.scenario.hang.filter(|_| self.node == Node::Client(1) && is_first).map(Duration::from)
    }

    fn within(&self, lease: &Lease, span: Duration) -> Duration {
        match self.remaining(lease) {
            Some(remaining) if !self.lock.usage().extends => span.min(remaining),
            _ => span,
        }
    }

    async fn works(&mut self, lease: &mut Lease, span: Duration) -> bool {
        let usage = self.lock.usage();
        let stretch = self.begins(span);
        if usage.leaves {
            return self.work_until_lost(lease, &stretch).await;
        }
        if !usage.extends {
            self.env.sleep(span).await;
            while let Some(left) = self.left_of(&stretch) {
                self.env.sleep(left).await;
            }
            return true;
        }
        let ttl = Duration::from(self.scenario.ttl);
        loop {
            let left = self.remaining(lease).unwrap_or(ttl);
            let work = self.left_of(&stretch).unwrap_or_default();
            if work.is_zero() {
                return true;
            }
            if left >= ttl / 3 {
                self.env.sleep(work.min(left - ttl / 3 + Duration::from_micros(1))).await;
            } else if !self.extend_lease(lease).await {
                return false;
            }
        }
    }

    async fn work_until_lost(&mut self, lease: &mut Lease, stretch: &WorkSpan) -> bool {
        let (env, roster, is_work) = (self.env.clone(), self.roster.clone(), self.is_work);
        let machine = self.node.machine();
        let mut lost = std::pin::pin!(self.lock.lost(lease));
        let mut next = Some(stretch.span);
        while let Some(left) = next {
            if env.timeout(left, lost.as_mut()).await.is_some() {
                return false;
            }
            next = stretch.left(&env, &roster, machine, is_work);
        }
        true
    }

    fn begins(&self, span: Duration) -> WorkSpan {
        WorkSpan {
            began: self.env.monotonic_clock(),
            stood_still: self.roster.paused_time(self.node.machine()),
            span,
        }
    }

    fn left_of(&self, stretch: &WorkSpan) -> Option<Duration> {
        stretch.left(&self.env, &self.roster, self.node.machine(), self.is_work)
    }

    async fn extend_lease(&mut self, lease: &mut Lease) -> bool {
        loop {
            let operation = self.recorder.invoke(self.node, Action::Extend);
            match self.lock.extend(lease).await {
                Extension::Extended => {
                    self.recorder.ok(self.node, operation);
                    return true;
                }
                Extension::NotHeld | Extension::Unsupported => {
                    self.recorder.fail(self.node, operation, "the lock was no longer held");
                    return false;
                }
                Extension::Unknown(reason) => self.recorder.info(self.node, operation, reason),
            }
            if self.remaining(lease).is_some_and(|left| left.is_zero()) {
                return false;
            }
            self.env.sleep(Duration::from(self.scenario.ttl) / 10).await;
        }
    }

    async fn nests(&mut self) -> bool {
        match self.acquire().await {
            Some((_, inner)) => {
                self.release(inner).await;
                true
            }
            None => false,
        }
    }

    async fn checks(&mut self, lease: &Lease) -> bool {
        if !self.lock.usage().checks {
            return true;
        }
        let operation = self.recorder.invoke(self.node, Action::Check);
        match self.lock.check(lease).await {
            Check::Ours => self.recorder.ok(self.node, operation),
            Check::NotHeld | Check::Unsupported => {
                self.recorder.fail(self.node, operation, "the lock was no longer held");
                return false;
            }
            Check::Unknown(reason) => {
                self.recorder.info(self.node, operation, reason);
                return false;
            }
        }
        true
    }

    fn remaining(&self, lease: &Lease) -> Option<Duration> {
        lease.valid_until.map(|until| until.since(self.env.monotonic_clock()))
    }

    async fn read(&mut self, acquisition: u64, lease: &Lease) -> Option<i64> {
        let operation = self.recorder.invoke(self.node, Action::Read { acquisition });
        let answer = self
            .ask(Request { operation, acquisition, token: lease.token, write: None }, lease)
            .await;
        if let Answer::Value(value) = answer {
            let value = Some(value);
            self.recorder.record(
                self.node,
                What::Ok { operation, owner: None, token: None, valid_for_us: None, value },
            );
            return value;
        }
        self.note(operation, answer);
        None
    }

    async fn write(&mut self, acquisition: u64, lease: &Lease, value: i64, based_on: i64) {
        let operation =
            self.recorder.invoke(self.node, Action::Write { acquisition, value, based_on });
        let write = Some((value, based_on));
        let answer =
            self.ask(Request { operation, acquisition, token: lease.token, write }, lease).await;
        self.note(operation, answer);
    }

    async fn ask(&mut self, request: Request, lease: &Lease) -> Answer {
        let patience = Duration::from(self.scenario.calls.storage_timeout)
            .min(self.remaining(lease).unwrap_or(self.scenario.ttl.into()));
        self.guard.request(&request, patience).await
    }

    fn note(&self, operation: u64, answer: Answer) {
        match answer {
            Answer::Value(_) | Answer::Written => self.recorder.ok(self.node, operation),
            Answer::Rejected(reason) => self.recorder.fail(self.node, operation, reason),
            Answer::Unknown(reason) => self.recorder.info(self.node, operation, reason),
        }
    }

    async fn release(&mut self, lease: Lease) {
        let impatience = self.impatience(Calls::have_releases);
        let operation = self.recorder.invoke(self.node, Action::Release);
        let call_recorder = self.call_recorder(operation);
        let outcome = until_given_up(call_recorder, impatience, self.lock.release(lease)).await;
        match outcome.unwrap_or_else(|given_up| Release::Unknown(given_up.to_string())) {
            Release::Released => self.recorder.ok(self.node, operation),
            Release::NotHeld => {
                self.recorder.fail(self.node, operation, "the lock was no longer held")
            }
            Release::Unknown(reason) => self.recorder.info(self.node, operation, reason),
        }
    }
}

impl WorkSpan {
    fn left(&self, env: &Env, roster: &Roster, machine: Node, is_work: bool) -> Option<Duration> {
        let passed = env.monotonic_clock().since(self.began);
        let idle = roster.paused_time(machine).saturating_sub(self.stood_still);
        let done = if is_work { passed.saturating_sub(idle) } else { passed };
        // Timers count whole microseconds, so a shorter wait would end immediately.
        Some(self.span.saturating_sub(done)).filter(|left| left.as_micros() > 0)
    }
}
