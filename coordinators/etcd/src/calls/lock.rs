//! The server-side lock, `/v3/lock/lock` and `/v3/lock/unlock` (`api/v3lock/lock.go`). A caller's
//! key is `<name>/<lease in hex>`, and the contender with the oldest key holds the lock. etcd
//! 3.4.23 reports success even if the waiter's key has expired with its lease (etcd issue 11456);
//! etcd 3.5.0 checks the key first (`b14c7cd44`).

use crate::locking::{Locking, Stage, TTL};
use crate::pending::Task;
use crate::refusal::Refusal;
use crate::reply::Message;
use crate::server::Etcd;
use crate::state::{Command, Outcome};

impl Etcd {
    fn locking(&mut self, call: u64) -> Option<&mut Locking> {
        match &mut self.calls.pending.get_mut(&call)?.task {
            Task::Lock(locking) => Some(locking),
            _ => None,
        }
    }

    pub(super) fn lock_on(&mut self, call: u64, last: Option<Result<Outcome, Refusal>>) {
        let Some(locking) = self.locking(call) else { return };
        let outcome = match last {
            None => return self.begin_lock(call),
            Some(Err(refusal)) => return self.fail_lock(call, refusal),
            Some(Ok(outcome)) => outcome,
        };
        match locking.stage.clone() {
            Stage::Granting => {
                if let Outcome::LeaseGrant { id, .. } = outcome {
                    locking.lease = id;
                }
                let command = locking.enter();
                self.propose_lock(call, command);
            }
            Stage::Entering if locking.entered(&outcome) => self.finish_lock(call, &outcome),
            Stage::Entering => self.read_first_key(call),
            Stage::Looking => self.check_first_key(call, outcome),
            Stage::Checking => match &outcome {
                Outcome::Range(found) if !found.kvs.is_empty() => self.finish_lock(call, &outcome),
                _ => self.conclude(call, Err(Refusal::SessionExpired)),
            },
            Stage::Leaving(refusal) => self.conclude(call, Err(refusal)),
            Stage::Unlocking => {
                let header = self.responder().header(outcome.revision());
                self.conclude(call, Ok(Message::new().message("header", header).end()));
            }
            Stage::Waiting(_) => {}
        }
    }

    fn begin_lock(&mut self, call: u64) {
        let id = self.calls.next_id().cast_signed() & i64::MAX;
        let Some(locking) = self.locking(call) else { return };
        let command = match &locking.stage {
            Stage::Unlocking if locking.key.is_empty() => {
                let refusal = Refusal::Unknown(Box::new(Refusal::EmptyKey));
                return self.conclude(call, Err(refusal));
            }
            Stage::Unlocking => locking.leave(),
            _ if locking.lease == 0 => Command::LeaseGrant { id, ttl: TTL },
            _ => locking.enter(),
        };
        self.propose_lock(call, command);
    }

    fn propose_lock(&mut self, call: u64, command: Command) {
        self.restart(call);
        if !self.propose_for(call, command.clone())
            && let Some(locking) = self.locking(call)
        {
            locking.unproposed = Some(command);
        }
    }

    pub(super) fn propose_locks(&mut self) {
        let calls: Vec<u64> = self.calls.pending.keys().copied().collect();
        for call in calls {
            if let Some(command) = self.locking(call).and_then(|it| it.unproposed.take()) {
                self.propose_lock(call, command);
            }
        }
    }

    pub(super) fn read_first_key(&mut self, call: u64) {
        self.restart(call);
        let Some(locking) = self.locking(call) else { return };
        locking.stage = Stage::Looking;
        self.read(call);
    }

    fn check_first_key(&mut self, call: u64, outcome: Outcome) {
        let checks = self.config.lock_checks_key;
        let Outcome::Range(found) = &outcome else { return };
        match found.kvs.first() {
            Some(kv) => {
                let key = kv.key.clone();
                let Some(locking) = self.locking(call) else { return };
                locking.stage = Stage::Waiting(key);
                self.wait_for_ever(call);
            }
            None if checks => {
                self.restart(call);
                let Some(locking) = self.locking(call) else { return };
                locking.stage = Stage::Checking;
                self.read(call);
            }
            None => self.finish_lock(call, &outcome),
        }
    }

    fn finish_lock(&mut self, call: u64, outcome: &Outcome) {
        let header = self.responder().header(outcome.revision());
        let Some(locking) = self.locking(call) else { return };
        let key = locking.key.clone();
        let text = Message::new().message("header", header).bytes("key", &key).end();
        self.conclude(call, Ok(text));
    }

    fn fail_lock(&mut self, call: u64, refusal: Refusal) {
        let Some(locking) = self.locking(call) else { return };
        let refusal = Refusal::Unknown(Box::new(refusal));
        match locking.stage {
            Stage::Looking | Stage::Waiting(_) | Stage::Checking => {
                locking.stage = Stage::Leaving(refusal);
                let command = locking.leave();
                self.propose_lock(call, command);
            }
            Stage::Leaving(_) | Stage::Granting | Stage::Entering | Stage::Unlocking => {
                self.conclude(call, Err(refusal));
            }
        }
    }

    pub(super) fn give_up_lock(&mut self, call: u64) {
        let Some(locking) = self.locking(call) else { return };
        if matches!(locking.stage, Stage::Looking | Stage::Waiting(_) | Stage::Checking) {
            self.fail_lock(call, Refusal::NoLeader);
        }
    }
}
