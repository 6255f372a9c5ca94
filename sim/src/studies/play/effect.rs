use super::command;
use fencepost_faults::{Direction, Fault, Node, OperatorCommand};
use fencepost_machine::OperatorAction;
use fencepost_serve::{LostMessage, Place, Stage, StageRecord, Trap};
use std::collections::BTreeSet;

pub(super) struct FaultInjector {
    stage: Stage,
    nodes: Vec<Node>,
    acting: BTreeSet<u32>,
}

const DOWN: &str = "the server is down";
const PAUSED: &str = "the server is paused";
const UNSUPPORTED: &str = "the server does not support it now";

impl FaultInjector {
    pub(super) fn new(stage: Stage, nodes: Vec<Node>) -> FaultInjector {
        FaultInjector { stage, nodes, acting: BTreeSet::new() }
    }

    pub(super) fn stage(&self) -> &Stage {
        &self.stage
    }

    pub(super) fn stage_mut(&mut self) -> &mut Stage {
        &mut self.stage
    }

    pub(super) fn take_triggered(&mut self) -> Vec<u32> {
        let records = self.stage.take_records().into_iter();
        let sprung = records.filter_map(|record| match record.what {
            StageRecord::Triggered(id) => Some(id),
            StageRecord::Tap(_) => None,
        });
        let sprung: Vec<u32> = sprung.collect();
        self.acting.retain(|id| !sprung.contains(id));
        sprung
    }

    /// Starts a fault. An error states why the fault has no effect.
    pub(super) fn begin(&mut self, fault: &Fault, id: u32) -> Result<(), &'static str> {
        self.act(fault, id)?;
        if !fault.kind().is_instant() {
            self.acting.insert(id);
        }
        Ok(())
    }

    /// Ends a fault, and returns whether the fault was active.
    pub(super) fn end(&mut self, fault: &Fault, id: u32) -> bool {
        let was_acting = self.acting.remove(&id);
        if was_acting {
            self.undo(fault, id);
        }
        was_acting
    }

    fn act(&mut self, fault: &Fault, id: u32) -> Result<(), &'static str> {
        match fault {
            Fault::Pause { node, .. } | Fault::Suspend { node, .. } => {
                let server = self.running_server(*node)?;
                self.stage.freeze(server);
            }
            Fault::Crash { node, .. } => {
                let server = self.running_server(*node)?;
                self.stage.crash(server);
            }
            Fault::PowerLoss { node, .. } => {
                let server = self.running_server(*node)?;
                self.stage.lose_power(server);
            }
            Fault::Partition { side_a, side_b, direction, .. } => {
                let (a, b) = (self.places(side_a), self.places(side_b));
                self.stage.cut(id, &a, &b);
                if *direction == Direction::Both {
                    self.stage.cut(id, &b, &a);
                }
            }
            Fault::Delay { from, to, extra_us_min, extra_us_max, .. } => {
                let (from, to) = (self.places(from), self.places(to));
                self.stage.delay(id, &from, &to, extra_us_min.0..=extra_us_max.0);
            }
            Fault::LostReply { server, .. } => self.trap(*server, id, LostMessage::Reply)?,
            Fault::LostRequest { server, .. } => self.trap(*server, id, LostMessage::Request)?,
            Fault::ClockDrift { node, rate_ppm, .. } => {
                let server = self.server(*node)?;
                self.stage.set_clock_rate(server, *rate_ppm);
            }
            Fault::ClockJump { node, offset_us } => {
                let server = self.server(*node)?;
                self.stage.step_clock(server, *offset_us);
            }
            Fault::SlowServer { node, extra_us, .. } => {
                let server = self.server(*node)?;
                self.stage.add_slowdown(id, server, extra_us.0);
            }
            Fault::Evict { node } => self.operate(*node, OperatorAction::Evict)?,
            Fault::FlushAll { node } => self.operate(*node, OperatorAction::FlushAll)?,
            Fault::Promote { node } => self.operate(*node, OperatorAction::Promote)?,
            Fault::Operator { node, command } => self.run_operator_command(*node, *command)?,
        }
        Ok(())
    }

    fn undo(&mut self, fault: &Fault, id: u32) {
        let named = fault.nodes().first().and_then(|node| self.server(*node).ok());
        let (stage, named) = (&mut self.stage, named.into_iter());
        match fault {
            Fault::Pause { .. } | Fault::Suspend { .. } => named.for_each(|it| stage.thaw(it)),
            Fault::Crash { .. } | Fault::PowerLoss { .. } => named.for_each(|it| stage.restart(it)),
            Fault::Partition { .. } => stage.heal(id),
            Fault::Delay { .. } => stage.remove_delay(id),
            Fault::LostReply { .. } | Fault::LostRequest { .. } => {
                stage.remove_trap(id);
            }
            Fault::ClockDrift { .. } => named.for_each(|it| stage.set_clock_rate(it, 0)),
            Fault::SlowServer { .. } => named.for_each(|it| stage.remove_slowdown(id, it)),
            Fault::ClockJump { .. }
            | Fault::Evict { .. }
            | Fault::FlushAll { .. }
            | Fault::Promote { .. }
            | Fault::Operator { .. } => {}
        }
    }

    fn server(&self, node: Node) -> Result<usize, &'static str> {
        self.nodes.iter().position(|one| *one == node).ok_or("there is no such server")
    }

    fn running_server(&self, node: Node) -> Result<usize, &'static str> {
        self.server(node).and_then(|server| match self.stage.is_up(server) {
            true => Ok(server),
            false => Err(DOWN),
        })
    }

    fn places(&self, nodes: &[Node]) -> Vec<Place> {
        let place = |node: &Node| match node.is_process() {
            true => Some(Place::Outside),
            false => self.server(*node).ok().map(Place::Server),
        };
        nodes.iter().filter_map(place).collect()
    }

    fn trap(
        &mut self,
        server: Node,
        id: u32,
        lost_message: LostMessage,
    ) -> Result<(), &'static str> {
        let server = Some(self.server(server)?);
        self.stage.set_trap(Trap { id, server, matches: Box::new(|_| true), lost_message });
        Ok(())
    }

    fn operate(&mut self, node: Node, action: OperatorAction) -> Result<(), &'static str> {
        let server = self.running_server(node)?;
        self.stage.operate(server, action).then_some(()).ok_or(UNSUPPORTED)
    }

    fn run_operator_command(
        &mut self,
        node: Node,
        typed: OperatorCommand,
    ) -> Result<(), &'static str> {
        let action = match typed {
            OperatorCommand::ReplicaOf => return self.replicate_next(node),
            OperatorCommand::ScriptFlush => OperatorAction::ForgetScripts,
            OperatorCommand::ClientKill => OperatorAction::CloseConnections,
            OperatorCommand::Failover => OperatorAction::HandOver,
            OperatorCommand::AppendOnlyOff => OperatorAction::StopLogging,
            OperatorCommand::MinReplicasOff => OperatorAction::WriteAlone,
            OperatorCommand::IdleTimeout => OperatorAction::CloseIdle,
        };
        self.operate(node, action)
    }

    /// Makes the server a replica of the next server in the list.
    fn replicate_next(&mut self, node: Node) -> Result<(), &'static str> {
        let server =
            self.running_server(node).and_then(|server| match self.stage.is_frozen(server) {
                true => Err(PAUSED),
                false => Ok(server),
            })?;
        let redis = self.nodes.iter().filter(|node| node.is_server()).count();
        let port = self.stage.port((server + 1) % redis).to_string();
        self.stage.command(server, &command(&["REPLICAOF", "127.0.0.1", &port]));
        Ok(())
    }
}
