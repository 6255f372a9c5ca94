//! The periods during which a server stored a value for a key.

use super::{Moment, moments};
use crate::record::history::{Change, History, Turn, What};
use fencepost_faults::{Node, SimTime};
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeySpan<'h> {
    pub node: Node,
    pub value: Option<&'h str>,
    /// Process that wrote the value; `None` if a server copied or loaded it, or if unknown.
    pub by: Option<Node>,
    /// Process to which a server granted the value, and when.
    pub granted: Option<(Node, Moment)>,
    pub from: Moment,
    /// Times at which processes wrote the value or reset its time to live.
    pub set: Vec<Moment>,
    /// End of the last lease by a correct clock; `None` if no lease is recorded.
    pub runs_out: Option<SimTime>,
    /// When and how the value ended; `None` if it existed at the end of the history.
    pub to: Option<(Moment, KeyEnd)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyEnd {
    Changed { change: Change, by: Option<Node>, primary: bool },
    Replaced,
}

pub(super) fn all(history: &History) -> Vec<KeySpan<'_>> {
    of_key(history, &history.header.resource)
}

pub(crate) fn of_key<'h>(history: &'h History, wanted: &str) -> Vec<KeySpan<'h>> {
    let mut spans: Vec<KeySpan<'_>> = Vec::new();
    let mut open: BTreeMap<Node, usize> = BTreeMap::new();
    let mut origins = Origins::default();
    for (moment, event) in moments(history) {
        if matches!(event.what, What::Turn { turn: Turn::TookOver, .. }) {
            origins.0.remove(&event.node);
        }
        let What::Server { key, change, value, by, primary, lease_us, .. } = &event.what else {
            continue;
        };
        if key != wanted {
            continue;
        }
        let standing = open.get(&event.node).copied();
        let runs_out = lease_us.map(|lease| moment.time + lease);
        match change {
            Change::Granted | Change::Restored => {
                let value = value.as_deref();
                if standing
                    .is_some_and(|index| *change == Change::Restored && spans[index].value == value)
                {
                    continue;
                }
                end(&mut spans, standing, moment, KeyEnd::Replaced);
                open.insert(event.node, spans.len());
                let set = by.iter().map(|_| moment).collect();
                let granted = match by {
                    Some(by) => Some((*by, moment)),
                    None => origins.of_copy(&spans, event.node, value),
                };
                let (node, by, from) = (event.node, *by, moment);
                spans.push(KeySpan { node, value, by, granted, from, set, runs_out, to: None });
            }
            Change::Extended => {
                if let Some(index) = standing {
                    spans[index].set.extend(by.map(|_| moment));
                    spans[index].runs_out = runs_out;
                }
            }
            change => {
                end(
                    &mut spans,
                    standing,
                    moment,
                    KeyEnd::Changed { change: *change, by: *by, primary: *primary },
                );
                open.remove(&event.node);
            }
        }
    }
    spans
}

/// The last grant that each replica copied since its last full resynchronisation, as an index into
/// the spans.
#[derive(Default)]
struct Origins(BTreeMap<Node, usize>);

impl Origins {
    /// Returns the grant that a replica copied: the value's latest grant or, if the replica has
    /// copied a grant of the same server before, that server's next grant of the value.
    fn of_copy(
        &mut self,
        spans: &[KeySpan<'_>],
        copy: Node,
        value: Option<&str>,
    ) -> Option<(Node, Moment)> {
        let is_grant = |span: &KeySpan<'_>| span.by.is_some() && span.value == value;
        let latest = spans.iter().rposition(is_grant)?;
        let last = self.0.get(&copy).copied();
        let next = last.filter(|last| spans[*last].node == spans[latest].node).and_then(|last| {
            let following = spans.iter().enumerate().skip(last + 1);
            let mut here = following.filter(|(_, span)| span.node == spans[latest].node);
            here.find(|(_, span)| is_grant(span)).map(|(index, _)| index)
        });
        let origin = next.unwrap_or(latest);
        self.0.insert(copy, origin);
        spans[origin].granted
    }
}

fn end(spans: &mut [KeySpan<'_>], standing: Option<usize>, moment: Moment, how: KeyEnd) {
    if let Some(index) = standing {
        spans[index].to = Some((moment, how));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    #[test]
    fn a_replica_copies_grants_in_order_but_after_a_full_resynchronisation_the_latest() {
        let copied = |is_full: bool| {
            let story = Story::new().takes(1, 1, "a").replicated(1, 2, "a").releases(2, 1);
            let story = story.removed(2, "a", 1).removed_on_replica(2, 2, "a").takes(3, 1, "a");
            let story = story.releases(4, 1).removed(4, "a", 1).takes(5, 1, "a");
            let about = Some(Node::Redis(1));
            let story = match is_full {
                true => story.event(6, Node::Redis(2), What::Turn { turn: Turn::TookOver, about }),
                false => story,
            };
            let history = story.replicated(6, 2, "a").build();
            all(&history).last().and_then(|span| span.granted).map(|(_, at)| at.time)
        };
        let at = |ms: u64| Some(SimTime(ms * 1_000));
        assert_eq!([copied(false), copied(true)], [at(3), at(5)]);
    }
}
