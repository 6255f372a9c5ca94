use super::at;
use super::cache::CACHE_PORT;
use super::etcd::ETCD_PORT;
use super::keeper::{KEEPER_PORT, KeeperRequest, describe};
use super::server::{Answer, Call, EPOCH, Store, scripts};
use super::state::{Event, LATENCY, Server, State, TestSocket, words_of};
use crate::env::{
    Address, BoxFuture, Caller, Draw, Env, HostKey, Monotonic, Note, SocketKey, TaskKey, TimerKey,
    WallClock, World,
};
use crate::lock::{Definition, Lock, Servers, Settings};
use crate::reply::Reply;
use crate::table;
use bytes::BytesMut;
use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

const EVENTS_MAX: usize = 100_000;
/// Maximum length of a trace line that shows a request and its reply, in bytes without indentation.
const EXCHANGE_MAX: usize = 84;
const REPLY_AFTER_US: u64 = 1_000;

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(crate) struct TestWorld {
    state: RefCell<State>,
    tasks: RefCell<Vec<Option<BoxFuture<'static, ()>>>>,
}

impl TestWorld {
    pub(crate) fn new() -> Rc<TestWorld> {
        Rc::new(TestWorld { state: RefCell::default(), tasks: RefCell::default() })
    }

    pub(crate) fn env(self: &Rc<Self>) -> Env {
        Env::new(self.clone(), HostKey(0))
    }

    pub(crate) fn skew(&self, host: u16, ahead_ms: i64) {
        self.state.borrow_mut().wall_ahead.insert(HostKey(host), ahead_ms * 1_000);
    }

