//! Acquires, how they ended, and where they stand in the order of grants. Must never know what was
//! done under them.

use super::{Moment, acquire_invoked, moments, owner_of_value};
use crate::history::{Change, History, What};
use fencepost_faults::{Micros, Node};
use std::collections::BTreeMap;

/// One acquire of one thread of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Acquisition<'h> {
    /// The number of the operation.
    pub operation: u64,
    /// Who acquired.
    pub process: Node,
    /// When it began.
    pub invoked: Moment,
    /// When it ended, if it did; a crash of the process ends it too.
    pub completed: Option<Moment>,
    /// How it ended.
    pub outcome: Outcome,
    /// The owner value, if it succeeded.
    pub owner: Option<&'h str>,
    /// The fencing token, if it got one.
    pub token: Option<u64>,
    /// How long the lease says that it is valid.
    pub valid_for: Option<Micros>,
    /// When the servers granted it, if they told.
    pub grant: Option<Grant>,
}

/// How an acquire ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It succeeded.
    Granted,
    /// It did not, and the process knows.
    Refused,
    /// The process does not know, or died before it did; it opens no section.
    Unknown,
    /// It was never completed.
    Open,
}

/// How the servers granted one owner value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grant {
    /// When the deciding server did: the first of one, the quorum-th of many.
    pub moment: Moment,
    /// The deciding server.
    pub node: Node,
    /// Every server that granted it before the acquire completed, each with its first grant, in
    /// order.
    pub servers: Vec<(Node, Moment)>,
}

/// Who granted what: by owner value, in order.
type Grants<'h> = BTreeMap<&'h str, Vec<Granting>>;

/// One server's grant of one value.
#[derive(Clone, Copy)]
struct Granting {
    server: Node,
    by: Option<Node>,
    moment: Moment,
    /// When the process that asked for it had it removed again.
    withdrawn: Option<Moment>,
}

/// Every acquire of the history, in the order of invocation.
pub(super) fn all(history: &History) -> Vec<Acquisition<'_>> {
    let mut acquisitions: Vec<Acquisition<'_>> = Vec::new();
    let mut open: BTreeMap<u64, usize> = BTreeMap::new();
    for (moment, event) in moments(history) {
        if let Some(operation) = acquire_invoked(event) {
            open.insert(operation, acquisitions.len());
            acquisitions.push(invoked(operation, event.node, moment));
        } else if let Some(operation) = completed(&event.what)
            && let Some(index) = open.remove(&operation)
        {
            complete(&mut acquisitions[index], &event.what, moment);
        } else if matches!(event.what, What::Crashed) {
            // A process that dies with its acquire open never learns how that ended.
            open.retain(|_, index| {
                let died = acquisitions[*index].process.machine() == event.node;
                if died {
                    complete(&mut acquisitions[*index], &event.what, moment);
                }
                !died
            });
        }
    }
    let grants = grants(history);
    for acquisition in &mut acquisitions {
        acquisition.grant = grant_of(acquisition, &grants, history.header.quorum);
    }
    acquisitions
}

fn invoked<'h>(operation: u64, process: Node, invoked: Moment) -> Acquisition<'h> {
    let (owner, token, valid_for) = (None, None, None);
    Acquisition {
        operation,
        process,
        invoked,
        completed: None,
        outcome: Outcome::Open,
        owner,
        token,
        valid_for,
        grant: None,
    }
}

/// The operation that the event completes.
fn completed(what: &What) -> Option<u64> {
    match what {
        What::Ok { operation, .. }
        | What::Fail { operation, .. }
        | What::Info { operation, .. } => Some(*operation),
        _ => None,
    }
}

fn complete<'h>(acquisition: &mut Acquisition<'h>, what: &'h What, moment: Moment) {
    acquisition.completed = Some(moment);
    acquisition.outcome = match what {
        What::Ok { owner, token, valid_for_us, .. } => {
            acquisition.owner = owner.as_deref();
            acquisition.token = *token;
            acquisition.valid_for = *valid_for_us;
            Outcome::Granted
        }
        What::Fail { .. } => Outcome::Refused,
        _ => Outcome::Unknown,
    };
}

