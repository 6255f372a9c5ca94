//! Records the events of the history in true time.

mod parts;
mod silence;
mod usage;

pub(crate) use silence::EarlySilences;

use fencepost_faults::{FaultKind, Micros, Node, SimTime};
use fencepost_machine::{KeyChange, Notice, TapEvent, WallTime};
use fencepost_reports::{Action, Change, Ended, Event, GivingUp, Turn, What, WhyEnded};
use parts::Parts;
use silence::{Silence, Waiting};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(crate) struct Recorder {
    now: Cell<SimTime>,
    ended: Cell<Option<Ended>>,
    events: RefCell<Vec<Event>>,
    operations: Cell<u64>,
    waiting: RefCell<Waiting>,
    held: RefCell<BTreeMap<Node, BTreeMap<String, String>>>,
    before_restart: RefCell<BTreeMap<Node, BTreeMap<String, String>>>,
    dead: RefCell<BTreeSet<Node>>,
    parts: RefCell<Parts>,
}

impl Recorder {
    pub(crate) fn set_now(&self, now: SimTime) {
        self.now.set(now);
    }

    pub(crate) fn now(&self) -> SimTime {
        self.now.get()
    }

    pub(crate) fn report_silences_beyond(&self, bound: Micros, early: Option<EarlySilences>) {
        let mut waiting = self.waiting.borrow_mut();
        (waiting.bound, waiting.early) = (Some(bound), early);
    }

    pub(crate) fn waiting_processes(&self) -> Vec<(Node, SimTime)> {
        self.waiting.borrow().since_when()
    }

    pub(crate) fn is_any_still_waiting(&self, before: &[(Node, SimTime)]) -> bool {
        self.waiting.borrow().since_when().iter().any(|now| before.contains(now))
    }

    /// Counts a program's message for all threads of its machine, because any may be the sender.
    pub(crate) fn attribute_to_machines(&self) {
        self.waiting.borrow_mut().by_machine = true;
    }

    pub(crate) fn is_any_waiting(&self) -> bool {
        self.waiting.borrow().is_any()
    }

    pub(crate) fn sends(&self, node: Node) {
        let silence = self.waiting.borrow_mut().sends(node, self.now.get());
        self.write_silence(silence, true);
    }

    pub(crate) fn run_ends(&self, ended: Ended) {
        let ahead = ended.why != WhyEnded::NothingAhead;
        let silences = self.waiting.borrow_mut().end(self.now.get(), ahead);
        silences.into_iter().for_each(|silence| self.write_silence(Some(silence), ahead));
        self.ended.set(Some(ended));
    }

    pub(crate) fn ended(&self) -> Option<Ended> {
        self.ended.get()
    }

    fn write_silence(&self, silence: Option<Silence>, ahead: bool) {
        if let Some(Silence { node, since_us, bound_us }) = silence {
            self.write(node, What::Silent { since_us, bound_us, ahead });
        }
    }

    pub(crate) fn record(&self, node: Node, what: What) {
        let silence = self.waiting.borrow_mut().follow(node, &what, self.now.get());
        self.write_silence(silence, true);
        self.write(node, what);
    }

    fn write(&self, node: Node, what: What) {
        let mut events = self.events.borrow_mut();
        let sequence = events.len() as u64;
        events.push(Event { sequence, time_us: self.now.get(), node, what });
    }

    pub(crate) fn invoke(&self, node: Node, action: Action) -> u64 {
        let operation = self.operations.get();
        self.operations.set(operation + 1);
        self.record(node, What::Invoke { operation, action });
        operation
    }

    pub(crate) fn fail(&self, node: Node, operation: u64, reason: impl Into<String>) {
        self.record(node, What::Fail { operation, reason: reason.into() });
    }

    pub(crate) fn info(&self, node: Node, operation: u64, reason: impl Into<String>) {
        self.record(node, What::Info { operation, reason: reason.into() });
    }

    pub(crate) fn gives_up(&self, node: Node, operation: u64, how: GivingUp) {
        self.record(node, What::GivenUp { operation, how });
    }

