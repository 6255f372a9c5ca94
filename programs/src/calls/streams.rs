use super::{Call, Outcome, fail_with};
use crate::file::{FileId, Kind, PIPE_CAPACITY, PipeId, Stage};
use crate::group::Group;
use crate::interface::Request;
use crate::process::Interest;
use crate::sys::spawn::signal_thread;
use rand_core::Rng;

const BYTES_MAX: u64 = 1 << 24;
const PLACES_MAX: u64 = 1024;
/// Size in bytes up to which a write to a pipe is atomic (`PIPE_BUF`).
const ATOMIC: usize = 4096;

impl Call {
    fn places(&self) -> Vec<(u64, u64)> {
        let [_, at, count, ..] = self.arguments;
        match self.number {
            libc::SYS_readv | libc::SYS_writev => self.vectors(at, count),
            libc::SYS_recvmsg | libc::SYS_sendmsg => {
                self.vectors(self.memory.u64(at + 16), self.memory.u64(at + 24))
            }
            _ => vec![(at, count.min(BYTES_MAX))],
        }
    }

    fn vectors(&self, at: u64, count: u64) -> Vec<(u64, u64)> {
        (0..count.min(PLACES_MAX))
            .map(|index| (self.memory.u64(at + 16 * index), self.memory.u64(at + 16 * index + 8)))
            .collect()
    }

    fn flags(&self) -> i32 {
        match self.number {
            libc::SYS_recvfrom | libc::SYS_sendto => self.arguments[3] as i32,
            libc::SYS_recvmsg | libc::SYS_sendmsg => self.arguments[2] as i32,
            _ => 0,
        }
    }

    pub(super) fn has(&self, flag: i32) -> bool {
        self.flags() & flag != 0
    }

    pub(super) fn scatter(&self, bytes: &[u8]) {
        let mut rest = bytes;
        for (at, length) in self.places() {
            let (now, later) = rest.split_at(rest.len().min(length as usize));
            self.memory.write(at, now);
            rest = later;
        }
    }

    fn gather(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (at, length) in self.places() {
            bytes.extend(self.memory.read(at, length.min(BYTES_MAX) as usize));
        }
        bytes
    }

    pub(super) fn room(&self) -> usize {
        self.places().iter().map(|(_, length)| *length as usize).sum()
    }
}

fn fingerprint(bytes: &[u8]) -> u32 {
    let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    bytes.iter().fold(0x811c_9dc5, mix)
}

pub(super) enum Read {
    Bytes(Vec<u8>),
    Fails(i32),
    Nothing,
}

impl Group {
    pub(super) fn receive(&mut self, call: &Call) -> Outcome {
        let Some(file) = self.file_of(call) else {
            return self.run_natively_unless_socket_call(call);
        };
        if matches!(self.files.get(file).kind, Kind::Datagrams(_)) {
            return self.receive_datagram(call, file);
        }
        let room = call.room();
        if room == 0 {
            return Outcome::Done(0);
        }
        match self.read_file(call, file, room) {
            Read::Fails(error) => fail_with(error),
            Read::Bytes(bytes) => {
                call.scatter(&bytes);
                self.clear_sender(call);
                Outcome::Done(bytes.len() as i64)
            }
            Read::Nothing => self.wait_to_read(call, file),
        }
    }

    fn wait_to_read(&mut self, call: &Call, file: FileId) -> Outcome {
        let timeout = self.files.socket(file).and_then(|socket| socket.receive_timeout_ns);
        if call.has(libc::MSG_DONTWAIT) || call.has_expired || self.is_nonblocking(call) {
            return fail_with(libc::EAGAIN);
        }
        call.block_restartable(Interest::Files, call.deadline(timeout))
    }

    fn run_natively_unless_socket_call(&self, call: &Call) -> Outcome {
        match call.number {
            libc::SYS_read | libc::SYS_readv | libc::SYS_write | libc::SYS_writev => {
                Outcome::Native
            }
            _ => fail_with(libc::ENOTSOCK),
        }
    }

