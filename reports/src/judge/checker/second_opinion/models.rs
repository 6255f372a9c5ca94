use fencepost_faults::Node;
use stateright::semantics::SequentialSpec;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
    Enter(Node),
    Leave(Node, usize),
    Expire,
    Issue,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ret {
    Done,
    Refused,
    Token(u64),
}

#[derive(Clone, Default, Debug)]
pub(super) struct Mutex {
    taken: bool,
}

#[derive(Clone, Default, Debug)]
pub(super) struct OwnerAware {
    owner: Option<Node>,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Reentrant {
    owner: Option<(Node, usize)>,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Tokens {
    highest: Option<u64>,
}

impl SequentialSpec for Mutex {
    type Op = Op;
    type Ret = Ret;

    fn invoke(&mut self, op: &Op) -> Ret {
        let allowed = match op {
            Op::Enter(_) => !self.taken,
            Op::Leave(_, count) => self.taken && *count == 1,
            Op::Expire => true,
            Op::Issue => false,
        };
        if allowed {
            self.taken = matches!(op, Op::Enter(_));
        }
        done(allowed)
    }
}

impl SequentialSpec for OwnerAware {
    type Op = Op;
    type Ret = Ret;

    fn invoke(&mut self, op: &Op) -> Ret {
        let (allowed, owner) = match op {
            Op::Enter(node) => (self.owner.is_none(), Some(*node)),
            Op::Leave(node, count) => (self.owner == Some(*node) && *count == 1, None),
            Op::Expire => (true, None),
            Op::Issue => (false, None),
        };
        if allowed {
            self.owner = owner;
        }
        done(allowed)
    }
}

impl SequentialSpec for Reentrant {
    type Op = Op;
    type Ret = Ret;

    fn invoke(&mut self, op: &Op) -> Ret {
        let next = match (op, self.owner) {
            (Op::Enter(node), None) => Some(Some((*node, 1))),
            (Op::Enter(node), Some((owner, depth))) if *node == owner => {
                Some(Some((owner, depth + 1)))
            }
            (Op::Leave(node, count), Some((owner, depth))) if *node == owner && *count <= depth => {
                Some((depth > *count).then(|| (owner, depth - count)))
            }
            (Op::Expire, _) => Some(None),
            _ => None,
        };
        if let Some(owner) = next {
            self.owner = owner;
        }
        done(next.is_some())
    }
}

impl SequentialSpec for Tokens {
    type Op = Op;
    type Ret = Ret;

    /// Returns an arbitrary value, because no process learns the token of an incomplete operation.
    fn invoke(&mut self, _: &Op) -> Ret {
        Ret::Refused
    }

    fn is_valid_step(&mut self, op: &Op, ret: &Ret) -> bool {
        let (Op::Issue, Ret::Token(token)) = (op, ret) else { return false };
        let grows = self.highest.is_none_or(|highest| highest < *token);
        self.highest = self.highest.max(Some(*token));
        grows
    }
}

fn done(allowed: bool) -> Ret {
    if allowed { Ret::Done } else { Ret::Refused }
}
