//! A test bench for one machine ([`Bench`]), with a disk and clocks that the test controls.

use fencepost_machine::wording::Speaker;
use fencepost_machine::{
    ConnectionId, Disk, DiskImage, DiskReply, Input, KeyChange, Machine, MonotonicTime, Now,
    Output, Outputs, SyncError, TapEvent, WallTime,
};
use std::collections::BTreeMap;

const WALL_START_US: i64 = 1_700_000_000_000_000;

#[derive(Debug)]
pub struct Bench<M> {
    pub machine: M,
    pub disk: Disk,
    pub clock: Now,
    pub taps: Vec<TapEvent>,
    pub closed: Vec<u32>,
    pub asked: Vec<ConnectionId>,
    /// `true` if syncs finish immediately; `false` if the test calls [`Bench::finish_sync`].
    pub syncs_at_once: bool,
    pub has_stopped: bool,
    pub peer: &'static str,
    next: u32,
    sent: BTreeMap<u32, Vec<u8>>,
    wake_at: Option<u64>,
    syncing: usize,
}

impl<M: Machine> Bench<M> {
    pub fn new(boot: impl FnOnce(&DiskImage, Now) -> M) -> Bench<M> {
        let clock = Now { wall: WallTime(WALL_START_US), monotonic: MonotonicTime(0) };
        let mut bench = Bench {
            machine: boot(&DiskImage::default(), clock),
            disk: Disk::default(),
            clock,
            taps: Vec::new(),
            closed: Vec::new(),
            asked: Vec::new(),
            syncs_at_once: true,
            has_stopped: false,
            peer: "client-1:40000",
            next: 0,
            sent: BTreeMap::new(),
            wake_at: None,
            syncing: 0,
        };
        bench.input(Input::Timer);
        bench
    }

    pub fn restart(&mut self, boot: impl FnOnce(&DiskImage, Now) -> M) {
        (self.syncing, self.wake_at) = (0, None);
        self.sent.clear();
        self.machine = boot(&self.disk.image(), self.clock);
        self.input(Input::Timer);
    }

    /// Sends an input and executes buffered commands. `syncs_at_once` also finishes pending syncs.
    pub fn input(&mut self, input: Input<'_>) {
        let (mut out, mut next) = (Outputs::default(), Some(input));
        while let Some(input) = next.take() {
            out.clear();
            self.machine.handle(input, self.clock, &mut out);
            self.has_stopped |= out.stopped;
            out.list.drain(..).for_each(|output| self.carry_out(output));
            if out.more {
                next = Some(Input::Continue);
            } else if self.syncs_at_once && self.syncing > 0 {
                next = Some(self.synced());
            }
        }
    }

    fn carry_out(&mut self, output: Output) {
        if self.disk.apply(&output) == DiskReply::Sync {
            self.syncing += 1;
        }
        match output {
            Output::Send { connection, bytes } => {
                self.sent.entry(connection.0).or_default().extend_from_slice(&bytes);
            }
            Output::Close { connection } | Output::Abort { connection } => {
                self.closed.push(connection.0);
            }
            Output::Connect { connection, .. } => self.asked.push(connection),
            Output::Tap(tap) => self.taps.push(tap),
            Output::WakeAfter { micros } => self.wake_at = Some(self.clock.monotonic.0 + micros),
            _ => {}
        }
    }

    fn synced(&mut self) -> Input<'static> {
        self.syncing -= 1;
        self.disk.finish_sync()
    }

    pub fn fail_syncs(&mut self, error: Option<SyncError>) {
        self.disk.fail_syncs(error);
    }

    pub fn finish_sync(&mut self) {
        let input = self.synced();
        self.input(input);
    }

    /// Advances both clocks, and fires the timers that are due.
    pub fn pass(&mut self, micros: u64) {
        let end = self.clock.monotonic.0 + micros;
        while let Some(at) = self.wake_at.filter(|at| *at <= end) {
            self.wake_at = None;
            self.advance(at);
            self.input(Input::Timer);
        }
        self.advance(end);
    }

    fn advance(&mut self, to: u64) {
        let past = to.saturating_sub(self.clock.monotonic.0);
        self.clock.monotonic.0 += past;
        self.clock.wall.0 += past.cast_signed();
    }

    pub fn step_wall_clock(&mut self, micros: i64) {
        self.clock.wall.0 += micros;
    }

    /// Connects a client and returns its id, counted from 1.
    pub fn connect(&mut self) -> u32 {
        self.next += 1;
        let (connection, peer) = (ConnectionId(self.next), self.peer);
        self.input(Input::Accepted { connection, peer });
        self.next
    }

    pub fn send(&mut self, connection: u32, bytes: &[u8]) {
        self.input(Input::Received { connection: ConnectionId(connection), bytes });
    }

    pub fn hang_up(&mut self, connection: u32) {
        self.input(Input::Closed { connection: ConnectionId(connection) });
    }

    pub fn is_closed(&self, connection: u32) -> bool {
        self.closed.contains(&connection)
    }

    pub fn unread(&self, connection: u32) -> &[u8] {
        self.sent.get(&connection).map_or(&[], Vec::as_slice)
    }

    pub fn take(&mut self, connection: u32) -> Vec<u8> {
        self.sent.remove(&connection).unwrap_or_default()
    }

    pub fn take_words(&mut self, connection: u32) -> String {
        let sent = self.take(connection);
        self.machine.wording()(Speaker::Server, &sent)
    }

    /// Removes and returns the taps. Panics if one is not for the key `lock` on a primary.
    pub fn tap_lines(&mut self) -> Vec<(KeyChange, String, Option<u32>)> {
        let line = |tap: TapEvent| {
            assert_eq!((&tap.key[..], tap.primary), (&b"lock"[..], true));
            let value = String::from_utf8_lossy(&tap.value.unwrap_or_default()).into_owned();
            (tap.change, value, tap.by.map(|ConnectionId(number)| number))
        };
        std::mem::take(&mut self.taps).into_iter().map(line).collect()
    }
}
