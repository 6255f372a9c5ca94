//! Agreement in an ensemble. All members commit the same transactions in the same order. A
//! transaction commits once a majority has it on disk. A leader and followers that do not hear from
//! each other for too long start a new [`election`](crate::member::election).

mod follower;
mod leader;
mod learners;

use crate::config::MemberId;
use crate::connection::{Cut, Identity, cut};
use crate::member::election::Step;
use crate::member::links;
use crate::member::message::{Message, State, Vote};
use crate::server::{Role, ZooKeeper};
use crate::watches::Watches;
use fencepost_machine::{ConnectionId, Output};

const FRAME_MAX: usize = 1 << 30;

impl ZooKeeper {
    pub(crate) fn start_election(&mut self) {
        let before = std::mem::replace(&mut self.role, Role::Looking);
        let links: Vec<ConnectionId> = match &before {
            Role::Looking => Vec::new(),
            Role::Following(follower) => vec![follower.link()],
            Role::Leading(leader) => leader.links(),
        };
        for connection in links {
            self.connections.remove(&connection);
            self.out.list.push(Output::Abort { connection });
        }
        self.dismiss_clients();
        // Apply even uncommitted entries, which the next leader may discard.
        self.apply(i64::MAX);
        let epoch = self.store.epochs().current;
        let own = Vote { epoch, zxid: self.store.last_logged(), leader: self.config.me };
        self.election.begin(own, self.now_ms());
        self.send_vote_to_all();
    }

    fn dismiss_clients(&mut self) {
        let clients = self.connections.iter();
        let clients = clients.filter(|(_, open)| matches!(open.identity, Identity::Client(_)));
        let clients: Vec<ConnectionId> = clients.map(|(connection, _)| *connection).collect();
        clients.into_iter().for_each(|connection| self.hang_up(connection));
        self.queues.clear();
        self.watches = Watches::default();
    }

    fn state(&self) -> State {
        match &self.role {
            Role::Looking => State::Looking,
            Role::Following(_) => State::Following,
            Role::Leading(_) => State::Leading,
        }
    }

    fn send_vote(&mut self, to: MemberId) {
        let message = Message::Notification(self.election.notification(self.state()));
        self.links.send(&self.config, to, &message, &mut self.out.list);
    }

    fn send_vote_to_all(&mut self) {
        let others: Vec<MemberId> = self.config.others().map(|member| member.id).collect();
        others.into_iter().for_each(|member| self.send_vote(member));
    }

    pub(crate) fn wake_election(&mut self) {
        let step = self.election.wake(self.now_ms());
        self.take_step(step);
    }

    fn take_step(&mut self, step: Step) {
        match step {
            Step::Nothing => {}
            Step::VoteToAll => self.send_vote_to_all(),
            Step::VoteTo(member) => self.send_vote(member),
            Step::Elected(leader) if leader == self.config.me => self.lead(),
            Step::Elected(leader) => self.follow(leader),
        }
    }

    pub(crate) fn connected(&mut self, connection: ConnectionId) {
        if let Some(member) = self.links.connected(connection) {
            self.send(connection, links::greeting(self.config.me));
            self.send_vote(member);
        } else {
            self.leader_reached(connection);
        }
    }

    pub(crate) fn peer_said(&mut self, connection: ConnectionId) {
        while let Some(open) = self.connections.get_mut(&connection) {
            let Identity::Peer(from) = open.identity else { return };
            let message = match cut(&mut open.input, FRAME_MAX) {
                Cut::Incomplete => return,
                Cut::Frame(frame) => Message::decode(&frame),
                Cut::Oversized => None,
            };
            let is_understood = match (message, from) {
                (Some(Message::Hello(id)), None) => self.introduce(connection, id),
                (Some(message), Some(from)) => self.handle_message(connection, from, message),
                _ => false,
            };
            if !is_understood {
                self.hang_up(connection);
                self.learner_lost(connection);
            }
        }
    }

    fn introduce(&mut self, connection: ConnectionId, id: MemberId) -> bool {
        let is_known = self.config.others().any(|member| member.id == id);
        if let Some(open) = self.connections.get_mut(&connection)
            && is_known
        {
            open.identity = Identity::Peer(Some(id));
        }
        is_known
    }

    fn handle_message(
        &mut self,
        connection: ConnectionId,
        from: MemberId,
        message: Message,
    ) -> bool {
        let Message::Notification(heard) = message else {
            return self.handle_learner_message(connection, from, message);
        };
        if matches!(self.role, Role::Looking) {
            let step = self.election.handle_notification(from, heard, self.now_ms());
            self.take_step(step);
        } else if heard.state == State::Looking {
            self.send_vote(from);
        }
        true
    }

    pub(crate) fn synced(&mut self) {
        match &self.role {
            Role::Looking => {}
            Role::Following(_) => self.follower_synced(),
            Role::Leading(_) => self.leader_synced(),
        }
    }
}