    fn read_file(&mut self, call: &Call, file: FileId, room: usize) -> Read {
        match &mut self.files.get_mut(file).kind {
            Kind::PipeRead(pipe) | Kind::Pair { read: pipe, .. } => {
                let pipe = *pipe;
                self.read_pipe(call, pipe, room)
            }
            Kind::Socket(_) => self.read_socket(call, file, room),
            Kind::Datagrams(_) | Kind::Event { count: 0, .. } => Read::Nothing,
            Kind::Event { count, is_semaphore } => {
                let value = if *is_semaphore { 1 } else { *count };
                *count -= value;
                self.files.raise_edge(file);
                Read::Bytes(value.to_le_bytes().to_vec())
            }
            Kind::Timer(timer) => {
                let clock = if timer.is_wall { call.now.wall_ns } else { call.now.monotonic_ns };
                let Some(next) = timer.next_ns.filter(|next| *next <= clock) else {
                    return Read::Nothing;
                };
                let expired = match timer.interval_ns {
                    0 => 1,
                    interval => 1 + (clock - next) / interval,
                };
                let interval = timer.interval_ns;
                timer.next_ns = (interval > 0).then(|| next + expired * interval);
                Read::Bytes(expired.to_le_bytes().to_vec())
            }
            Kind::Signals(mask) => {
                let mask = *mask;
                self.read_signal(call, mask)
            }
            Kind::Random => {
                let mut bytes = vec![0; room.min(1 << 16)];
                self.random.fill_bytes(&mut bytes);
                Read::Bytes(bytes)
            }
            Kind::PipeWrite(_) | Kind::Output(_) => Read::Fails(libc::EBADF),
            Kind::Epoll(_) => Read::Fails(libc::EINVAL),
        }
    }

    fn read_pipe(&mut self, call: &Call, pipe: PipeId, room: usize) -> Read {
        let pipe = &mut self.files.pipes[pipe];
        let least = if call.has(libc::MSG_WAITALL) { room } else { 1 };
        if pipe.writers > 0 && pipe.bytes.len() < least {
            return Read::Nothing;
        }
        let length = room.min(pipe.bytes.len());
        if call.has(libc::MSG_PEEK) {
            return Read::Bytes(pipe.bytes.iter().take(length).copied().collect());
        }
        pipe.drained += 1;
        self.files.has_changed = true;
        Read::Bytes(pipe.bytes.drain(..length).collect())
    }

    fn read_socket(&mut self, call: &Call, file: FileId, room: usize) -> Read {
        let peeks = call.has(libc::MSG_PEEK);
        let waits_for_all = call.has(libc::MSG_WAITALL);
        let Some(socket) = self.files.socket(file) else { return Read::Fails(libc::ENOTSOCK) };
        if let Stage::Local { read, .. } = socket.stage {
            return self.read_pipe(call, read, room);
        }
        let is_over = socket.has_ended || socket.stage == Stage::Failed;
        let waiting = socket.received.len();
        if waiting > 0 && (!waits_for_all || waiting >= room || is_over) {
            let length = room.min(waiting);
            if peeks {
                return Read::Bytes(socket.received.iter().take(length).copied().collect());
            }
            return Read::Bytes(socket.received.drain(..length).collect());
        }
        match (&socket.stage, socket.error.take()) {
            (_, Some(error)) => Read::Fails(error),
            (Stage::Fresh | Stage::Listening(_), None) => Read::Fails(libc::ENOTCONN),
            _ if is_over || socket.is_shut && waiting == 0 && socket.has_ended => {
                Read::Bytes(Vec::new())
            }
            _ => Read::Nothing,
        }
    }

    fn clear_sender(&self, call: &Call) {
        let [_, message, .., length] = call.arguments;
        match call.number {
            libc::SYS_recvfrom if length != 0 => {
                call.memory.write(length, &0u32.to_le_bytes());
            }
            libc::SYS_recvmsg => {
                call.memory.write(message + 8, &0u32.to_le_bytes());
                call.memory.write(message + 40, &0u64.to_le_bytes());
                call.memory.write(message + 48, &0u32.to_le_bytes());
            }
            _ => {}
        }
    }

