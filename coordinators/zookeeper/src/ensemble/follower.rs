//! A follower's role: to serve clients from its own tree, which may lag behind the leader's.

use super::FRAME_MAX;
use crate::config::MemberId;
use crate::connection::{Cut, cut};
use crate::member::follower::{Follower, Stage};
use crate::member::links;
use crate::member::message::{Message, Progress, Vote};
use crate::prepare::Request;
use crate::server::{Role, ZooKeeper};
use crate::store::{Epochs, Replaced};
use crate::transaction::Transaction;
use crate::tree::Tree;
use bytes::BytesMut;
use fencepost_machine::ConnectionId;
use std::collections::BTreeMap;

const CALLS_MAX: u32 = 5;
const CALL_AGAIN_MS: u64 = 100;

impl ZooKeeper {
    pub(super) fn follow(&mut self, leader: MemberId) {
        let Some(link) = self.links.dial(&self.config, leader, &mut self.out.list) else {
            return self.start_election();
        };
        self.role = Role::Following(Follower {
            leader,
            link,
            stage: Stage::Calling,
            input: BytesMut::new(),
            calls: 1,
            call_again_at: None,
            give_up_at: self.now_ms() + self.config.init_ms(),
            acked: -1,
            touched: BTreeMap::new(),
            revalidating: BTreeMap::new(),
        });
    }

    fn following(&mut self) -> Option<&mut Follower> {
        match &mut self.role {
            Role::Following(follower) => Some(follower),
            Role::Looking | Role::Leading(_) => None,
        }
    }

    fn send_to_leader(&mut self, message: &Message) {
        if let Some(link) = self.following().map(|follower| follower.link) {
            self.send(link, message.encode());
        }
    }

    pub(super) fn leader_reached(&mut self, connection: ConnectionId) {
        let Some(follower) = self.following().filter(|one| one.link == connection) else { return };
        follower.stage = Stage::Informed;
        self.send(connection, links::greeting(self.config.me));
        let accepted = self.store.epochs().accepted;
        self.send_to_leader(&Message::FollowerInfo { accepted });
    }

    /// Retries if the connection ends early: the leader may not know yet that it was elected.
    pub(crate) fn leader_lost(&mut self, connection: ConnectionId) {
        let now_ms = self.now_ms();
        let Some(follower) = self.following().filter(|one| one.link == connection) else { return };
        let is_early = matches!(follower.stage, Stage::Calling | Stage::Informed);
        if is_early && follower.calls < CALLS_MAX {
            follower.stage = Stage::Calling;
            follower.input.clear();
            follower.call_again_at = Some(now_ms + CALL_AGAIN_MS);
        } else {
            self.start_election();
        }
    }

    pub(crate) fn wake_follower(&mut self) {
        let now_ms = self.now_ms();
        let Some(follower) = self.following() else { return };
        if follower.give_up_at <= now_ms {
            return self.start_election();
        }
        if follower.call_again_at.is_none_or(|at| at > now_ms) {
            return;
        }
        let leader = follower.leader;
        let link = self.links.dial(&self.config, leader, &mut self.out.list);
        if let (Some(follower), Some(link)) = (self.following(), link) {
            follower.call_again_at = None;
            follower.calls += 1;
            follower.link = link;
        }
    }

    pub(crate) fn receive_from_leader(&mut self, connection: ConnectionId, bytes: &[u8]) {
        let (now_ms, init_ms, sync_ms) =
            (self.now_ms(), self.config.init_ms(), self.config.sync_ms());
        let Some(follower) = self.following().filter(|one| one.link == connection) else { return };
        follower.input.extend_from_slice(bytes);
        let limit = if follower.is_serving() { sync_ms } else { init_ms };
        follower.give_up_at = now_ms + limit;
        while let Some(follower) = self.following().filter(|one| one.link == connection) {
            let message = match cut(&mut follower.input, FRAME_MAX) {
                Cut::Incomplete => return,
                Cut::Frame(frame) => Message::decode(&frame),
                Cut::Oversized => None,
            };
            let is_understood = message.is_some_and(|message| self.follow_order(message));
            if !is_understood {
                return self.start_election();
            }
        }
    }