fn grants(history: &History) -> Grants<'_> {
    let mut grants = Grants::new();
    let mut standing: BTreeMap<Node, (&str, usize)> = BTreeMap::new();
    for (moment, event) in moments(history) {
        let What::Server { key, change, value: Some(value), by, primary: true } = &event.what
        else {
            continue;
        };
        if *key != history.header.resource {
            continue;
        }
        let server = event.node;
        match change {
            Change::Granted => {
                let owner = owner_of_value(value);
                let of_owner = grants.entry(owner).or_default();
                standing.insert(server, (owner, of_owner.len()));
                of_owner.push(Granting { server, by: *by, moment, withdrawn: None });
            }
            Change::Removed => {
                let removed = standing
                    .remove(&server)
                    .and_then(|(owner, place)| grants.get_mut(owner)?.get_mut(place));
                if let Some(grant) =
                    removed.filter(|grant| grant.by.is_some() && process(grant.by) == process(*by))
                {
                    grant.withdrawn = Some(moment);
                }
            }
            _ => {}
        }
    }
    grants
}

/// The process of a thread.
fn process(asked: Option<Node>) -> Option<Node> {
    asked.map(Node::machine)
}

/// The grant of an acquisition: each server's latest grant of its owner value to its process while
/// it was open or, for a reentrant one that found its own value, before it. The latest, because an
/// attempt that failed may have written the same value. What the process took back before the
/// acquire completed does not count: it belonged to an attempt that failed, or to an earlier
/// acquisition. Which thread of the process asked does not matter: threads may share a connection,
/// and one may get in under the grant of another if they write the same value.
fn grant_of(acquisition: &Acquisition<'_>, grants: &Grants<'_>, quorum: u16) -> Option<Grant> {
    let completed = acquisition.completed?;
    let fits = |grant: &&Granting| {
        let is_own = grant.by.is_none_or(|node| node.machine() == acquisition.process.machine());
        is_own
            && grant.moment < completed
            && grant.withdrawn.is_none_or(|withdrawn| completed < withdrawn)
    };
    let fitting = grants
        .get(owner_of_value(acquisition.owner?))?
        .iter()
        .filter(fits)
        .map(|grant| (grant.server, grant.moment));
    let while_open = fitting.clone().filter(|(_, moment)| acquisition.invoked < *moment);
    decided(latest_of_each(while_open), quorum).or_else(|| decided(latest_of_each(fitting), quorum))
}

/// The last entry of each server, in order of time.
fn latest_of_each(grants: impl DoubleEndedIterator<Item = (Node, Moment)>) -> Vec<(Node, Moment)> {
    let mut servers: Vec<(Node, Moment)> = Vec::new();
    for (server, moment) in grants.rev() {
        if servers.iter().all(|(known, _)| *known != server) {
            servers.push((server, moment));
        }
    }
    servers.reverse();
    servers
}

/// The grant that these servers make together, in order of time, if they are a quorum.
fn decided(servers: Vec<(Node, Moment)>, quorum: u16) -> Option<Grant> {
    let (node, moment) = *servers.get(usize::from(quorum.max(1)) - 1)?;
    Some(Grant { moment, node, servers })
}

#[cfg(test)]
mod tests {
    use crate::story::Story;
    use crate::timeline::Timeline;

    /// When the grant was made on which the acquire rests that completed last.
    fn granted_ms(story: Story) -> u64 {
        let history = story.build();
        let timeline = Timeline::new(&history);
        let last = timeline.acquisitions.iter().max_by_key(|one| one.completed).unwrap();
        last.grant.as_ref().unwrap().moment.time.0 / 1_000
    }

    #[test]
    fn an_acquire_rests_on_the_grant_made_while_it_was_open() {
        assert_eq!(granted_ms(Story::new().takes(1, 1, "a").releases(2, 1).takes(5, 1, "a")), 5);
    }

    #[test]
    fn one_that_found_its_own_value_rests_on_the_latest_grant_of_it_and_not_on_the_first() {
        let story = Story::new().takes(1, 1, "a").releases(2, 1).takes(5, 1, "a");
        assert_eq!(granted_ms(story.acquires(7, 1).hears(8, 1, "a")), 5);
    }

    #[test]
    fn a_value_that_an_attempt_wrote_in_vain_and_a_later_one_with_success_counts_from_the_later() {
        let story = Story::new()
            .takes(1, 2, "b")
            .acquires(2, 1)
            .grants(3, 1, "a")
            .removed(4, "a", 2)
            .releases(4, 2);
        assert_eq!(granted_ms(story.grants(5, 1, "a").hears(6, 1, "a")), 5);
    }

    #[test]
    fn what_a_failed_attempt_took_and_gave_back_does_not_count() {
        let story = Story::new()
            .acquires(1, 1)
            .grants(2, 1, "a")
            .removed(3, "a", 1)
            .takes(4, 2, "b")
            .releases(5, 2);
        assert_eq!(granted_ms(story.removed(6, "b", 2).grants(7, 1, "a").hears(8, 1, "a")), 7);
    }
}