    pub(crate) fn serve(&self, host: &str, mishaps: impl FnMut(&Call<'_>) -> Answer + 'static) {
        self.serve_at(at(host), mishaps);
    }

    pub(crate) fn serve_keeper(
        &self,
        host: &str,
        mishaps: impl FnMut(&Call<'_>) -> Answer + 'static,
    ) {
        self.serve_at(Address { host: host.to_owned(), port: KEEPER_PORT }, mishaps);
    }

    pub(crate) fn serve_cache(
        &self,
        host: &str,
        mishaps: impl FnMut(&Call<'_>) -> Answer + 'static,
    ) -> Servers {
        self.serve_at(Address { host: host.to_owned(), port: CACHE_PORT }, mishaps)
    }

    pub(crate) fn serve_etcd(
        &self,
        host: &str,
        mishaps: impl FnMut(&Call<'_>) -> Answer + 'static,
    ) -> Servers {
        self.serve_at(Address { host: host.to_owned(), port: ETCD_PORT }, mishaps)
    }

    fn serve_at(
        &self,
        address: Address,
        mishaps: impl FnMut(&Call<'_>) -> Answer + 'static,
    ) -> Servers {
        let servers = &mut self.state.borrow_mut().servers;
        let old = servers.remove(&address);
        let store = old.map(|server| server.store).unwrap_or_default();
        let server = Server { store, mishaps: Box::new(mishaps), calls: 0 };
        servers.insert(address.clone(), server);
        Servers::Ensemble(vec![address])
    }

    pub(crate) fn store_item(&self, key: &str, value: &str, seconds: i64) {
        let now = self.now();
        self.state.borrow_mut().cache.put(key, value, seconds, now);
    }

    pub(crate) fn children(&self, parent: &str) -> Vec<String> {
        self.state.borrow().keeper.children(parent)
    }

    pub(crate) fn owner_of(&self, path: &str) -> i64 {
        self.state.borrow().keeper.owner_of(path)
    }

    pub(crate) fn expire(&self, session: i64) {
        let mut state = self.state.borrow_mut();
        let (notices, sockets) = state.keeper.expire(session);
        state.send_replies(notices, 0);
        for socket in sockets {
            state.after(LATENCY, Event::Reset(socket));
        }
    }

    pub(crate) fn store<T>(&self, host: &str, act: impl FnOnce(&mut Store) -> T) -> T {
        act(&mut self.state.borrow_mut().servers.get_mut(&at(host)).unwrap().store)
    }

    pub(crate) fn value(&self, host: &str, key: &str) -> Option<String> {
        let now = self.now();
        self.store(host, |store| store.get(key, now).map(str::to_owned))
    }

    pub(crate) fn publish(&self, host: &str, resp: &str) {
        let mut state = self.state.borrow_mut();
        let address = at(host);
        let listeners: Vec<usize> = (0..state.sockets.len())
            .filter(|key| state.sockets[*key].subscribed && state.sockets[*key].address == address)
            .collect();
        for key in listeners {
            state.after(LATENCY, Event::AtClient(key, resp.as_bytes().to_vec()));
        }
    }

    pub(crate) fn reset_connections(&self, host: &str) {
        let mut state = self.state.borrow_mut();
        let keys: Vec<usize> = (0..state.sockets.len())
            .filter(|key| state.sockets[*key].address.host == host)
            .collect();
        for key in keys {
            state.after(LATENCY, Event::Reset(key));
        }
    }

    pub(crate) fn lock(
        self: &Rc<Self>,
        name: &str,
        servers: &Servers,
        settings: &Settings,
    ) -> Box<dyn Lock> {
        self.lock_on(0, name, servers, settings)
    }

    pub(crate) fn lock_on(
        self: &Rc<Self>,
        host: u16,
        name: &str,
        servers: &Servers,
        settings: &Settings,
    ) -> Box<dyn Lock> {
        (definition(name).build)(Env::new(self.clone(), HostKey(host)), servers, settings)
    }

    pub(crate) fn now(&self) -> u64 {
        self.state.borrow().now
    }

    pub(crate) fn pending_timers(&self) -> usize {
        self.state.borrow().timers.len()
    }

    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        let mut context = Context::from_waker(&waker);
        for _ in 0..EVENTS_MAX {
            if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return value;
            }
            self.poll_tasks(&mut context);
            if !woken.0.swap(false, Ordering::Relaxed) {
                self.next_event();
            }
        }
        panic!("no end after {EVENTS_MAX} events: {}", self.trace());
    }

    pub(crate) fn pass(self: &Rc<Self>, span_ms: u64) {
        self.run(self.env().sleep(Duration::from_millis(span_ms)));
    }

    fn poll_tasks(&self, context: &mut Context<'_>) {
        let mut index = 0;
        while index < self.tasks.borrow().len() {
            let task = self.tasks.borrow_mut()[index].take();
            if let Some(mut task) = task
                && task.as_mut().poll(context).is_pending()
            {
                self.tasks.borrow_mut()[index] = Some(task);
            }
            index += 1;
        }
    }

    fn next_event(&self) {
        let mut state = self.state.borrow_mut();
        let ((time, _), event) = state.events.pop_first().expect("something is waited for");
        state.now = time;
        state.handle(event);
    }

    /// Returns the traffic since the last call, with numbers for owner values. If a short reply
    /// follows its request directly, after 1 ms, both share a line.
    pub(crate) fn trace(&self) -> String {
        let mut text = std::mem::take(&mut self.state.borrow_mut().log).join("\n");
        for (name, script) in scripts() {
            text = text.replace(script.digest(), &format!("[sha of {name}]"));
            text = text.replace(&script.source().escape_debug().to_string(), &format!("[{name}]"));
        }
        let mut lines: Vec<String> = Vec::new();
        for line in number_owners(text).lines() {
            match lines.last().and_then(|last| exchange(last, line)) {
                Some(exchange) => *lines.last_mut().unwrap() = exchange,
                None => lines.push(line.to_owned()),
            }
        }
        lines.join("\n")
    }
}

fn exchange(request: &str, reply: &str) -> Option<String> {
    let ((asked, _), (answered, said)) = (request.split_once(" < ")?, reply.split_once(" > ")?);
    let parts = |head: &str| {
        let (at, socket) = head.trim_start().split_once(' ')?;
        Some((at.replace('.', "").parse::<u64>().ok()?, socket.to_owned()))
    };
    let ((at, one), (then, other)) = (parts(asked)?, parts(answered)?);
    let joined = format!("{request} > {said}");
    let is_short = !request.contains(" > ") && joined.trim_start().len() <= EXCHANGE_MAX;
    (is_short && one == other && then == at + REPLY_AFTER_US).then_some(joined)
}

fn definition(name: &str) -> &'static Definition {
    table::find(name).unwrap()
}

fn number_owners(mut text: String) -> String {
    for number in 1.. {
        let is_owner =
            |word: &&str| word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(owner) =
            text.split(|c: char| !c.is_ascii_alphanumeric()).find(is_owner).map(str::to_owned)
        else {
            break;
        };
        text = text.replace(&owner, &format!("owner-{number}"));
    }
    text
}

impl World for TestWorld {
    fn wall_clock(&self, host: HostKey) -> WallClock {
        let ahead = self.state.borrow().wall_ahead.get(&host).copied().unwrap_or(0);
        WallClock(i64::try_from(self.now() + EPOCH).unwrap() + ahead)
    }

    fn monotonic_clock(&self, _: HostKey) -> Monotonic {
        Monotonic(self.now())
    }

    fn random(&self, _: HostKey, draw: Draw, bits: &mut [u64]) {
        let mut state = self.state.borrow_mut();
        let counter = &mut state.draws[draw as usize];
        bits.fill_with(|| {
            *counter = counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut bits = counter.wrapping_add(draw as u64);
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            bits ^ (bits >> 31)
        });
    }

    fn start_timer(&self, _: HostKey, after: Duration) -> TimerKey {
        let mut state = self.state.borrow_mut();
        let span = u64::try_from(after.as_micros()).unwrap();
        state.after(span, Event::Timer);
        let (key, due) = (state.sequence, state.now + span);
        state.timers.insert(key, due);
        TimerKey(key)
    }

    fn poll_timer(&self, timer: TimerKey, _: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.borrow_mut();
        if state.now < state.timers[&timer.0] {
            return Poll::Pending;
        }
        state.timers.remove(&timer.0);
        Poll::Ready(())
    }

    fn cancel_timer(&self, timer: TimerKey) {
        self.state.borrow_mut().timers.remove(&timer.0);
    }

    fn connect(&self, _: Caller, address: &Address) -> io::Result<SocketKey> {
        let mut state = self.state.borrow_mut();
        if !state.servers.contains_key(address) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let key = state.sockets.len();
        state.sockets.push(TestSocket {
            address: address.clone(),
            connected: None,
            to_server: BytesMut::new(),
            to_client: BytesMut::new(),
            end: None,
            subscribed: false,
            closed: false,
            limit: None,
            frames: [0; 2],
        });
        state.log(key, "connect");
        match state.ask(key, &["CONNECT".to_owned()]) {
            Answer::Lost | Answer::Dropped => {}
            Answer::ResetBefore | Answer::ResetAfter => {
                state.after(
                    2 * LATENCY,
                    Event::Connected(key, Err(io::ErrorKind::ConnectionRefused)),
                );
            }
            _ => state.after(2 * LATENCY, Event::Connected(key, Ok(()))),
        }
        Ok(SocketKey(u32::try_from(key).unwrap()))
    }

    fn poll_connect(&self, socket: SocketKey, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let state = self.state.borrow();
        match state.sockets[socket.0 as usize].connected {
            Some(result) => Poll::Ready(result.map_err(io::Error::from)),
            None => Poll::Pending,
        }
    }

    fn limit(&self, socket: SocketKey, after: Duration) {
        self.lift_limit(socket);
        let timer = self.start_timer(HostKey(0), after);
        self.state.borrow_mut().sockets[socket.0 as usize].limit = Some(timer);
    }

    fn lift_limit(&self, socket: SocketKey) {
        let before = self.state.borrow_mut().sockets[socket.0 as usize].limit.take();
        before.into_iter().for_each(|before| self.cancel_timer(before));
    }

    fn poll_read(
        &self,
        socket: SocketKey,
        _: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        let mut state = self.state.borrow_mut();
        let key = socket.0 as usize;
        let arrived = std::mem::take(&mut state.sockets[key].to_client);
        if !arrived.is_empty() {
            buffer.extend_from_slice(&arrived);
            let text = match state.is_keeper(key) {
                true => describe(&arrived, state.is_first(key, 1)),
                false => String::from_utf8_lossy(&arrived).trim_end().replace("\r\n", " "),
            };
            state.log(key, &format!("> {text}"));
            return Poll::Ready(Ok(arrived.len()));
        }
        match state.sockets[key].end {
            Some(end) => Poll::Ready(end.map(|()| 0).map_err(io::Error::from)),
            None => {
                let limit = state.sockets[key].limit;
                let has_passed = limit.is_some_and(|limit| state.timers[&limit.0] <= state.now);
                if has_passed {
                    Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
                } else {
                    Poll::Pending
                }
            }
        }
    }

    fn poll_write(
        &self,
        socket: SocketKey,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.state.borrow_mut();
        let key = socket.0 as usize;
        if let Some(Err(kind)) = state.sockets[key].end {
            return Poll::Ready(Err(kind.into()));
        }
        let words = match state.is_keeper(key) {
            true => KeeperRequest::read(bytes, state.is_first(key, 0)).words(),
            false => state.words_of_text(key, bytes).unwrap_or_else(|| {
                let command = Reply::take_from(&mut BytesMut::from(bytes)).unwrap();
                words_of(&command.expect("a command is one write"))
            }),
        };
        state.log(key, &format!("< {}", words.join(" ").trim_end().escape_debug()));
        state.after(LATENCY, Event::AtServer(key, bytes.to_vec()));
        Poll::Ready(Ok(bytes.len()))
    }

    fn shutdown(&self, socket: SocketKey) {
        self.state.borrow_mut().log(socket.0 as usize, "shutdown");
    }

    fn close(&self, socket: SocketKey) {
        let mut state = self.state.borrow_mut();
        let key = socket.0 as usize;
        assert!(
            !std::mem::replace(&mut state.sockets[key].closed, true),
            "socket {key} is closed twice"
        );
        if let Some(limit) = state.sockets[key].limit {
            state.timers.remove(&limit.0);
        }
        state.keeper.hang_up(key);
        state.log(key, "close");
    }

    fn spawn(&self, _: HostKey, task: BoxFuture<'static, ()>) -> TaskKey {
        let mut tasks = self.tasks.borrow_mut();
        tasks.push(Some(task));
        TaskKey(tasks.len() as u64 - 1)
    }

    fn abort(&self, task: TaskKey) {
        let aborted = self.tasks.borrow_mut()[usize::try_from(task.0).unwrap()].take();
        drop(aborted);
    }

    fn note(&self, _: Caller, note: Note) {
        let mut state = self.state.borrow_mut();
        let (ms, us) = (state.now / 1_000, state.now % 1_000);
        state.log.push(format!("{ms:>5}.{us:03} note {note:?}"));
    }
}
