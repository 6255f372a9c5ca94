//! What stood under the lock's key at each server, and for how long.

use super::{Moment, moments};
use crate::record::history::{Change, History, What};
use fencepost_faults::{Node, SimTime};
use std::collections::BTreeMap;

/// A span in which one value stood under the lock's key at one server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeySpan<'h> {
    /// The server.
    pub node: Node,
    /// The owner value.
    pub value: Option<&'h str>,
    /// Who asked for it; absent on a replica.
    pub by: Option<Node>,
    /// To whom it was granted, and when: at this server, or at the one that this one follows;
    /// absent if no server told of that.
    pub granted: Option<(Node, Moment)>,
    /// When it came to stand there.
    pub from: Moment,
    /// When a command set its time to live, in order; empty for what followed another server or
    /// came from a disk.
    pub set: Vec<Moment>,
    /// When the lease that was set last is over if no clock is wrong; absent if it never is, or if
    /// no server told of that.
    pub runs_out: Option<SimTime>,
    /// When it went, and how; `None` if no server had told of that when the history ended.
    pub to: Option<(Moment, KeyEnd)>,
}

/// How a value went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyEnd {
    /// The server's tap said so; `by` is who asked for it.
    Changed {
        /// What the server did.
        change: Change,
        /// Who asked, if somebody did.
        by: Option<Node>,
        /// Whether the server was acting as a primary.
        primary: bool,
    },
    /// Another value took its place while it stood.
    Replaced,
}

/// Every span of the lock's key, in the order in which they began.
pub(super) fn all(history: &History) -> Vec<KeySpan<'_>> {
    of_key(history, &history.header.resource)
}

/// Every span of a key, in the order in which they began.
pub(crate) fn of_key<'h>(history: &'h History, wanted: &str) -> Vec<KeySpan<'h>> {
    let mut spans: Vec<KeySpan<'_>> = Vec::new();
    let mut open: BTreeMap<Node, usize> = BTreeMap::new();
    let mut origins = Origins::default();
    for (moment, event) in moments(history) {
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

/// Which grant each server copied last, as an index into the spans.
#[derive(Default)]
struct Origins(BTreeMap<Node, usize>);

impl Origins {
    /// The grant that a copy comes from. Servers that follow another get its grants in their order,
    /// and many locks write the same value each time: it is the next one of the server that was
    /// followed last or, if another has granted that value since, the latest.
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
