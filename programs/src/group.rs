//! A group of processes, and the order in which its threads run.

mod clock_reads;
mod end;
mod signals;
mod spin;
mod used;
mod wake;

pub(crate) use end::{Turn, blocked_in};
pub(crate) use spin::Activity;

use crate::clock::Now;
use crate::file::{FileId, Files, Kind};
use crate::interface::{
    CallMade, Channel, Clocks, Ending, FilesUsed, Launch, News, Output, Request, SocketId,
    StartError,
};
use crate::process::{Blocked, Deadline, Interest, Number, Process, State, Thread};
use crate::segment::Segment;
use crate::start::start;
use crate::synced::{Sync, SyncedFiles};
use crate::sys::clock_pages::{Budget, ClockPages};
use crate::sys::memory::Memory;
use crate::sys::spawn::{adopt_orphans, signal_process, stay_on_one_core};
use crate::temporary::TemporaryFiles;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// Usual virtual duration of a call in nanoseconds. Without it, loops that poll a clock never end.
const CALL_NS: u64 = 100;
pub(crate) const AHEAD_MAX_NS: u64 = 100_000;
const OUTPUT_MAX: usize = 64 * 1024;
pub(crate) const THREADS_MAX: usize = 256;
pub(crate) const CALLS_OF_A_SIGNAL: u64 = 50;
pub(crate) const CALLS_OF_A_PROCESS: u64 = 200;
/// Number of calls that an `execve` counts as, so that loops of `execve` reach `CALLS_MAX`.
pub(crate) const CALLS_OF_AN_EXEC: u64 = 2_000;
const LOG_MAX: usize = 4_000_000;

/// Starts a process for the program, and ends it before it executes the program.
pub fn check(launch: &Launch) -> Result<(), StartError> {
    start(launch).map(|tracee| {
        signal_process(tracee.0, libc::SIGKILL);
        tracee.wait_for_exit();
    })
}

/// Searches `folders`, the value of `PATH`, as a shell in `folder` does.
pub fn find_program(name: &str, folder: &Path, folders: &str) -> Result<PathBuf, StartError> {
    crate::start::find(name, folder, folders)
}

pub fn name_of_call(number: u16) -> &'static str {
    crate::names::name(i64::from(number))
}

pub struct Group {
    pub(crate) launch: Launch,
    pub(crate) processes: BTreeMap<Number, Process>,
    pub(crate) threads: BTreeMap<Number, Thread>,
    pub(crate) files: Files,
    pub(crate) requests: Vec<Request>,
    pub(crate) random: ChaCha8Rng,
    pub(crate) next_number: Number,
    pub(crate) numbers: BTreeMap<i32, Number>,
    pub(crate) senders: BTreeMap<(Number, i32), Number>,
    pub(crate) next_socket: u32,
    pub(crate) next_port: u16,
    pub(crate) clock_reads: u32,
    pub(crate) clock_pages: ClockPages,
    pub(crate) budget: Budget,
    pub(crate) ready: VecDeque<Number>,
    pub(crate) clocks: Clocks,
    pub(crate) ahead_ns: u64,
    pub(crate) latest_ns: u64,
    pub(crate) calls_since_wait: u64,
    pub(crate) spins_since_wait: u32,
    pub(crate) output: Vec<Output>,
    pub(crate) output_kept: usize,
    pub(crate) output_dropped: usize,
    pub(crate) log: Vec<CallMade>,
    pub(crate) handed_over: u32,
    pub(crate) preempted: u32,
    pub(crate) used: FilesUsed,
    pub(crate) temporary: TemporaryFiles,
    pub(crate) synced: SyncedFiles,
    pub(crate) syncs: BTreeMap<Number, Sync>,
    pub(crate) sync_errno: Option<i32>,
    pub(crate) has_failed_sync: bool,
    pub(crate) waits: u64,
    pub(crate) segments: Vec<Option<Segment>>,
    /// Devices and inodes of files that the group created in `/dev/shm`.
    pub(crate) shared_files: BTreeSet<(u64, u64)>,
    pub(crate) ending: Option<Ending>,
}

impl Group {
    /// Forks a process for the program. The first [`Group::step`] executes the program.
    pub fn start(launch: &Launch) -> Result<Group, StartError> {
        stay_on_one_core();
        adopt_orphans();
        let tracee = start(launch)?;
        let mut group = Group {
            launch: launch.clone(),
            processes: BTreeMap::new(),
            threads: BTreeMap::new(),
            files: Files::default(),
            requests: Vec::new(),
            random: ChaCha8Rng::seed_from_u64(launch.seed),
            next_number: launch.first_process,
            numbers: BTreeMap::new(),
            senders: BTreeMap::new(),
            next_socket: 0,
            next_port: 40_000,
            clock_reads: 0,
            clock_pages: ClockPages::new()?,
            budget: Budget { monotonic_ns: 0, wall_ns: 0, clock_reads: 0, step_ns: CALL_NS },
            ready: VecDeque::new(),
            clocks: Clocks { wall_us: 0, monotonic_us: 0 },
            ahead_ns: 0,
            latest_ns: 0,
            calls_since_wait: 0,
            spins_since_wait: 0,
            output: Vec::new(),
            output_kept: 0,
            output_dropped: 0,
            log: Vec::new(),
            handed_over: 0,
            preempted: 0,
            used: FilesUsed::default(),
            temporary: TemporaryFiles::within(&launch.temporary),
            synced: SyncedFiles::default(),
            syncs: BTreeMap::new(),
            sync_errno: None,
            has_failed_sync: false,
            waits: 0,
            segments: Vec::new(),
            shared_files: BTreeSet::new(),
            ending: None,
        };
        let descriptors = [(1, Channel::Stdout), (2, Channel::Stderr)]
            .map(|(descriptor, channel)| (descriptor, group.files.open(Kind::Output(channel))));
        let number = group.take_number();
        group.numbers.insert(tracee.0, number);
        let process = Process {
            real: tracee,
            parent: 0,
            process_group: number,
            session: number,
            has_executed: false,
            memory: Memory(tracee.0),
            descriptors: descriptors.into(),
            scratch: None,
            clock: None,
            patched_getpids: Default::default(),
            has_clock_of_parent: false,
            ended: None,
            alarm_ns: None,
            timers: BTreeMap::new(),
            next_timer: 0,
        };
        group.processes.insert(number, process);
        group.threads.insert(number, Thread::new(tracee, number, State::Ready));
        group.queue(number);
        Ok(group)
    }

