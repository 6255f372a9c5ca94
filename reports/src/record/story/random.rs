use super::{KEY, Story};
use crate::record::history::{Action, Change, GivingUp, Keeping, Turn, What};
use fencepost_faults::{FaultKind, Node};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use strum::VariantArray;

#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomStep {
    after: u64,
    who: u16,
    step_kind: StepKind,
    detail: u16,
}

#[derive(Clone, Copy, Debug)]
enum StepKind {
    Acquires,
    IsGranted,
    Hears,
    IsRefused,
    HearsNothing,
    GivesUp,
    Reads,
    Writes,
    Leaves,
    Crashes,
    Starts,
    Loses,
    IsSilent,
    ServerChanges,
    ServerTurns,
    FaultBegins,
    FaultEnds,
    Heals,
    ProbeTries,
}

pub(crate) fn random_steps() -> impl Strategy<Value = Vec<RandomStep>> {
    let step_kind = prop_oneof![
        6 => Just(StepKind::Acquires),
        8 => Just(StepKind::IsGranted),
        8 => Just(StepKind::Hears),
        1 => Just(StepKind::IsRefused),
        1 => Just(StepKind::HearsNothing),
        1 => Just(StepKind::GivesUp),
        4 => Just(StepKind::Reads),
        4 => Just(StepKind::Writes),
        6 => Just(StepKind::Leaves),
        1 => Just(StepKind::Crashes),
        2 => Just(StepKind::Starts),
        1 => Just(StepKind::Loses),
        1 => Just(StepKind::IsSilent),
        6 => Just(StepKind::ServerChanges),
        1 => Just(StepKind::ServerTurns),
        3 => Just(StepKind::FaultBegins),
        3 => Just(StepKind::FaultEnds),
        1 => Just(StepKind::Heals),
        1 => Just(StepKind::ProbeTries),
    ];
    let step = (0_u64..9, 1_u16..4, step_kind, any::<u16>());
    let step = step.prop_map(|(after, who, step_kind, detail)| RandomStep {
        after,
        who,
        step_kind,
        detail,
    });
    prop::collection::vec(step, 0..80)
}

pub(crate) fn locks() -> impl Strategy<Value = Story> {
    prop_oneof![
        4 => Just(Story::new()),
        1 => Just(Story::with_tokens(Story::new())),
        1 => Just(Story::with_quorum(2)),
        1 => Just(Story::with_sessions()),
        1 => Just(Story::with_leases()),
        1 => Just(Story::kept_as(Keeping::RowByClients)),
        1 => Just(Story::kept_as(Keeping::RowByServer)),
        1 => Just(Story::kept_as(Keeping::Connection)),
        1 => Just(Story::of_workload("sequence").order_bound(5)),
        1 => Just(Story::of_workload("seckill").held_bound(8).available_within(8, 1, 1)),
    ]
    .prop_map(|story| story.under("pause").progress_bound(20))
}

pub(crate) fn stories() -> impl Strategy<Value = Story> {
    (locks(), random_steps()).prop_map(|(lock, deeds)| build(lock, &deeds))
}

struct Builder {
    story: Story,
    now: u64,
    down: BTreeSet<Node>,
    value: i64,
    faults: BTreeMap<u32, FaultKind>,
    begun: u32,
    healed: bool,
    leaving: BTreeSet<Node>,
}

pub(crate) fn build(lock: Story, deeds: &[RandomStep]) -> Story {
    let (down, faults) = (BTreeSet::new(), BTreeMap::new());
    let mut builder = Builder {
        story: lock,
        now: 1,
        down,
        value: 0,
        faults,
        begun: 0,
        healed: false,
        leaving: BTreeSet::new(),
    };
    for step in deeds {
        builder.now += step.after;
        builder.apply(*step);
    }
    builder.story
}

impl Builder {
    fn is_call_of_the_lock(&self, node: Node) -> bool {
        let open = self.story.open.get(&node);
        self.story.events.iter().any(|event| match &event.what {
            What::Invoke { operation, action: Action::Acquire | Action::Release } => {
                open == Some(operation)
            }
            _ => false,
        })
    }