    pub(super) fn transmit(&mut self, call: &Call) -> Outcome {
        let Some(file) = self.file_of(call) else {
            return self.run_natively_unless_socket_call(call);
        };
        let bytes = call.gather();
        self.handed_over = fingerprint(&bytes);
        match &mut self.files.get_mut(file).kind {
            Kind::Output(channel) => {
                let channel = *channel;
                self.record_output(channel, &bytes);
                Outcome::Done(bytes.len() as i64)
            }
            Kind::PipeWrite(pipe) | Kind::Pair { write: pipe, .. } => {
                let pipe = *pipe;
                self.write_pipe(call, pipe, &bytes)
            }
            Kind::Socket(_) => self.write_socket(call, file, bytes),
            Kind::Datagrams(_) => self.send_datagram(call, file, bytes),
            Kind::Event { count, .. } => {
                let Ok(word) = <[u8; 8]>::try_from(bytes.as_slice()) else {
                    return fail_with(libc::EINVAL);
                };
                let added = u64::from_le_bytes(word);
                if added == u64::MAX {
                    return fail_with(libc::EINVAL);
                }
                let Some(sum) = count.checked_add(added).filter(|sum| *sum < u64::MAX) else {
                    return match self.is_nonblocking(call) {
                        true => fail_with(libc::EAGAIN),
                        false => call.block_restartable(Interest::Files, None),
                    };
                };
                *count = sum;
                self.files.raise_edge(file);
                Outcome::Done(8)
            }
            Kind::Random => Outcome::Done(bytes.len() as i64),
            Kind::PipeRead(_) => fail_with(libc::EBADF),
            Kind::Epoll(_) | Kind::Timer(_) | Kind::Signals(_) => fail_with(libc::EINVAL),
        }
    }

    fn write_pipe(&mut self, call: &Call, pipe: PipeId, bytes: &[u8]) -> Outcome {
        let (readers, writers) = (self.files.pipes[pipe].readers, self.files.pipes[pipe].writers);
        if readers == 0 || writers == 0 {
            return self.broken_pipe(call);
        }
        let room = PIPE_CAPACITY.saturating_sub(self.files.pipes[pipe].bytes.len());
        let is_enough = if bytes.len() <= ATOMIC { room >= bytes.len() } else { room > 0 };
        let is_nonblocking = (!is_enough || room < bytes.len())
            && (call.has(libc::MSG_DONTWAIT) || self.is_nonblocking(call));
        if !is_enough && is_nonblocking {
            return fail_with(libc::EAGAIN);
        }
        if !is_enough {
            return call.block_restartable(Interest::Files, None);
        }
        // Unlike in Linux, a blocking write enters the pipe in one piece, even beyond its capacity.
        let length = if is_nonblocking { bytes.len().min(room) } else { bytes.len() };
        let pipe = &mut self.files.pipes[pipe];
        pipe.bytes.extend(&bytes[..length]);
        pipe.written += 1;
        self.files.has_changed = true;
        Outcome::Done(length as i64)
    }

    fn write_socket(&mut self, call: &Call, file: FileId, bytes: Vec<u8>) -> Outcome {
        let Some(socket) = self.files.socket(file) else { return fail_with(libc::ENOTSOCK) };
        if let Stage::Local { write, .. } = socket.stage {
            return self.write_pipe(call, write, &bytes);
        }
        if let Some(error) = socket.error.take() {
            return fail_with(error);
        }
        let (stage, is_shut) = (socket.stage.clone(), socket.is_shut);
        match stage {
            Stage::Open(_) if is_shut => self.broken_pipe(call),
            Stage::Open(socket) => {
                let length = bytes.len() as i64;
                if length > 0 {
                    self.requests.push(Request::Send { socket, bytes });
                }
                Outcome::Done(length)
            }
            Stage::Connecting(_) if self.is_nonblocking(call) => fail_with(libc::EAGAIN),
            Stage::Connecting(_) => call.block_restartable(Interest::Files, None),
            Stage::Fresh | Stage::Listening(_) | Stage::Failed => self.broken_pipe(call),
            Stage::Local { .. } => fail_with(libc::EINVAL),
        }
    }

    fn broken_pipe(&mut self, call: &Call) -> Outcome {
        if !call.has(libc::MSG_NOSIGNAL) {
            let process = self.process(call.process).real.0;
            signal_thread(process, self.thread(call.thread).tracee.0, libc::SIGPIPE);
        }
        fail_with(libc::EPIPE)
    }
}
