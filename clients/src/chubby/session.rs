//! A client's session with a Chubby cell (2.8). The client keeps one KeepAlive pending.
//!
//! - The **local lease** begins when the client sends the KeepAlive, and is shorter than the
//!   master's by a sixteenth, because clocks run at different rates.
//! - When the local lease ends, the session is **in jeopardy**: the library blocks all calls and
//!   looks for a master for a **grace period** of 45 s, after which the session counts as expired.
//! - Each request in the session carries the last known master epoch number (2.9).

use super::cell::Cell as Cluster;
use crate::call_error::CallError;
use crate::env::{Monotonic, Spawned};
use crate::stream::Stream;
use crate::task::{Notified, Notify};
use std::cell::Cell;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

/// Maximum time that a session stays in jeopardy (2.8: "45s by default").
pub const GRACE: Duration = Duration::from_secs(45);
const AGAIN: RangeInclusive<Duration> = Duration::from_millis(50)..=Duration::from_millis(150);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Safe,
    Jeopardy,
    Expired,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    Expired {
        may_have_applied: bool,
    },
    Refused(String),
    /// The call reached its deadline or was interrupted. The cell may have executed it.
    Late(String),
}

/// A dropped session expires at the master, because its KeepAlives stop.
pub struct Session {
    cell: Rc<Cluster>,
    shared: Rc<Shared>,
    task: Option<Spawned>,
}

struct Shared {
    id: u64,
    epoch: Cell<u64>,
    events: Cell<u64>,
    status: Cell<Status>,
    lease_until: Cell<Monotonic>,
    changed: Notify,
    acquires: Cell<u64>,
}

impl Session {
    pub async fn open(cell: &Rc<Cluster>, deadline: Monotonic) -> Result<Session, Failure> {
        let mut attempts = Attempts::until(deadline);
        loop {
            let sent = cell.env().monotonic_clock();
            let answer = attempts.call_until_answered(cell, "open").await?;
            if let [word, id, epoch, lease] = &answer[..]
                && word == "session"
                && let (Ok(id), Ok(epoch), Ok(lease)) = (id.parse(), epoch.parse(), lease.parse())
            {
                let shared = Rc::new(Shared {
                    id,
                    epoch: Cell::new(epoch),
                    events: Cell::new(0),
                    status: Cell::new(Status::Safe),
                    lease_until: Cell::new(sent.plus(shortened(lease))),
                    changed: Notify::new(),
                    acquires: Cell::new(0),
                });
                let task = cell.env().spawn(keep_alive(cell.clone(), shared.clone()));
                return Ok(Session { cell: cell.clone(), shared, task: Some(task) });
            }
            attempts.retry_after(cell, &answer).await?;
        }
    }

    pub fn status(&self) -> Status {
        self.shared.status.get()
    }

    pub fn id(&self) -> u64 {
        self.shared.id
    }

    pub fn next_acquire(&self) -> u64 {
        self.shared.acquires.set(self.shared.acquires.get() + 1);
        self.shared.acquires.get()
    }

    pub fn changed(&self) -> Notified {
        self.shared.changed.notified()
    }

    pub async fn wait_until_unsafe(&self) {
        loop {
            let changed = self.changed();
            if self.status() != Status::Safe {
                return;
            }
            changed.await;
        }
    }

    /// Repeats the call until the deadline if necessary, because all calls are idempotent.
    pub async fn call(
        &self,
        verb: &str,
        words: &str,
        deadline: Monotonic,
    ) -> Result<Vec<String>, Failure> {
        let mut attempts = Attempts::until(deadline);
        loop {
            self.wait_until_safe(&attempts).await?;
            let (id, epoch) = (self.shared.id, self.shared.epoch.get());
            let request = format!("{verb} {id} {epoch} {words}");
            let answer = attempts.call_until_answered(&self.cell, &request).await?;
            match answer.first().map(String::as_str) {
                Some("expired") => {
                    self.shared.become_status(Status::Expired);
                    return Err(attempts.expired());
                }
                Some("epoch" | "busy" | "not-master") | None => {
                    attempts.retry_after(&self.cell, &answer).await?;
                }
                Some("full" | "error") => return Err(Failure::Refused(answer.join(" "))),
                Some(_) => return Ok(answer),
            }
        }
    }

