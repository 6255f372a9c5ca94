use super::operator::Operator;
use super::rule::Rule;
use super::rule::any::{self, ServerMistake};
use super::wire::{Exchange, Heard, Marks, Peer};
use fencepost::setup::scenario::Factory;
use fencepost_faults::Node;
use fencepost_machine::wording::Wording;
use fencepost_machine::{
    ConnectionId, DiskImage, Input, Machine, Now, OperatorAction, Output, Outputs,
};
use std::collections::BTreeMap;
use std::rc::Rc;

pub(crate) fn mutated(
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
        let mut mistake = match &operator.rule {
            Rule::Any(rule) => ServerMistake::new(rule, now),
            _ => ServerMistake::Not,
        };
        let inner = factory(image, mistake.now(now));
        Box::new(Mutated { inner, operator, mistake, marks: marks.clone(), peers: BTreeMap::new() })
    })
}

struct Mutated {
    inner: Box<dyn Machine>,
    operator: &'static Operator,
    mistake: ServerMistake,
    marks: Rc<Marks>,
    peers: BTreeMap<ConnectionId, Peer>,
}

impl Mutated {
    fn receive(&mut self, connection: ConnectionId, bytes: &[u8], now: Now, out: &mut Outputs) {
        let heard = match self.peers.get_mut(&connection) {
            Some(peer) => {
                let heard =
                    self.operator.rule.hears(&mut Exchange { peer, marks: &self.marks }, bytes);
                peer.heard += 1;
                heard
            }
            None => Heard::AsItIs,
        };
        if heard != Heard::AsItIs {
            self.marks.alter();
        }
        match heard {
            Heard::AsItIs => self.pass_on(Input::Received { connection, bytes }, now, out),
            Heard::Instead(bytes) => {
                self.pass_on(Input::Received { connection, bytes: &bytes }, now, out);
            }
            Heard::Answered(bytes) => {
                out.commands += 1;
                out.list.push(Output::Send { connection, bytes: bytes.into() });
            }
        }
    }

    fn pass_on(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        let is_client = |connection| self.peers.get(&connection).is_some_and(|peer| peer.is_client);
        let first = out.list.len();
        self.mistake.handle(&mut *self.inner, (input, now, &is_client), &self.marks, out);
        for output in &mut out.list[first..] {
            let Output::Send { connection, bytes } = output else { continue };
            let Some(peer) = self.peers.get_mut(connection) else { continue };
            if let Some(instead) =
                self.operator.rule.says(&mut Exchange { peer, marks: &self.marks }, bytes)
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
        let now = self.mistake.now(now);
        match input {
            Input::Received { connection, bytes } => self.receive(connection, bytes, now, out),
            Input::Accepted { connection, peer } => {
                let name = peer.split(':').next().unwrap_or_default();
                let node: Option<Node> = name.parse().ok();
                let is_client = node.is_some_and(|node| {
                    matches!(node, Node::Client(_) | Node::Thread { .. } | Node::Probe)
                });
                self.peers.insert(connection, Peer { is_client, ..Peer::default() });
                self.pass_on(input, now, out);
            }
            Input::Closed { connection } => {
                self.peers.remove(&connection);
                self.pass_on(input, now, out);
            }
            _ => self.pass_on(input, now, out),
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