    pub(crate) fn ok(&self, node: Node, operation: u64) {
        self.record(
            node,
            What::Ok { operation, owner: None, token: None, valid_for_us: None, value: None },
        );
    }

    pub(crate) fn lost(&self, node: Node) {
        self.record(node, What::Lost);
    }

    pub(crate) fn record_exit(&self, node: Node) {
        self.dead.borrow_mut().insert(node);
        self.record(node, What::Crashed);
    }

    pub(crate) fn crashed(&self, node: Node) {
        if self.dead.borrow_mut().insert(node) {
            self.record(node, What::Crashed);
        }
        self.parts.borrow_mut().crashed(node);
        if let Some(held) = self.held.borrow_mut().remove(&node) {
            self.before_restart.borrow_mut().insert(node, held);
        }
    }

    pub(crate) fn record_in_flight(&self, node: Node, turn: Turn, other: Node) {
        self.record(node, What::Turn { turn, about: Some(other) });
    }

    pub(crate) fn noticed(&self, node: Node, notice: &Notice) {
        let told = self.parts.borrow_mut().follow(node, notice);
        for (node, turn, about) in told {
            self.record(node, What::Turn { turn, about });
        }
    }

    pub(crate) fn started(&self, node: Node) {
        self.dead.borrow_mut().remove(&node);
        self.record(node, What::Started);
    }

    pub(crate) fn fault_began(&self, fault: u32, kind: FaultKind, nodes: &[Node]) {
        let node = nodes.first().copied().unwrap_or(Node::Probe);
        self.record(node, What::FaultBegan { fault, kind, nodes: nodes.to_vec() });
    }

    pub(crate) fn fault_ended(&self, fault: u32, kind: FaultKind, nodes: &[Node]) {
        let node = nodes.first().copied().unwrap_or(Node::Probe);
        self.record(node, What::FaultEnded { fault, kind });
    }

    pub(crate) fn key_changed(&self, node: Node, wall: WallTime, tap: &TapEvent, by: Option<Node>) {
        let key = String::from_utf8_lossy(&tap.key).into_owned();
        let value = tap.value.as_ref().map(|value| String::from_utf8_lossy(value).into_owned());
        let change = change(tap.change);
        let mut held = self.held.borrow_mut();
        let keys = held.entry(node).or_default();
        match change {
            Change::Granted | Change::Restored | Change::Extended => {
                keys.insert(key.clone(), value.clone().unwrap_or_default());
            }
            _ => {
                keys.remove(&key);
            }
        }
        drop(held);
        self.record(
            node,
            What::Server {
                key,
                change,
                value,
                by,
                primary: tap.primary,
                token: tap.token,
                lease_us: tap.expires_at_ms.map(|at| left(at, wall)),
            },
        );
    }

    pub(crate) fn after_restart(&self, node: Node) {
        let Some(before) = self.before_restart.borrow_mut().remove(&node) else { return };
        let now = self.held.borrow().get(&node).cloned().unwrap_or_default();
        for (key, value) in before {
            if !now.contains_key(&key) {
                let what = What::Server {
                    key,
                    change: Change::Forgotten,
                    value: Some(value),
                    by: None,
                    primary: true,
                    token: None,
                    lease_us: None,
                };
                self.record(node, what);
            }
        }
    }

    pub(crate) fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.borrow_mut())
    }
}

fn left(at_ms: i64, wall: WallTime) -> Micros {
    let ms = at_ms.saturating_sub(wall.0.div_euclid(1_000));
    Micros::from_millis(u64::try_from(ms).unwrap_or(0))
}

fn change(change: KeyChange) -> Change {
    match change {
        KeyChange::Granted => Change::Granted,
        KeyChange::Extended => Change::Extended,
        KeyChange::Removed => Change::Removed,
        KeyChange::Expired => Change::Expired,
        KeyChange::Evicted => Change::Evicted,
        KeyChange::Flushed => Change::Flushed,
        KeyChange::Discarded => Change::Discarded,
        KeyChange::Restored => Change::Restored,
    }
}
