//! Injects the faults of a plan, and ends them. In each instant, the nemesis acts before all hosts.
//! Crashes and starts take effect in the same instant, when the affected host acts.

use crate::setup::roster::Roster;
use crate::world::agenda::{Class, HostIndex, NEMESIS, Occurrence};
use crate::world::failing_syncs::FailingSyncs;
use crate::world::kernel::Kernel;
use crate::world::network::align_up;
use crate::world::server::{Arrival, LostMessage, Trap};
use crate::world::state::State;
use fencepost_faults::{
    Direction, Fault, FaultPlan, Micros, Node, OperatorCommand, SimTime, TimedFault,
};
use fencepost_machine::OperatorAction;
use fencepost_reports::What;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

pub(crate) struct Nemesis {
    plan: FaultPlan,
    failing_syncs: Option<FailingSyncs>,
    roster: Rc<Roster>,
    acting: RefCell<BTreeSet<u32>>,
}

impl Nemesis {
    pub(crate) fn new(
        plan: FaultPlan,
        healed_at: SimTime,
        failing_syncs: Option<FailingSyncs>,
        roster: Rc<Roster>,
        kernel: &Kernel,
    ) -> Nemesis {
        kernel.with(|state| {
            let quantum = state.quantum;
            let mut enter = |at: SimTime, occurrence| {
                state.agenda.enter(
                    align_up(at, quantum),
                    NEMESIS,
                    Class::Fault,
                    NEMESIS,
                    occurrence,
                );
            };
            for (index, timed) in plan.faults.iter().enumerate() {
                enter(timed.at_us, Occurrence::FaultBegins(index as u32));
                if let Some(end) = timed.ends_at().filter(|_| timed.fault.duration().is_some()) {
                    enter(end, Occurrence::FaultEnds(index as u32));
                }
            }
            if let Some(failing) = failing_syncs {
                enter(failing.from, Occurrence::SyncsFail);
                enter(failing.until, Occurrence::SyncsSucceed);
            }
            enter(healed_at, Occurrence::Healed);
        });
        Nemesis { plan, failing_syncs, roster, acting: RefCell::new(BTreeSet::new()) }
    }

    pub(crate) fn turn(&self, kernel: &Kernel) {
        kernel.with(|state| {
            while let Some(occurrence) = state.take_due(NEMESIS) {
                match occurrence {
                    Occurrence::FaultBegins(index) => {
                        self.begin(state, &self.plan.faults[index as usize])
                    }
                    Occurrence::FaultEnds(index) => {
                        self.end(state, &self.plan.faults[index as usize])
                    }
                    Occurrence::SyncsFail => {
                        self.failing_syncs.into_iter().for_each(|failing| state.syncs_fail(failing))
                    }
                    Occurrence::SyncsSucceed => state.syncs_succeed(),
                    Occurrence::Healed => state.recorder.record(Node::Probe, What::Healed),
                    _ => {}
                }
            }
        });
    }

    fn begin(&self, state: &mut State, timed: &TimedFault) {
        if !self.act(state, timed) {
            return;
        }
        self.acting.borrow_mut().insert(timed.id);
        if !is_trap(&timed.fault) {
            state.recorder.fault_began(timed.id, timed.fault.kind(), &timed.fault.nodes());
        }
    }

    fn end(&self, state: &mut State, timed: &TimedFault) {
        if !self.acting.borrow_mut().remove(&timed.id) {
            return;
        }
        undo(state, timed);
        if let Fault::Pause { node, .. } = timed.fault {
            self.roster.end_pause(node, monotonic(state, node));
        }
        if !is_trap(&timed.fault) {
            state.recorder.fault_ended(timed.id, timed.fault.kind(), &timed.fault.nodes());
        }
    }

