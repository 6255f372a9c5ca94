//! The tasks of all hosts, with one queue of ready tasks for each host. A wake puts the task's key
//! on a thread-local list, and the world later moves the keys to the queues. The waker's pointer is
//! the key, so a waker needs no reference to the world and cloning a waker is free. A wake panics
//! on a thread that never had a world, where the task would never run.

use super::agenda::HostIndex;
use fencepost_clients::env::TaskKey;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::task::{RawWaker, RawWakerVTable, Waker};

pub(crate) type TaskFuture = Pin<Box<dyn Future<Output = ()>>>;

thread_local! {
    static WOKEN: RefCell<Vec<TaskKey>> = const { RefCell::new(Vec::new()) };
    /// `true` if the list of woken tasks may contain keys. Cheaper to read than the list.
    static ANY_WOKEN: Cell<bool> = const { Cell::new(false) };
    static HAS_WORLDS: Cell<bool> = const { Cell::new(false) };
}

#[derive(Default)]
pub(crate) struct Tasks {
    slots: Vec<Slot>,
    free: Vec<u32>,
    ready: Vec<VecDeque<TaskKey>>,
}

struct Slot {
    generation: u32,
    host: HostIndex,
    queued: bool,
    future: Option<TaskFuture>,
}

const _: () =
    assert!(size_of::<usize>() >= size_of::<TaskKey>(), "a task's key fits into a pointer");

static WAKER: RawWakerVTable =
    RawWakerVTable::new(|key| RawWaker::new(key, &WAKER), wake, wake, |_| {});

fn wake(key: *const ()) {
    assert!(
        HAS_WORLDS.get(),
        "a task of a simulation was woken by a thread that has no world: locks run on one thread"
    );
    WOKEN.with_borrow_mut(|woken| woken.push(TaskKey(key.addr() as u64)));
    ANY_WOKEN.set(true);
}

pub(crate) fn waker_of(key: TaskKey) -> Waker {
    // SAFETY: the table's functions own nothing, never follow the pointer, and are safe to call on
    // any thread.
    unsafe { Waker::from_raw(RawWaker::new(ptr::without_provenance(key.0 as usize), &WAKER)) }
}

impl Tasks {
    pub(crate) fn new(hosts: usize) -> Tasks {
        WOKEN.with_borrow_mut(Vec::clear);
        HAS_WORLDS.set(true);
        Tasks { ready: (0..hosts).map(|_| VecDeque::new()).collect(), ..Tasks::default() }
    }

    pub(crate) fn add(&mut self, host: HostIndex, future: TaskFuture) -> TaskKey {
        let index = self.free.pop().unwrap_or(self.slots.len() as u32);
        let generation = self.slots.get(index as usize).map_or(0, |slot| slot.generation + 1);
        let key = TaskKey(u64::from(generation) << 32 | u64::from(index));
        let slot = Slot { generation, host, queued: true, future: Some(future) };
        match self.slots.get_mut(index as usize) {
            Some(place) => *place = slot,
            None => self.slots.push(slot),
        }
        self.ready[usize::from(host)].push_back(key);
        key
    }

    #[inline]
    pub(crate) fn queue_woken(&mut self) {
        if ANY_WOKEN.get() {
            self.queue_list();
        }
    }

    #[cold]
    fn queue_list(&mut self) {
        ANY_WOKEN.set(false);
        WOKEN.with_borrow_mut(|woken| woken.drain(..).for_each(|key| self.queue(key)));
    }

    pub(crate) fn wake(&mut self, waker: Waker) {
        if ptr::eq(waker.vtable(), &WAKER) {
            self.queue_woken();
            self.queue(TaskKey(waker.data().addr() as u64));
        } else {
            waker.wake();
        }
    }

    fn queue(&mut self, key: TaskKey) {
        if let Some(slot) = self.slot(key)
            && !slot.queued
        {
            slot.queued = true;
            let host = slot.host;
            self.ready[usize::from(host)].push_back(key);
        }
    }

    #[inline(always)]
    pub(crate) fn take_ready(&mut self, host: HostIndex) -> Option<(TaskKey, TaskFuture)> {
        if self.ready[usize::from(host)].is_empty() { None } else { self.take_first_ready(host) }
    }

    fn take_first_ready(&mut self, host: HostIndex) -> Option<(TaskKey, TaskFuture)> {
        while let Some(key) = self.ready[usize::from(host)].pop_front() {
            let Some(slot) = self.slot(key) else { continue };
            slot.queued = false;
            if let Some(future) = slot.future.take() {
                return Some((key, future));
            }
        }
        None
    }

    /// Returns the future if its task is gone. Drop the future while the state is not borrowed.
    pub(crate) fn put_back(&mut self, key: TaskKey, future: TaskFuture) -> Option<TaskFuture> {
        match self.slot(key) {
            Some(slot) => {
                slot.future = Some(future);
                None
            }
            None => Some(future),
        }
    }

    /// The caller must drop the future while the state is not borrowed.
    pub(crate) fn remove(&mut self, key: TaskKey) -> Option<TaskFuture> {
        let slot = self.slot(key)?;
        slot.generation += 1;
        slot.queued = false;
        let future = slot.future.take();
        self.free.push(index(key) as u32);
        future
    }

    pub(crate) fn remove_all(&mut self, host: HostIndex) -> Vec<TaskFuture> {
        self.ready[usize::from(host)].clear();
        let mut futures = Vec::new();
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            if slot.host == host && slot.future.is_some() {
                slot.generation += 1;
                slot.queued = false;
                futures.extend(slot.future.take());
                self.free.push(index as u32);
            }
        }
        futures
    }

    fn slot(&mut self, key: TaskKey) -> Option<&mut Slot> {
        self.slots.get_mut(index(key)).filter(|slot| u64::from(slot.generation) == key.0 >> 32)
    }
}

fn index(key: TaskKey) -> usize {
    (key.0 & 0xffff_ffff) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_task() -> (Tasks, TaskKey) {
        let mut tasks = Tasks::new(1);
        let key = tasks.add(0, Box::pin(std::future::pending()));
        let (taken, future) = tasks.take_ready(0).expect("a new task is ready");
        assert_eq!(taken, key);
        assert!(tasks.put_back(key, future).is_none());
        (tasks, key)
    }

    #[test]
    fn accepts_a_wake_on_the_thread_of_the_world() {
        let (mut tasks, key) = one_task();
        waker_of(key).wake();
        tasks.queue_woken();
        assert_eq!(tasks.take_ready(0).map(|(ready, _)| ready), Some(key));
    }

    #[test]
    fn rejects_a_wake_on_a_thread_without_a_world() {
        let (_tasks, key) = one_task();
        let waker = waker_of(key);
        let woken = std::thread::scope(|scope| scope.spawn(|| waker.wake()).join());
        assert!(woken.is_err(), "nobody would have heard of it");
    }
}