    fn follow_order(&mut self, message: Message) -> bool {
        let Some(follower) = self.following() else { return false };
        let stage = follower.stage;
        match (message, stage) {
            (Message::LeaderInfo { epoch }, Stage::Informed) => return self.accept_epoch(epoch),
            (Message::Truncate { zxid }, Stage::Receiving) => {
                let replaced = self.store.truncate(zxid, &mut self.out.list);
                self.tap_replaced(&replaced);
                return self.store.last_logged() == zxid;
            }
            (Message::Snapshot(tree), Stage::Receiving) => return self.install(*tree),
            (Message::Committed(transaction), Stage::Receiving) => {
                let zxid = transaction.zxid;
                return self.log(transaction) && {
                    self.apply(zxid);
                    true
                };
            }
            (Message::Proposal(transaction), stage) if stage != Stage::Informed => {
                return self.log(transaction);
            }
            (Message::NewLeader { epoch }, Stage::Receiving) => {
                let zxid = self.store.last_logged();
                follower_stage(&mut self.role, Stage::Securing { epoch, zxid });
                self.store.sync(&mut self.out.list);
                self.follower_synced();
            }
            (Message::UpToDate, Stage::Level) => self.serve_as_follower(),
            (Message::Commit { zxid }, stage) if stage != Stage::Informed => self.apply(zxid),
            (Message::Ping, _) => {
                let touched = std::mem::take(&mut follower.touched).into_iter().collect();
                self.send_to_leader(&Message::Pong { touched });
            }
            (Message::Synced { session, cxid }, Stage::Serving) => self.finish_sync(session, cxid),
            (Message::Revalidated { session, is_valid }, Stage::Serving) => {
                if let Some(connection) = follower.revalidating.remove(&session) {
                    self.establish(connection, is_valid);
                }
            }
            _ => return false,
        }
        true
    }

    fn accept_epoch(&mut self, epoch: u32) -> bool {
        let own = self.store.epochs();
        if epoch < own.accepted {
            return false;
        }
        let is_new = epoch > own.accepted;
        if is_new {
            self.store.set_epochs(Epochs { accepted: epoch, ..own }, &mut self.out.list);
        }
        follower_stage(&mut self.role, Stage::Receiving);
        let progress = Progress { last: self.store.last_logged(), base: self.store.base_zxid() };
        self.send_to_leader(&Message::AckEpoch { current: own.current, is_new, progress });
        true
    }

    fn log(&mut self, transaction: Transaction) -> bool {
        if transaction.zxid <= self.store.last_logged() {
            return false;
        }
        self.store.append(transaction, &mut self.out.list);
        let is_secured = !matches!(
            self.following().map(|follower| follower.stage),
            Some(Stage::Calling | Stage::Informed | Stage::Receiving)
        );
        if is_secured {
            self.store.sync(&mut self.out.list);
        }
        true
    }

    fn install(&mut self, tree: Tree) -> bool {
        if tree.get("/").is_none() {
            return false;
        }
        let replaced = self.store.install(tree, &mut self.out.list);
        self.tap_replaced(&replaced);
        true
    }

    fn tap_replaced(&mut self, replaced: &Replaced) {
        let told = self.heads.compare_heads(Some(&replaced.before), &self.store.tree);
        self.report(told, None);
    }

    pub(super) fn follower_synced(&mut self) {
        let synced = self.store.synced();
        let Some(follower) = self.following() else { return };
        if let Stage::Securing { epoch, zxid } = follower.stage
            && synced >= zxid
        {
            follower.stage = Stage::Level;
            let leader = follower.leader;
            self.election.settle(Vote { epoch, zxid, leader });
            self.store.set_epochs(Epochs { accepted: epoch, current: epoch }, &mut self.out.list);
            self.send_to_leader(&Message::AckNewLeader);
        }
        let Some(follower) = self.following() else { return };
        let may_ack = matches!(follower.stage, Stage::Level | Stage::Serving);
        if may_ack && synced > follower.acked {
            follower.acked = synced;
            self.send_to_leader(&Message::Ack { zxid: synced });
        }
    }

    fn serve_as_follower(&mut self) {
        let give_up_at = self.now_ms() + self.config.sync_ms();
        if let Some(follower) = self.following() {
            follower.stage = Stage::Serving;
            follower.give_up_at = give_up_at;
        }
    }

    pub(crate) fn forward(&mut self, request: Request) {
        self.send_to_leader(&Message::Forward(request));
    }

    pub(crate) fn ask_for_sync(&mut self, session: i64, cxid: i32) {
        match &self.role {
            Role::Leading(_) => self.take_sync(self.config.me, session, cxid),
            Role::Following(_) => self.send_to_leader(&Message::Sync { session, cxid }),
            Role::Looking => {}
        }
    }

    pub(crate) fn ask_leader_to_revalidate(
        &mut self,
        connection: ConnectionId,
        session: i64,
        timeout_ms: i32,
    ) {
        if let Some(follower) = self.following() {
            follower.revalidating.insert(session, connection);
        }
        self.send_to_leader(&Message::Revalidate { session, timeout_ms });
    }
}

fn follower_stage(role: &mut Role, stage: Stage) {
    if let Role::Following(follower) = role {
        follower.stage = stage;
    }
}