    fn apply(&mut self, step: RandomStep) {
        let RandomStep { who, detail, step_kind, .. } = step;
        let (now, node) = (self.now, Node::Client(who).for_thread(1 + detail % 2));
        let is_open = self.story.open.contains_key(&node);
        let is_up = !self.down.contains(&node.machine());
        let owner = format!("owner-{}", detail % 4);
        let is_idle = is_up && !is_open;
        let was_granted = self.story.held.contains_key(&node);
        let server = 1 + detail % 2;
        let leaves = is_open && self.leaving.contains(&node);
        if !is_open {
            self.leaving.remove(&node);
        }
        let story = self.story.clone();
        self.story = match step_kind {
            StepKind::Hears if leaves => story.left(now, node),
            StepKind::Acquires if is_idle => story.acquires(now, node),
            StepKind::IsGranted if is_up => {
                let change = [Change::Granted, Change::Extended][usize::from(detail % 3 == 0)];
                story.server(now, server, change, &owner, Some(node))
            }
            StepKind::Hears if is_open && detail % 5 == 0 => {
                story.hears_token(now, node, &owner, u64::from(detail % 9))
            }
            StepKind::Hears if is_open => story.hears(now, node, &owner),
            StepKind::IsRefused if is_open => story.fails(now, node),
            StepKind::HearsNothing if is_open => story.info(now, node),
            StepKind::GivesUp if is_open && self.is_call_of_the_lock(node) => {
                let how = [GivingUp::Cancelled, GivingUp::Interrupted][usize::from(detail % 2)];
                story.gives_up(now, node, how)
            }
            StepKind::Reads if is_idle && was_granted => story.reads(now, node, self.value),
            StepKind::Writes if is_idle && was_granted => self.writes(story, node, detail),
            StepKind::Leaves if is_idle => {
                self.leaving.insert(node);
                story.leaves(now, node)
            }
            StepKind::Crashes if is_up && self.down.insert(node.machine()) => {
                story.crashes(now, who)
            }
            StepKind::Starts if self.down.remove(&node.machine()) => story.starts(now, who),
            StepKind::Loses if is_up => story.loses(now, node),
            StepKind::IsSilent if is_open => {
                story.silent(now, node, now.saturating_sub(20), detail % 3 == 0)
            }
            StepKind::ServerChanges => changed(story, now, detail, &owner),
            StepKind::ServerTurns => turned(story, now, detail),
            StepKind::FaultBegins => self.fault(story, node.machine(), detail),
            StepKind::FaultEnds => match self.faults.pop_first() {
                Some((fault, kind)) => story.fault_ended(now, fault, kind.into(), node.machine()),
                None => story,
            },
            StepKind::Heals if !std::mem::replace(&mut self.healed, true) => story.healed(now),
            StepKind::ProbeTries if !story.open.contains_key(&Node::Probe) => {
                let story = story.probe_acquires(now);
                if detail % 2 == 0 { story.probe_fails(now) } else { story.probe_ok(now, "probe") }
            }
            _ => story,
        };
    }

    fn writes(&mut self, story: Story, node: Node, detail: u16) -> Story {
        let based_on = self.value - i64::from(detail.is_multiple_of(3));
        self.value += 1;
        story.writes(self.now, node, based_on, self.value)
    }

    fn fault(&mut self, story: Story, client: Node, detail: u16) -> Story {
        let kind = FaultKind::VARIANTS[usize::from(detail) % FaultKind::VARIANTS.len()];
        self.begun += 1;
        self.faults.insert(self.begun, kind);
        let servers = [Node::Redis(1), Node::Storage, Node::Redis(2), client];
        let other = servers[usize::from(detail / 16) % servers.len()];
        story.fault_began(self.now, self.begun, kind.into(), &[client, other])
    }
}

fn changed(story: Story, now: u64, detail: u16, owner: &str) -> Story {
    const CHANGES: [Change; 9] = [
        Change::Granted,
        Change::Extended,
        Change::Removed,
        Change::Expired,
        Change::Evicted,
        Change::Flushed,
        Change::Forgotten,
        Change::Discarded,
        Change::Restored,
    ];
    let change = CHANGES[usize::from(detail) % CHANGES.len()];
    match detail % 7 {
        0 => story.replicated(now, 2, owner),
        1 => story.removed_on_replica(now, 2, owner),
        2 => story.keyed(now, &format!("{KEY}/twice"), change, owner, 1),
        _ => story.server(now, 1 + detail % 2, change, owner, None),
    }
}

fn turned(story: Story, now: u64, detail: u16) -> Story {
    let turn = [Turn::Promoted, Turn::Follows, Turn::Unanswered][usize::from(detail % 3)];
    story.event(now, Node::Redis(1), What::Turn { turn, about: Some(Node::Redis(2)) })
}

proptest! {
    #[test]
    fn every_wild_story_is_a_history(story in stories()) {
        prop_assert_eq!(crate::record::validate::validate(&story.build()), Ok(()));
    }
}
