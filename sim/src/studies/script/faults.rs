use super::step::{Class, Span, Step};
use super::{ScriptError, inexpressible};
use crate::hosts::real::redis_commands;
use crate::run::RunSpec;
use crate::setup::scenario::Persistence;
use fencepost_faults::{Direction, Fault, Micros, Node, OperatorCommand};
use fencepost_machine::OperatorAction;
use fencepost_reports::{History, What};
use serde_json::{Value, json};

pub(super) struct Faults<'r> {
    pub(super) spec: &'r RunSpec,
    pub(super) history: &'r History,
    pub(super) span: Span,
}

impl Faults<'_> {
    pub(super) fn steps(&self) -> Result<Vec<Step>, ScriptError> {
        let mut steps = Vec::new();
        let begun = self.history.events.iter().filter(|event| event.time_us <= self.span.until);
        for event in begun {
            let (What::FaultBegan { fault: id, .. } | What::FaultEnded { fault: id, .. }) =
                &event.what
            else {
                continue;
            };
            let Some(timed) = self.spec.plan.faults.iter().find(|timed| timed.id == *id) else {
                continue;
            };
            let [begin, end] = self.steps_of(&timed.fault)?;
            let (what, verb) = match event.what {
                What::FaultBegan { .. } => (begin, "begins"),
                _ => (end, "ends"),
            };
            let what = what.unwrap_or_else(|| note(&timed.fault, verb));
            steps.push(Step { at: event.time_us, class: Class::Fault, what });
        }
        Ok(steps)
    }

    /// Returns the steps at the begin and at the end of the fault.
    fn steps_of(&self, fault: &Fault) -> Result<[Option<Value>; 2], ScriptError> {
        let both = |node: &Node, actions: [&str; 2]| {
            actions.map(|action| Some(json!({ "do": action, "server": node.to_string() })))
        };
        let once = |step: Value| [Some(step), None];
        Ok(match fault {
            Fault::Pause { node, .. } | Fault::Suspend { node, .. } if serves(*node) => {
                both(node, ["pause", "resume"])
            }
            Fault::Crash { node, .. } if serves(*node) => both(node, ["kill", "start"]),
            Fault::PowerLoss { node, .. } if serves(*node) => {
                match self.spec.scenario.servers.persistence {
                    Persistence::None | Persistence::AofAlways => {}
                    Persistence::Rdb | Persistence::AofEverysec => {
                        let what = "loses power and all data that was not synced";
                        return inexpressible(format!("{node} {what}"));
                    }
                }
                both(node, ["kill", "start"])
            }
            Fault::ClockDrift { node, .. } | Fault::ClockJump { node, .. } if serves(*node) => {
                return inexpressible(format!("a fault changes the clock of {node} alone"));
            }
            Fault::SlowServer { node, .. } => {
                return inexpressible(format!("a fault slows down the commands of {node}"));
            }
            Fault::Partition { side_a, side_b, direction, .. } => {
                let mut cut = links(side_a, side_b);
                if *direction == Direction::Both {
                    cut.extend(links(side_b, side_a));
                }
                ["cut", "heal"].map(|action| on_links(action, &cut, Micros::ZERO))
            }
            Fault::Delay { from, to, extra_us_min, extra_us_max, .. } => {
                let middle = Micros((extra_us_min.0 + extra_us_max.0) / 2);
                [middle, Micros::ZERO].map(|delay| on_links("delay", &links(from, to), delay))
            }
            Fault::Evict { node } => once(self.typed(*node, OperatorAction::Evict)),
            Fault::FlushAll { node } => once(self.typed(*node, OperatorAction::FlushAll)),
            Fault::Promote { node } => once(self.typed(*node, OperatorAction::Promote)),
            Fault::Operator { node, command } => {
                once(self.typed(*node, self.action(*node, *command)))
            }
            Fault::Pause { .. }
            | Fault::Suspend { .. }
            | Fault::Crash { .. }
            | Fault::PowerLoss { .. }
            | Fault::LostReply { .. }
            | Fault::LostRequest { .. }
            | Fault::ClockDrift { .. }
            | Fault::ClockJump { .. } => [None, None],
        })
    }

    fn typed(&self, node: Node, action: OperatorAction) -> Value {
        let commands = redis_commands(action, |server| Node::Redis(server).to_string());
        let words = |command: &String| command.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let commands: Vec<_> = commands.iter().map(words).collect();
        json!({ "do": "type", "server": node.to_string(), "commands": commands })
    }

    fn action(&self, node: Node, command: OperatorCommand) -> OperatorAction {
        match command {
            OperatorCommand::ScriptFlush => OperatorAction::ForgetScripts,
            OperatorCommand::ClientKill => OperatorAction::CloseConnections,
            OperatorCommand::Failover => OperatorAction::HandOver,
            OperatorCommand::ReplicaOf => OperatorAction::Follow { server: self.next_to(node) },
            OperatorCommand::AppendOnlyOff => OperatorAction::StopLogging,
            OperatorCommand::MinReplicasOff => OperatorAction::WriteAlone,
            OperatorCommand::IdleTimeout => OperatorAction::CloseIdle,
        }
    }

    fn next_to(&self, node: Node) -> u16 {
        let servers = self.spec.scenario.setting(self.spec.topology()).servers();
        let place = servers.iter().position(|server| *server == node).unwrap_or_default();
        match servers.get(place + 1) {
            Some(Node::Redis(number)) => *number,
            _ => 1,
        }
    }
}

fn serves(node: Node) -> bool {
    node.is_server() || matches!(node, Node::Sentinel(_))
}

fn links(from: &[Node], to: &[Node]) -> Vec<[String; 2]> {
    let from = from.iter().filter(|node| serves(**node));
    let all = from.flat_map(|a| to.iter().map(move |b| (a, b)));
    let all = all.filter(|(a, b)| serves(**b) && a != b);
    all.map(|(a, b)| [a.to_string(), b.to_string()]).collect()
}

fn on_links(action: &str, links: &[[String; 2]], delay: Micros) -> Option<Value> {
    let step = json!({ "do": action, "pairs": links, "delay_us": delay.0 });
    (!links.is_empty()).then_some(step)
}

fn note(fault: &Fault, verb: &str) -> Value {
    let nodes: Vec<String> = fault.nodes().iter().map(Node::to_string).collect();
    json!({ "do": "say", "text": format!("{} of {} {verb}", fault.kind(), nodes.join(", ")) })
}