    async fn wait_until_safe(&self, attempts: &Attempts) -> Result<(), Failure> {
        loop {
            let changed = self.changed();
            match self.status() {
                Status::Safe => return Ok(()),
                Status::Expired => return Err(attempts.expired()),
                Status::Jeopardy => {}
            }
            let env = self.cell.env();
            let left = attempts.deadline.since(env.monotonic_clock());
            if env.timeout(left, changed).await.is_none() || env.is_interrupted() {
                return Err(Failure::Late("the session is in jeopardy".to_owned()));
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

struct Attempts {
    deadline: Monotonic,
    may_have_applied: bool,
}

impl Attempts {
    fn until(deadline: Monotonic) -> Attempts {
        Attempts { deadline, may_have_applied: false }
    }

    fn expired(&self) -> Failure {
        Failure::Expired { may_have_applied: self.may_have_applied }
    }

    async fn call_until_answered(
        &mut self,
        cell: &Cluster,
        request: &str,
    ) -> Result<Vec<String>, Failure> {
        loop {
            match cell.call(request).await {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    self.may_have_applied |= error.may_have_applied();
                    self.wait(cell, error.to_string()).await?;
                }
            }
        }
    }

    async fn retry_after(&self, cell: &Cluster, answer: &[String]) -> Result<(), Failure> {
        self.wait(cell, format!("the cell answered {}", answer.join(" "))).await
    }

    async fn wait(&self, cell: &Cluster, why: String) -> Result<(), Failure> {
        let (env, delay) = (cell.env(), cell.env().jitter(&AGAIN));
        if env.is_interrupted() || env.monotonic_clock().plus(delay) >= self.deadline {
            return Err(Failure::Late(why));
        }
        env.sleep(delay).await;
        if env.is_interrupted() { Err(Failure::Late(why)) } else { Ok(()) }
    }
}

fn shortened(micros: u64) -> Duration {
    Duration::from_micros(micros - micros / 16)
}

impl Shared {
    fn become_status(&self, status: Status) {
        if self.status.get() != Status::Expired && self.status.replace(status) != status {
            self.changed.notify_all();
        }
    }

    fn left(&self, now: Monotonic) -> Duration {
        let end = match self.status.get() {
            Status::Safe => self.lease_until.get(),
            Status::Jeopardy | Status::Expired => self.lease_until.get().plus(GRACE),
        };
        end.since(now)
    }

    fn downgrade_status(&self) {
        self.become_status(match self.status.get() {
            Status::Safe => Status::Jeopardy,
            Status::Jeopardy | Status::Expired => Status::Expired,
        });
    }

    fn handle_answer(&self, sent: Monotonic, answer: &[String]) -> Option<()> {
        let number = |at: usize| answer.get(at)?.parse::<u64>().ok();
        match answer.first()?.as_str() {
            "expired" => self.become_status(Status::Expired),
            "alive" => {
                let (epoch, held, lease) = (number(1)?, number(2)?, number(3)?);
                let lease = shortened(held.saturating_add(lease));
                self.lease_until.set(self.lease_until.get().max(sent.plus(lease)));
                let events = number(4)?;
                self.become_status(Status::Safe);
                let is_other_master = self.epoch.replace(epoch) != epoch;
                if self.events.replace(events) != events || is_other_master {
                    self.changed.notify_all();
                }
            }
            _ => return None,
        }
        Some(())
    }
}

async fn keep_alive(cell: Rc<Cluster>, shared: Rc<Shared>) {
    let (env, mut link) = (cell.env().clone(), None);
    while shared.status.get() != Status::Expired {
        let left = shared.left(env.monotonic_clock());
        if left.is_zero() {
            shared.downgrade_status();
            continue;
        }
        let delay = match env.timeout(left, send_keep_alive(&cell, &shared, &mut link)).await {
            Some(Ok(Some(()))) | None => continue,
            Some(Ok(None) | Err(_)) => env.jitter(&AGAIN),
        };
        env.sleep(delay.min(shared.left(env.monotonic_clock()))).await;
    }
}

async fn send_keep_alive(
    cell: &Cluster,
    shared: &Shared,
    link: &mut Option<Stream>,
) -> Result<Option<()>, CallError> {
    let mut stream = match link.take() {
        Some(stream) => stream,
        None => cell.find().await?,
    };
    stream.lift_limit();
    let sent = cell.env().monotonic_clock();
    let (id, epoch, events) = (shared.id, shared.epoch.get(), shared.events.get());
    let answer = stream.exchange(&format!("keepalive {id} {epoch} {events}")).await?;
    let understood = shared.handle_answer(sent, &answer);
    *link = understood.map(|()| stream);
    Ok(understood)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared() -> Shared {
        Shared {
            id: 1,
            epoch: Cell::new(1),
            events: Cell::new(0),
            status: Cell::new(Status::Safe),
            lease_until: Cell::new(Monotonic(0)),
            changed: Notify::new(),
            acquires: Cell::new(0),
        }
    }

    fn words(answer: &str) -> Vec<String> {
        answer.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_local_lease_ends_before_the_lease_at_the_master() {
        let shared = shared();
        let sent = Monotonic(1_000_000);
        shared.handle_answer(sent, &words("alive 1 8000000 12000000 0")).unwrap();
        // The lease is 8 s (KeepAlive held by the master) plus 12 s (granted), less a sixteenth.
        assert_eq!(shared.left(sent), Duration::from_millis(18_750));
        shared.handle_answer(Monotonic(0), &words("alive 1 0 12000000 0")).unwrap();
        assert_eq!(shared.left(sent), Duration::from_millis(18_750), "a lease never gets shorter");
    }

    #[test]
    fn a_session_in_jeopardy_expires_after_the_grace_period_unless_a_keepalive_is_answered() {
        let shared = shared();
        let end = Monotonic(0);
        assert!(shared.left(end).is_zero());
        shared.downgrade_status();
        assert_eq!((shared.status.get(), shared.left(end)), (Status::Jeopardy, GRACE));
        shared.handle_answer(end, &words("alive 2 0 12000000 1 failed-over")).unwrap();
        assert_eq!((shared.status.get(), shared.epoch.get()), (Status::Safe, 2));
        shared.downgrade_status();
        shared.downgrade_status();
        assert_eq!(shared.status.get(), Status::Expired);
        shared.handle_answer(end, &words("alive 2 0 12000000 1"));
        assert_eq!(shared.status.get(), Status::Expired, "it was given up");
    }

    #[test]
    fn what_is_no_answer_to_a_keepalive_changes_nothing() {
        for answer in ["busy", "not-master", "alive 1 x 0 0", "alive 1", "error nonsense"] {
            assert_eq!(shared().handle_answer(Monotonic(0), &words(answer)), None, "{answer}");
        }
        let shared = shared();
        shared.handle_answer(Monotonic(0), &words("expired")).unwrap();
        assert_eq!(shared.status.get(), Status::Expired);
    }
}