    fn act(&self, state: &mut State, timed: &TimedFault) -> bool {
        let now = state.now;
        match &timed.fault {
            Fault::Pause { node, .. } => {
                self.roster.begin_pause(*node, monotonic(state, *node));
                on(state, *node, |state, host| state.host(host).pauses += 1)
            }
            Fault::Suspend { node, .. } => on(state, *node, suspend),
            Fault::Crash { node, down_us } => self.kill(state, *node, *down_us, Death::Process),
            Fault::PowerLoss { node, down_us } => self.kill(state, *node, *down_us, Death::Power),
            Fault::Partition { side_a, side_b, direction, .. } => {
                for (from, to) in cut_directions(state, side_a, side_b, *direction) {
                    state.network.cut(from, to);
                }
                true
            }
            Fault::Delay { from, to, extra_us_min, extra_us_max, .. } => {
                for (from, to) in pairs(state, from, to) {
                    state.network.delay(from, to, timed.id, (*extra_us_min, *extra_us_max));
                }
                true
            }
            Fault::LostReply { server, client, .. } => {
                set_trap(state, timed.id, (*server, *client), LostMessage::Reply)
            }
            Fault::LostRequest { server, client, .. } => {
                set_trap(state, timed.id, (*server, *client), LostMessage::Request)
            }
            Fault::ClockDrift { node, rate_ppm, .. } => on(state, *node, |state, host| {
                state.host(host).clock.set_rate(now, *rate_ppm);
                state.rekey_timers(host);
            }),
            Fault::ClockJump { node, offset_us } => {
                on(state, *node, |state, host| state.host(host).clock.step_wall(*offset_us))
            }
            Fault::SlowServer { node, extra_us, .. } => on(state, *node, |state, host| {
                if let Some(server) = state.server(host) {
                    server.slowed.push((timed.id, *extra_us));
                }
            }),
            Fault::Evict { node } => operate(state, *node, OperatorAction::Evict),
            Fault::FlushAll { node } => operate(state, *node, OperatorAction::FlushAll),
            Fault::Promote { node } => operate(state, *node, OperatorAction::Promote),
            Fault::Operator { node, command } => {
                typed(state, *node, *command).is_some_and(|action| operate(state, *node, action))
            }
        }
    }

