//! The emulated open files of a group, such as sockets, pipes and epoll sets.

use crate::interface::{Channel, SocketId};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddrV4;

pub(crate) type FileId = usize;
pub(crate) type PipeId = usize;

pub(crate) const PIPE_CAPACITY: usize = 65_536;

pub(crate) struct OpenFile {
    pub(crate) kind: Kind,
    references: u32,
    pub(crate) rises: u64,
}

pub(crate) enum Kind {
    Socket(Socket),
    Datagrams(Datagrams),
    Epoll(BTreeMap<i32, Watched>),
    Event {
        count: u64,
        is_semaphore: bool,
    },
    PipeRead(PipeId),
    PipeWrite(PipeId),
    Pair {
        read: PipeId,
        write: PipeId,
    },
    Timer(Timer),
    /// Mask of the signals that the signalfd accepts.
    Signals(u64),
    Random,
    Output(Channel),
}

#[derive(Clone, Copy)]
pub(crate) struct Watched {
    pub(crate) file: FileId,
    pub(crate) events: u32,
    pub(crate) data: u64,
    pub(crate) seen: Option<u64>,
    pub(crate) has_fired: bool,
}

#[derive(Default)]
pub(crate) struct Timer {
    pub(crate) is_wall: bool,
    pub(crate) next_ns: Option<u64>,
    pub(crate) interval_ns: u64,
}

#[derive(Default)]
pub(crate) struct Socket {
    pub(crate) stage: Stage,
    pub(crate) received: VecDeque<u8>,
    pub(crate) has_ended: bool,
    pub(crate) reads_no_more: bool,
    pub(crate) is_shut: bool,
    pub(crate) error: Option<i32>,
    pub(crate) local_port: u16,
    pub(crate) peer: Option<SocketAddrV4>,
    pub(crate) receive_timeout_ns: Option<u64>,
    pub(crate) send_timeout_ns: Option<u64>,
    pub(crate) backlog: usize,
}

#[derive(Default)]
pub(crate) struct Datagrams {
    pub(crate) is_netlink: bool,
    pub(crate) received: VecDeque<Receipt>,
    pub(crate) error: Option<i32>,
    pub(crate) local_port: u16,
    pub(crate) peer: Option<SocketAddrV4>,
    pub(crate) receive_timeout_ns: Option<u64>,
}

#[derive(Clone)]
pub(crate) struct Receipt {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sender: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Stage {
    #[default]
    Fresh,
    Listening(VecDeque<Waiting>),
    Connecting(SocketId),
    Open(SocketId),
    Local {
        read: PipeId,
        write: PipeId,
    },
    Failed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waiting {
    Inside { read: PipeId, write: PipeId, from: SocketAddrV4 },
    Outside(FileId),
}

#[derive(Default)]
pub(crate) struct Pipe {
    pub(crate) bytes: VecDeque<u8>,
    pub(crate) writers: u32,
    pub(crate) readers: u32,
    pub(crate) written: u64,
    pub(crate) drained: u64,
}

#[derive(Default)]
pub(crate) struct Files {
    open: Vec<Option<OpenFile>>,
    pub(crate) pipes: Vec<Pipe>,
    pub(crate) connections: BTreeMap<SocketId, FileId>,
    pub(crate) closed: Vec<SocketId>,
    pub(crate) has_changed: bool,
}

impl Files {
    pub(crate) fn open(&mut self, kind: Kind) -> FileId {
        let file = Some(OpenFile { kind, references: 1, rises: 0 });
        match self.open.iter().position(Option::is_none) {
            Some(free) => {
                self.open[free] = file;
                free
            }
            None => {
                self.open.push(file);
                self.open.len() - 1
            }
        }
    }

    pub(crate) fn get(&self, file: FileId) -> &OpenFile {
        self.open[file].as_ref().expect("a descriptor keeps its file open")
    }

    pub(crate) fn get_mut(&mut self, file: FileId) -> &mut OpenFile {
        self.open[file].as_mut().expect("a descriptor keeps its file open")
    }

    pub(crate) fn socket(&mut self, file: FileId) -> Option<&mut Socket> {
        match &mut self.get_mut(file).kind {
            Kind::Socket(socket) => Some(socket),
            _ => None,
        }
    }

    pub(crate) fn epoll(&mut self, file: FileId) -> Option<&mut BTreeMap<i32, Watched>> {
        match &mut self.get_mut(file).kind {
            Kind::Epoll(set) => Some(set),
            _ => None,
        }
    }

    pub(crate) fn timers(&self) -> impl Iterator<Item = &Timer> {
        self.open.iter().flatten().filter_map(|file| match &file.kind {
            Kind::Timer(timer) => Some(timer),
            _ => None,
        })
    }

