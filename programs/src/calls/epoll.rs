use super::poll::with_synonyms;
use super::{Call, Outcome, fail_with};
use crate::file::{Kind, Watched};
use crate::group::Group;
use crate::process::Interest;
use crate::ready::{ERR, HUP};
use std::collections::BTreeMap;

const EDGE: u32 = libc::EPOLLET as u32;
const ONCE: u32 = libc::EPOLLONESHOT as u32;
const EVENT: u64 = 12;

impl Group {
    pub(super) fn epoll_create(&mut self, call: &Call) -> Outcome {
        let native = self.inject(call.thread, (call.number, call.arguments));
        self.adopt_result(call, native, Kind::Epoll(BTreeMap::new()))
    }

    pub(super) fn epoll_ctl(&mut self, call: &Call) -> Outcome {
        let [_, operation, target, event, ..] = call.arguments;
        let target = target as i32;
        let Some(set) = self.file_of(call) else { return fail_with(libc::EBADF) };
        let Some(file) = self.file(call.process, target) else {
            return fail_with(libc::EPERM);
        };
        let (events, data) = (call.memory.u32(event), call.memory.u64(event + 4));
        let Some(watched) = self.files.epoll(set) else { return fail_with(libc::EINVAL) };
        let is_there = watched.get(&target).is_some_and(|known| known.file == file);
        match operation as i32 {
            libc::EPOLL_CTL_ADD if is_there => return fail_with(libc::EEXIST),
            libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL if !is_there => {
                return fail_with(libc::ENOENT);
            }
            libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD => {
                let new = Watched { file, events, data, seen: None, has_fired: false };
                watched.insert(target, new);
            }
            libc::EPOLL_CTL_DEL => {
                watched.remove(&target);
            }
            _ => return fail_with(libc::EINVAL),
        }
        self.files.has_changed = true;
        Outcome::Done(0)
    }

    pub(super) fn epoll_wait(&mut self, call: &Call) -> Outcome {
        let [_, at, most, timeout, ..] = call.arguments;
        let Some(set) = self.file_of(call) else { return fail_with(libc::EBADF) };
        if most as i32 <= 0 {
            return fail_with(libc::EINVAL);
        }
        let Some(watched) = self.files.epoll(set) else { return fail_with(libc::EINVAL) };
        let watched: Vec<(i32, Watched)> = watched.iter().map(|(key, it)| (*key, *it)).collect();
        let mut found = 0;
        for (descriptor, entry) in watched {
            if found >= most {
                break;
            }
            let Some(mask) = self.event_of(call, &entry) else { continue };
            call.memory.write(at + EVENT * found, &mask.to_le_bytes());
            call.memory.write(at + EVENT * found + 4, &entry.data.to_le_bytes());
            found += 1;
            let seen = self.files.edges(entry.file);
            if let Some(entry) = self.files.epoll(set).and_then(|set| set.get_mut(&descriptor)) {
                entry.seen = Some(seen);
                entry.has_fired = entry.events & ONCE != 0;
            }
        }
        let after = if call.number == libc::SYS_epoll_pwait2 {
            (timeout != 0).then(|| call.timespec_ns(timeout).unwrap_or(0))
        } else {
            u64::try_from(timeout as i32).ok().map(|ms| ms * 1_000_000)
        };
        if found > 0 || call.has_expired || after == Some(0) {
            return Outcome::Done(found as i64);
        }
        call.block(Interest::Files, call.deadline(after))
    }

    fn event_of(&self, call: &Call, entry: &Watched) -> Option<u32> {
        if entry.has_fired {
            return None;
        }
        let mask = with_synonyms(self.readiness_for(call, entry.file));
        let mask = mask & (entry.events | ERR | HUP);
        let is_old = entry.events & EDGE != 0 && entry.seen == Some(self.files.edges(entry.file));
        (mask != 0 && !is_old).then_some(mask)
    }
}
