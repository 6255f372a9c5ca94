//! Emulates System V shared memory. Processes share a segment only if one attaches it and forks.

use super::{Call, Outcome, fail_with};
use crate::group::Group;
use crate::segment::Segment;

/// Size of `struct shmid_ds`, and the offsets in it of the segment size and the attach count.
const INFORMATION: usize = 112;
const SIZE_AT: usize = 48;
const ATTACHED_AT: usize = 88;

impl Group {
    pub(super) fn shared_memory_call(&mut self, call: &Call) -> Option<Outcome> {
        let [a, b, c, ..] = call.arguments;
        Some(match call.number {
            libc::SYS_shmget => self.get_segment(a as i32, b, c as i32),
            libc::SYS_shmat => self.attach_segment(call, a as i32),
            libc::SYS_shmdt => self.detach_segment(call, a),
            libc::SYS_shmctl => self.control_segment(call, (a as i32, b as i32), c),
            _ => return None,
        })
    }

    fn get_segment(&mut self, key: i32, size: u64, flags: i32) -> Outcome {
        let has_key = |segment: &&Segment| key != libc::IPC_PRIVATE && segment.key == key;
        if let Some(place) = self.segments.iter().flatten().position(|it| has_key(&it)) {
            return match flags & libc::IPC_EXCL {
                0 => Outcome::Done(place as i64),
                _ => fail_with(libc::EEXIST),
            };
        }
        if key != libc::IPC_PRIVATE && flags & libc::IPC_CREAT == 0 {
            return fail_with(libc::ENOENT);
        }
        self.segments.push(Some(Segment { key, size, at: None }));
        Outcome::Done(self.segments.len() as i64 - 1)
    }

    fn attach_segment(&mut self, call: &Call, number: i32) -> Outcome {
        let Some(segment) = self.segment(number) else { return fail_with(libc::EINVAL) };
        if segment.at.is_some() {
            let why = "attached a segment of shared memory a second time";
            return Outcome::Refused(format!("{why}, which is not emulated"));
        }
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        let arguments = [0, segment.size, access as u64, kind as u64, u64::MAX, 0];
        let at = self.inject(call.thread, (libc::SYS_mmap, arguments));
        if let Some(segment) = self.segment(number).filter(|_| at > 0) {
            segment.at = Some(at as u64);
        }
        Outcome::Done(at)
    }

    fn detach_segment(&mut self, call: &Call, at: u64) -> Outcome {
        let mut segments = self.segments.iter().flatten();
        let Some(size) = segments.find(|it| it.at == Some(at)).map(|it| it.size) else {
            return fail_with(libc::EINVAL);
        };
        Outcome::Done(self.inject(call.thread, (libc::SYS_munmap, [at, size, 0, 0, 0, 0])))
    }

    fn control_segment(&mut self, call: &Call, (number, command): (i32, i32), at: u64) -> Outcome {
        let Some(segment) = self.segment(number) else { return fail_with(libc::EINVAL) };
        match command {
            libc::IPC_STAT => {
                let mut told = [0; INFORMATION];
                told[SIZE_AT..SIZE_AT + 8].copy_from_slice(&segment.size.to_le_bytes());
                told[ATTACHED_AT] = u8::from(segment.at.is_some());
                call.memory.write(at, &told);
                Outcome::Done(0)
            }
            libc::IPC_RMID => {
                self.segments[number as usize] = None;
                Outcome::Done(0)
            }
            _ => fail_with(libc::EINVAL),
        }
    }

    fn segment(&mut self, number: i32) -> Option<&mut Segment> {
        self.segments.get_mut(usize::try_from(number).ok()?)?.as_mut()
    }
}