    pub(crate) fn listener(&mut self, port: u16) -> Option<FileId> {
        self.open.iter().position(|file| {
            let kind = file.as_ref().map(|file| &file.kind);
            matches!(kind, Some(Kind::Socket(Socket { stage: Stage::Listening(_), local_port, .. }))
                if *local_port == port)
        })
    }

    pub(crate) fn has_listener(&self) -> bool {
        self.listening().next().is_some()
    }

    pub(crate) fn listening(&self) -> impl Iterator<Item = u16> {
        self.open.iter().flatten().filter_map(|file| match &file.kind {
            Kind::Socket(Socket { stage: Stage::Listening(_), local_port, .. }) => {
                Some(*local_port)
            }
            _ => None,
        })
    }

    pub(crate) fn signal_sent(&mut self) {
        for file in self.open.iter_mut().flatten() {
            if matches!(file.kind, Kind::Signals(_)) {
                file.rises += 1;
                self.has_changed = true;
            }
        }
    }

    pub(crate) fn bound(&self, port: u16) -> Option<FileId> {
        self.open.iter().position(|file| {
            let kind = file.as_ref().map(|file| &file.kind);
            matches!(kind, Some(Kind::Datagrams(socket))
                if socket.local_port == port && !socket.is_netlink)
        })
    }

    pub(crate) fn has_room(&mut self, listener: FileId) -> bool {
        self.socket(listener).is_some_and(|socket| match &socket.stage {
            Stage::Listening(waiting) => waiting.len() <= socket.backlog,
            _ => false,
        })
    }

    pub(crate) fn queue_connection(&mut self, listener: FileId, file: FileId, from: SocketAddrV4) {
        let (there, back) = (self.pipe(), self.pipe());
        if let Some(Socket { stage: Stage::Listening(waiting), .. }) = self.socket(listener) {
            waiting.push_back(Waiting::Inside { read: there, write: back, from });
        }
        self.raise_edge(listener);
        if let Some(socket) = self.socket(file) {
            socket.stage = Stage::Local { read: back, write: there };
        }
        self.raise_edge(file);
    }

    pub(crate) fn pipe(&mut self) -> PipeId {
        self.pipes.push(Pipe { writers: 1, readers: 1, ..Pipe::default() });
        self.pipes.len() - 1
    }

    pub(crate) fn raise_edge(&mut self, file: FileId) {
        self.get_mut(file).rises += 1;
        self.has_changed = true;
    }

    pub(crate) fn edges(&self, file: FileId) -> u64 {
        let both = |read: PipeId, write: PipeId| {
            let (read, write) = (&self.pipes[read], &self.pipes[write]);
            read.written + u64::from(read.writers == 0) + write.drained
        };
        let file = self.get(file);
        let more = match &file.kind {
            Kind::PipeRead(pipe) => {
                self.pipes[*pipe].written + u64::from(self.pipes[*pipe].writers == 0)
            }
            Kind::PipeWrite(pipe) => {
                self.pipes[*pipe].drained + u64::from(self.pipes[*pipe].readers == 0)
            }
            Kind::Pair { read, write }
            | Kind::Socket(Socket { stage: Stage::Local { read, write }, .. }) => {
                both(*read, *write)
            }
            _ => 0,
        };
        file.rises + more
    }

    pub(crate) fn retain(&mut self, file: FileId) {
        self.get_mut(file).references += 1;
    }

    pub(crate) fn release(&mut self, file: FileId) {
        let open = self.get_mut(file);
        open.references -= 1;
        if open.references > 0 {
            return;
        }
        let kind = self.open[file].take().map(|file| file.kind);
        for other in self.open.iter_mut().flatten() {
            if let Kind::Epoll(set) = &mut other.kind {
                set.retain(|_, watched| watched.file != file);
            }
        }
        if let Some(kind) = kind {
            self.close(kind);
        }
        self.has_changed = true;
    }

    fn close(&mut self, kind: Kind) {
        match kind {
            Kind::PipeRead(pipe) => self.pipes[pipe].readers -= 1,
            Kind::PipeWrite(pipe) => self.pipes[pipe].writers -= 1,
            Kind::Pair { read, write } => self.close_pair(read, write),
            Kind::Socket(socket) => match socket.stage {
                Stage::Connecting(id) | Stage::Open(id) => {
                    self.connections.remove(&id);
                    self.closed.push(id);
                }
                Stage::Local { read, write } => self.close_pair(read, write),
                Stage::Listening(waiting) => {
                    waiting.into_iter().for_each(|waiting| match waiting {
                        Waiting::Inside { read, write, .. } => self.close_pair(read, write),
                        Waiting::Outside(file) => self.release(file),
                    });
                }
                Stage::Fresh | Stage::Failed => {}
            },
            _ => {}
        }
    }

    fn close_pair(&mut self, read: PipeId, write: PipeId) {
        self.pipes[read].readers = self.pipes[read].readers.saturating_sub(1);
        self.pipes[write].writers = self.pipes[write].writers.saturating_sub(1);
    }
}