    fn kill(&self, state: &mut State, node: Node, down_us: Option<Micros>, death: Death) -> bool {
        let Some(host) = state.find(node) else { return false };
        if !state.host(host).is_up {
            return false;
        }
        state.host(host).is_up = false;
        state.host(host).is_dark = death == Death::Power;
        state.host(host).dies_silently = death == Death::Power;
        if death == Death::Power {
            state.lose_power(host);
        }
        enter_now(state, host, Class::Fault, Occurrence::Crash);
        if down_us.is_none() {
            self.roster.finish_machine(node);
        }
        true
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Death {
    Process,
    Power,
}

fn undo(state: &mut State, timed: &TimedFault) {
    let now = state.now;
    match &timed.fault {
        Fault::Pause { node, .. } => {
            on(state, *node, resume);
        }
        Fault::Suspend { node, .. } => {
            on(state, *node, thaw);
        }
        Fault::Crash { node, .. } | Fault::PowerLoss { node, .. } => {
            on(state, *node, |state, host| {
                state.host(host).is_up = true;
                state.host(host).is_dark = false;
                enter_now(state, host, Class::Fault, Occurrence::Boot);
            });
        }
        Fault::Partition { side_a, side_b, direction, .. } => {
            for (from, to) in cut_directions(state, side_a, side_b, *direction) {
                state.network.heal(from, to);
            }
        }
        Fault::Delay { from, to, .. } => {
            for (from, to) in pairs(state, from, to) {
                state.network.undelay(from, to, timed.id);
            }
        }
        Fault::LostReply { server, .. } | Fault::LostRequest { server, .. } => {
            on(state, *server, |state, host| {
                if let Some(server) = state.server(host) {
                    server.traps.retain(|trap| trap.fault != timed.id);
                }
            });
        }
        Fault::ClockDrift { node, .. } => {
            on(state, *node, |state, host| {
                state.host(host).clock.set_rate(now, 0);
                state.rekey_timers(host);
            });
        }
        Fault::SlowServer { node, .. } => {
            on(state, *node, |state, host| {
                if let Some(server) = state.server(host) {
                    server.slowed.retain(|(fault, _)| *fault != timed.id);
                }
            });
        }
        Fault::ClockJump { .. }
        | Fault::Evict { .. }
        | Fault::FlushAll { .. }
        | Fault::Promote { .. }
        | Fault::Operator { .. } => {}
    }
}

fn monotonic(state: &mut State, node: Node) -> u64 {
    let now = state.now;
    state.find(node).map_or(0, |host| state.host(host).clock.monotonic(now))
}

fn on(state: &mut State, node: Node, f: impl FnOnce(&mut State, HostIndex)) -> bool {
    let host = state.find(node);
    if let Some(host) = host {
        f(state, host);
    }
    host.is_some()
}

fn suspend(state: &mut State, host: HostIndex) {
    let now = state.now;
    let machine = state.host(host);
    machine.pauses += 1;
    machine.suspensions += 1;
    if machine.suspensions == 1 {
        machine.clock.suspend(now);
        state.rekey_timers(host);
    }
}

fn thaw(state: &mut State, host: HostIndex) {
    let now = state.now;
    let machine = state.host(host);
    machine.suspensions -= 1;
    if machine.suspensions == 0 {
        machine.clock.thaw(now);
        state.rekey_timers(host);
    }
    resume(state, host);
}

fn resume(state: &mut State, host: HostIndex) {
    let machine = state.host(host);
    machine.pauses -= 1;
    if machine.pauses == 0 {
        enter_now(state, host, Class::Resume, Occurrence::Resume);
    }
}

fn is_trap(fault: &Fault) -> bool {
    matches!(fault, Fault::LostReply { .. } | Fault::LostRequest { .. })
}

fn set_trap(
    state: &mut State,
    fault: u32,
    (server, client): (Node, Node),
    loses: LostMessage,
) -> bool {
    let Some(client) = state.find(client) else { return false };
    on(state, server, |state, host| {
        state.has_had_traps = true;
        if let Some(server) = state.server(host) {
            server.traps.push(Trap { fault, client, loses });
        }
    })
}

fn typed(state: &State, node: Node, command: OperatorCommand) -> Option<OperatorAction> {
    Some(match command {
        OperatorCommand::ScriptFlush => OperatorAction::ForgetScripts,
        OperatorCommand::ClientKill => OperatorAction::CloseConnections,
        OperatorCommand::Failover => OperatorAction::HandOver,
        OperatorCommand::ReplicaOf => OperatorAction::Follow { server: next_to(state, node)? },
        OperatorCommand::AppendOnlyOff => OperatorAction::StopLogging,
        OperatorCommand::MinReplicasOff => OperatorAction::WriteAlone,
        OperatorCommand::IdleTimeout => OperatorAction::CloseIdle,
    })
}

fn next_to(state: &State, node: Node) -> Option<u16> {
    let Node::Redis(number) = node else { return None };
    let is_there = |number: &u16| state.find(Node::Redis(*number)).is_some();
    let next = [number + 1, 1].into_iter().find(is_there)?;
    (next != number).then_some(next)
}

fn operate(state: &mut State, node: Node, action: OperatorAction) -> bool {
    let Some(host) = state.find(node) else { return false };
    let Some(server) = state.server(host) else { return false };
    if !server.machine.as_ref().is_some_and(|machine| machine.supports(action)) {
        return false;
    }
    server.inbox.push_back(Arrival::Operator(action));
    enter_now(state, host, Class::Timer, Occurrence::Resume);
    true
}

fn enter_now(state: &mut State, host: HostIndex, class: Class, occurrence: Occurrence) {
    let now = state.now;
    state.agenda.enter(now, host, class, NEMESIS, occurrence);
}

fn cut_directions(
    state: &State,
    side_a: &[Node],
    side_b: &[Node],
    direction: Direction,
) -> Vec<(usize, usize)> {
    let mut directions = pairs(state, side_a, side_b);
    if direction == Direction::Both {
        directions.extend(pairs(state, side_b, side_a));
    }
    directions
}

fn pairs(state: &State, from: &[Node], to: &[Node]) -> Vec<(usize, usize)> {
    let place = |node: &Node| state.find(*node).map(|host| usize::from(host) - 1);
    let to: Vec<usize> = to.iter().filter_map(place).collect();
    let from = from.iter().filter_map(place);
    from.flat_map(|a| to.iter().map(move |b| (a, *b))).filter(|(a, b)| a != b).collect()
}
