//! Leader election (FastLeaderElection): members switch to better votes until a majority agrees.

use super::message::{Notification, State, Vote};
use crate::config::MemberId;
use std::collections::BTreeMap;

/// Time in milliseconds to wait for a better vote once a majority agrees (`finalizeWait`).
const FINALIZE_MS: u64 = 200;
/// First and longest interval between notifications, in milliseconds.
const REPEAT_MS: (u64, u64) = (200, 60_000);

#[derive(Clone, Debug)]
pub(crate) struct Election {
    me: MemberId,
    majority: usize,
    round: u64,
    vote: Vote,
    own: Vote,
    votes: BTreeMap<MemberId, Notification>,
    settled: BTreeMap<MemberId, Notification>,
    repeat_ms: u64,
    repeat_at: u64,
    decide_at: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Nothing,
    VoteToAll,
    VoteTo(MemberId),
    Elected(MemberId),
}

impl Election {
    pub(crate) fn new(me: MemberId, majority: usize) -> Election {
        let vote = Vote { epoch: 0, zxid: 0, leader: me };
        Election {
            me,
            majority,
            round: 0,
            vote,
            own: vote,
            votes: BTreeMap::new(),
            settled: BTreeMap::new(),
            repeat_ms: REPEAT_MS.0,
            repeat_at: 0,
            decide_at: None,
        }
    }

    pub(crate) fn begin(&mut self, own: Vote, now_ms: u64) {
        // Rounds wrap around, because another member may have claimed the last possible round.
        self.round = self.round.wrapping_add(1);
        (self.own, self.vote) = (own, own);
        self.votes.clear();
        self.settled.clear();
        self.decide_at = None;
        self.repeat_ms = REPEAT_MS.0;
        self.repeat_at = now_ms + self.repeat_ms;
        self.note_own();
    }

    fn note_own(&mut self) {
        self.votes.insert(self.me, self.notification(State::Looking));
    }

    pub(crate) fn notification(&self, state: State) -> Notification {
        Notification { state, round: self.round, vote: self.vote }
    }

    pub(crate) fn settle(&mut self, vote: Vote) {
        self.vote = vote;
    }

    pub(crate) fn handle_notification(
        &mut self,
        from: MemberId,
        heard: Notification,
        now_ms: u64,
    ) -> Step {
        match heard.state {
            State::Looking => self.handle_looking(from, heard, now_ms),
            State::Following | State::Leading => self.handle_settled(from, heard),
        }
    }

    fn handle_looking(&mut self, from: MemberId, heard: Notification, now_ms: u64) -> Step {
        if heard.round < self.round {
            return Step::VoteTo(from);
        }
        let before = (self.round, self.vote);
        if heard.round > self.round {
            self.round = heard.round;
            self.votes.clear();
            self.vote = self.own.max(heard.vote);
        } else {
            self.vote = self.vote.max(heard.vote);
        }
        self.votes.insert(from, heard);
        self.note_own();
        let is_changed = before != (self.round, self.vote);
        if is_changed {
            self.decide_at = None;
        }
        let alike = self.votes.values().filter(|cast| cast.vote == self.vote).count();
        if alike >= self.majority {
            self.decide_at.get_or_insert(now_ms + FINALIZE_MS);
        }
        if is_changed { Step::VoteToAll } else { Step::Nothing }
    }

    /// Counts the votes of members that have a leader. The leader itself must claim to lead.
    fn handle_settled(&mut self, from: MemberId, heard: Notification) -> Step {
        if heard.round == self.round {
            self.votes.insert(from, heard);
            if self.is_agreed(&self.votes, heard) {
                return self.elected(heard.vote);
            }
        }
        self.settled.insert(from, heard);
        if self.is_agreed(&self.settled, heard) {
            self.round = heard.round;
            return self.elected(heard.vote);
        }
        Step::Nothing
    }