    pub fn deliver(&mut self, news: News) {
        let (News::Connected(id)
        | News::Refused(id)
        | News::Received(id, _)
        | News::Ended(id)
        | News::Reset(id)) = &news;
        let Some(&file) = self.files.connections.get(id) else { return };
        let Some(socket) = self.files.socket(file) else { return };
        let (id, is_over) = (*id, matches!(news, News::Refused(_) | News::Reset(_)));
        socket.handle_news(news);
        if is_over {
            self.files.connections.remove(&id);
        }
        self.files.raise_edge(file);
    }

    /// Returns the output since the last call. The group keeps at most 64 KiB of output per run.
    pub fn take_output(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.output)
    }

    /// Returns the number of output bytes beyond the first 64 KiB, which the group has discarded.
    pub fn output_dropped(&self) -> usize {
        self.output_dropped
    }

    pub fn calls(&self) -> &[CallMade] {
        &self.log
    }

    /// Returns the files synced since the last call; none unless [`Launch::sync_us`] is set.
    pub fn take_synced(&mut self) -> SyncedFiles {
        std::mem::take(&mut self.synced)
    }

    /// Makes syncs fail with `errno`, if [`Launch::sync_us`] is set. `None` makes them succeed.
    pub fn fail_syncs(&mut self, errno: Option<i32>) {
        self.sync_errno = errno;
    }

    pub fn has_failed_sync(&self) -> bool {
        self.has_failed_sync
    }

    /// Returns how often the group interrupted a thread that was waiting in a loop.
    pub fn preempted(&self) -> u32 {
        self.preempted
    }

    pub(crate) fn now(&mut self) -> Now {
        let ahead = self.ahead_ns;
        let monotonic = (self.clocks.monotonic_us * 1_000 + ahead).max(self.latest_ns);
        self.latest_ns = monotonic;
        Now { wall_ns: self.clocks.wall_us as u64 * 1_000 + ahead, monotonic_ns: monotonic }
    }

    pub(crate) fn charge_call(&mut self) {
        self.calls_since_wait += 1;
        self.ahead_ns += self.clock_read_ns();
    }

    pub(crate) fn record_output(&mut self, channel: Channel, bytes: &[u8]) {
        let kept = bytes.len().min(OUTPUT_MAX - self.output_kept);
        self.output_kept += kept;
        self.output_dropped += bytes.len() - kept;
        if kept > 0 {
            let monotonic_us = self.now().monotonic_ns / 1_000;
            let bytes = bytes[..kept].to_vec();
            self.output.push(Output { channel, monotonic_us, bytes });
        }
    }

    pub(crate) fn record_remark(&mut self, text: &str) {
        self.record_output(Channel::Stderr, format!("fencepost: {text}\n").as_bytes());
    }

    pub(crate) fn log_call(&mut self, thread: Number, number: u64, result: i64) {
        if self.log.len() < LOG_MAX {
            let bytes = std::mem::take(&mut self.handed_over);
            let clock_reads =
                self.threads.get_mut(&thread).map_or(0, |it| std::mem::take(&mut it.clock_reads));
            let monotonic_us = self.clocks.monotonic_us + self.ahead_ns / 1_000;
            let number = number as u16;
            self.log.push(CallMade { thread, number, result, bytes, clock_reads, monotonic_us });
        }
    }

    pub(crate) fn take_number(&mut self) -> Number {
        self.next_number += 1;
        self.next_number - 1
    }

    pub(crate) fn thread(&self, number: Number) -> &Thread {
        &self.threads[&number]
    }

    pub(crate) fn thread_mut(&mut self, number: Number) -> &mut Thread {
        self.threads.get_mut(&number).expect("a thread that runs is there")
    }

    pub(crate) fn process(&self, number: Number) -> &Process {
        &self.processes[&number]
    }

    pub(crate) fn process_mut(&mut self, number: Number) -> &mut Process {
        self.processes.get_mut(&number).expect("a process that runs is there")
    }

    pub(crate) fn file(&self, process: Number, descriptor: i32) -> Option<FileId> {
        self.process(process).descriptors.get(&descriptor).copied()
    }

    pub(crate) fn queue(&mut self, number: Number) {
        if let Some(thread) = self.threads.get_mut(&number)
            && !thread.is_queued
        {
            thread.is_queued = true;
            self.ready.push_back(number);
        }
    }

    pub(crate) fn others_are_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(crate) fn take_socket(&mut self) -> SocketId {
        self.next_socket += 1;
        SocketId(self.next_socket)
    }
}

impl Thread {
    pub(crate) fn new(tracee: crate::sys::trace::Tracee, process: Number, state: State) -> Thread {
        Thread {
            tracee,
            process,
            state,
            clear_at: 0,
            number_at: 0,
            signals: Vec::new(),
            registers: tracee.no_registers(),
            is_before_call: false,
            is_queued: false,
            waits_since: 0,
            clock_reads: 0,
        }
    }
}
