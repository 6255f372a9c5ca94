use super::{Moment, acquire_invoked, moments};
use crate::record::history::{History, What};
use fencepost_faults::{Micros, Node};
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Acquisition<'h> {
    pub operation: u64,
    pub process: Node,
    pub invoked: Moment,
    /// Time of the answer, or of a crash of the process before the answer.
    pub completed: Option<Moment>,
    pub outcome: Outcome,
    /// Owner value of the lock; `None` unless the acquire succeeded.
    pub owner: Option<&'h str>,
    pub token: Option<u64>,
    /// Validity of the lease, as stated by the lock.
    pub valid_for: Option<Micros>,
    pub grant: Option<Grant>,
}

impl Acquisition<'_> {
    /// Returns whether the process had called the lock before this time and got its answer later.
    pub(crate) fn is_open_at(&self, at: Moment) -> bool {
        self.invoked < at && self.completed.is_none_or(|completed| at < completed)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Granted,
    Refused,
    /// The process did not learn the outcome, for example because it crashed.
    Unknown,
    Open,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grant {
    /// Time of the grant that completed the quorum or, without a quorum, of the last grant.
    pub moment: Moment,
    pub node: Node,
    /// `false` if the grant relies on an existing value.
    pub created: bool,
    /// For each server, the last grant on which the acquisition relies.
    pub servers: Vec<(Node, Moment)>,
}

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
            open.retain(|_, index| {
                let died = acquisitions[*index].process.machine() == event.node;
                if died {
                    complete(&mut acquisitions[*index], &event.what, moment);
                }
                !died
            });
        }
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

#[cfg(test)]
mod tests {
    use crate::judge::timeline::Timeline;
    use crate::record::story::Story;

    fn granted_ms(story: Story) -> u64 {
        let history = story.build();
        let timeline = Timeline::new(&history);
        let last = timeline.acquisitions.iter().max_by_key(|one| one.completed).unwrap();
        last.grant.as_ref().unwrap().moment.time.0 / 1_000
    }

    #[test]
    fn an_acquire_rests_on_a_committed_copy_if_the_primary_reported_no_grant() {
        let story = || {
            let story = Story::with_sessions().takes(1, 1, "a").acquires(2, 2).redis_crashes(5, 1);
            story.restored_on_replica(6, 1, "b")
        };
        assert_eq!(granted_ms(story().hears(9, 2, "b")), 6, "it was committed by then");
        let follower = story().replicated(7, 2, "b");
        assert_eq!(granted_ms(follower.clone().hears(9, 2, "b")), 7, "6 ms may be too early");
        assert_eq!(granted_ms(follower.grants(8, 2, "b").hears(9, 2, "b")), 8, "it was reported");
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
    fn a_process_may_have_another_name_at_each_server() {
        let story = |by: [u16; 3]| {
            let mut story = Story::with_quorum(2).acquires(1, 1);
            for (server, client) in (1..).zip(by) {
                let node = fencepost_faults::Node::Client(client);
                let (ms, owner) = (u64::from(server) + 1, format!("{client}@{server}"));
                let granted = crate::record::history::Change::Granted;
                story = story.server(ms, server, granted, &owner, Some(node));
            }
            story.hears(5, 1, "1@1").build()
        };
        let grants = |by| {
            let history = story(by);
            let timeline = Timeline::new(&history);
            timeline.acquisitions[0].grant.as_ref().map(|grant| grant.servers.len())
        };
        assert_eq!(
            [grants([1, 1, 1]), grants([1, 2, 1]), grants([1, 2, 2])],
            [Some(3), Some(2), None]
        );
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