    fn is_agreed(&self, votes: &BTreeMap<MemberId, Notification>, heard: Notification) -> bool {
        let leader = heard.vote.leader;
        let alike = votes.values().filter(|cast| cast.vote.leader == leader).count();
        let is_heard_of = if leader == self.me {
            heard.round == self.round
        } else {
            votes.get(&leader).is_some_and(|cast| cast.state == State::Leading)
        };
        alike >= self.majority && is_heard_of
    }

    fn elected(&mut self, vote: Vote) -> Step {
        self.vote = vote;
        Step::Elected(vote.leader)
    }

    pub(crate) fn wake(&mut self, now_ms: u64) -> Step {
        if self.decide_at.is_some_and(|at| at <= now_ms) {
            return Step::Elected(self.vote.leader);
        }
        if self.repeat_at <= now_ms {
            self.repeat_ms = (self.repeat_ms * 2).min(REPEAT_MS.1);
            self.repeat_at = now_ms + self.repeat_ms;
            return Step::VoteToAll;
        }
        Step::Nothing
    }

    pub(crate) fn next_due(&self) -> u64 {
        self.decide_at.map_or(self.repeat_at, |at| at.min(self.repeat_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looking(round: u64, vote: Vote) -> Notification {
        Notification { state: State::Looking, round, vote }
    }

    fn vote(epoch: u32, zxid: i64, leader: MemberId) -> Vote {
        Vote { epoch, zxid, leader }
    }

    #[test]
    fn a_later_epoch_beats_a_longer_log_and_that_a_greater_number() {
        let mut election = Election::new(2, 2);
        election.begin(vote(1, 5, 2), 0);
        assert_eq!(election.handle_notification(3, looking(1, vote(1, 4, 3)), 0), Step::Nothing);
        assert_eq!(election.handle_notification(1, looking(1, vote(2, 1, 1)), 0), Step::VoteToAll);
        assert_eq!(election.wake(FINALIZE_MS - 1), Step::Nothing);
        assert_eq!(election.wake(FINALIZE_MS), Step::Elected(1));
    }

    #[test]
    fn a_member_of_an_earlier_round_is_told_of_the_later_one() {
        let mut election = Election::new(1, 2);
        election.begin(vote(0, 0, 1), 0);
        election.begin(vote(0, 0, 1), 0);
        assert_eq!(election.handle_notification(2, looking(1, vote(9, 9, 2)), 0), Step::VoteTo(2));
        assert_eq!(election.handle_notification(2, looking(3, vote(0, 0, 2)), 0), Step::VoteToAll);
        assert_eq!(election.notification(State::Looking).round, 3);
    }

    #[test]
    fn the_round_after_the_last_is_the_first() {
        let mut election = Election::new(1, 2);
        election.begin(vote(0, 0, 1), 0);
        assert_eq!(
            election.handle_notification(2, looking(u64::MAX, vote(0, 0, 2)), 0),
            Step::VoteToAll
        );
        election.begin(vote(0, 0, 1), 0);
        assert_eq!(election.notification(State::Looking).round, 0);
    }

    #[test]
    fn who_comes_late_joins_a_leader_that_a_majority_follows() {
        let mut election = Election::new(3, 2);
        election.begin(vote(1, 9, 3), 0);
        let follower = Notification { state: State::Following, round: 7, vote: vote(1, 2, 1) };
        assert_eq!(
            election.handle_notification(2, follower, 0),
            Step::Nothing,
            "its leader was not heard of"
        );
        let leader = Notification { state: State::Leading, ..follower };
        assert_eq!(election.handle_notification(1, leader, 0), Step::Elected(1));
    }

    #[test]
    fn a_vote_is_told_again_at_growing_distances() {
        let mut election = Election::new(1, 2);
        election.begin(vote(0, 0, 1), 0);
        let mut told = Vec::new();
        for _ in 0..4 {
            let due = election.next_due();
            assert_eq!(election.wake(due), Step::VoteToAll);
            told.push(due);
        }
        assert_eq!(told, [200, 600, 1_400, 3_000]);
    }
}
