//! A server with a mistake planted: the same machine, with the operator between it and the world.

use super::any::{self, Bent};
use super::operator::{Operator, Rule};
use super::wire::{Ear, Heard, Marks, Talk};
use crate::world::server::Factory;
use fencepost_faults::Node;
use fencepost_machine::wording::Wording;
use fencepost_machine::{
    ConnectionId, DiskImage, Input, Machine, Now, OperatorAction, Output, Outputs,
};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Makes the server with the mistake, anew at each of its starts.
pub(super) fn mutated(
    operator: &'static Operator,
    mut factory: Factory,
    marks: Rc<Marks>,
) -> Factory {
    Box::new(move |image, now| {
        let image = match &operator.rule {
            Rule::Any(any::Rule::StartsEmpty) if image != DiskImage::default() => {
                marks.alter();
                DiskImage::default()
            }
            _ => image,
        };
        let mut bent = match &operator.rule {
            Rule::Any(rule) => Bent::new(rule, now),
            _ => Bent::Not,
        };
        let inner = factory(image, bent.now(now));
        Box::new(Mutated { inner, operator, bent, marks: marks.clone(), ears: BTreeMap::new() })
    })
}

struct Mutated {
    inner: Box<dyn Machine>,
    operator: &'static Operator,
    /// What is changed besides what clients say and hear.
    bent: Bent,
    marks: Rc<Marks>,
    ears: BTreeMap<ConnectionId, Ear>,
}

impl Mutated {
    fn receive(&mut self, connection: ConnectionId, bytes: &[u8], now: Now, out: &mut Outputs) {
        let heard = match self.ears.get_mut(&connection) {
            Some(ear) => {
                let heard = self.operator.hears(&mut Talk { ear, marks: &self.marks }, bytes);
                ear.heard += 1;
                heard
            }
            None => Heard::AsItIs,
        };
        if heard != Heard::AsItIs {
            self.marks.alter();
        }
        match heard {
            Heard::AsItIs => self.tell(Input::Received { connection, bytes }, now, out),
            Heard::Instead(bytes) => {
                self.tell(Input::Received { connection, bytes: &bytes }, now, out);
            }
            Heard::Answered(bytes) => {
                out.commands += 1;
                out.list.push(Output::Send { connection, bytes: bytes.into() });
            }
        }
    }

    /// Tells the machine, and changes what it says.
    fn tell(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        let is_client = |connection| self.ears.get(&connection).is_some_and(|ear| ear.is_client);
        let first = out.list.len();
        self.bent.handle(&mut *self.inner, (input, now, &is_client), &self.marks, out);
        for output in &mut out.list[first..] {
            let Output::Send { connection, bytes } = output else { continue };
            let Some(ear) = self.ears.get_mut(connection) else { continue };
            if let Some(instead) = self.operator.says(&mut Talk { ear, marks: &self.marks }, bytes)
            {
                self.marks.alter();
                *bytes = instead.into();
            }
        }
        out.list.retain(|output| !matches!(output, Output::Send { bytes, .. } if bytes.is_empty()));
    }
}

impl Machine for Mutated {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        let now = self.bent.now(now);
        match input {
            Input::Received { connection, bytes } => self.receive(connection, bytes, now, out),
            Input::Accepted { connection, peer } => {
                let name = peer.split(':').next().unwrap_or_default();
                let node: Option<Node> = name.parse().ok();
                let is_client = node.is_some_and(|node| {
                    matches!(node, Node::Client(_) | Node::Thread { .. } | Node::Probe)
                });
                self.ears.insert(connection, Ear { is_client, ..Ear::default() });
                self.tell(input, now, out);
            }
            Input::Closed { connection } => {
                self.ears.remove(&connection);
                self.tell(input, now, out);
            }
            _ => self.tell(input, now, out),
        }
    }

    fn supports(&self, action: OperatorAction) -> bool {
        self.inner.supports(action)
    }

    fn will_send(&self) -> bool {
        self.inner.will_send()
    }

    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        self.inner.sign_of_life()
    }

    fn wording(&self) -> Wording {
        self.inner.wording()
    }
}
