use crate::ensemble::{Ensemble, SYNC_LIMIT, TICK_MS};
use crate::real::{Real, RealConnection};
use fencepost_testing::{free_port, instant, wait_for};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

struct DelayingProxy {
    port: u16,
    is_held: Arc<(Mutex<bool>, Condvar)>,
}

impl DelayingProxy {
    fn before(target: u16) -> DelayingProxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = DelayingProxy { port, is_held: Arc::default() };
        let is_held = proxy.is_held.clone();
        std::thread::spawn(move || {
            for caller in listener.incoming().map_while(Result::ok) {
                let Ok(called) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                let (back, on) = (called.try_clone().unwrap(), caller.try_clone().unwrap());
                let is_held = is_held.clone();
                std::thread::spawn(move || carry(caller, called, &Arc::default()));
                std::thread::spawn(move || carry(back, on, &is_held));
            }
        });
        proxy
    }

    fn set(&self, is_held: bool) {
        *self.is_held.0.lock().unwrap() = is_held;
        self.is_held.1.notify_all();
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, is_held: &(Mutex<bool>, Condvar)) {
    let mut buffer = [0; 4_096];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let held = is_held.0.lock().unwrap();
        drop(is_held.1.wait_while(held, |is_held| *is_held).unwrap());
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

pub(crate) struct RealEnsemble {
    servers: Vec<Real>,
    proxy: DelayingProxy,
    started: Instant,
}

impl RealEnsemble {
    pub(crate) fn new() -> RealEnsemble {
        let ports: Vec<[u16; 2]> = (0..3).map(|_| [free_port(), free_port()]).collect();
        let proxy = DelayingProxy::before(ports[2][0]);
        let start = |at: usize| {
            let mut more = format!("syncLimit={SYNC_LIMIT}\n");
            for (id, [quorum, election]) in (1..).zip(&ports) {
                let quorum = if at == 0 && id == 3 { proxy.port } else { *quorum };
                more += &format!("server.{id}=127.0.0.1:{quorum}:{election}\n");
            }
            Real::start(free_port(), at as u8 + 1, TICK_MS, &more)
        };
        // Start two servers first: they form a majority, and the greater id wins the election.
        let (third, second) = (start(2), start(1));
        third.wait_until_serving();
        let first = start(0);
        let servers = vec![first, second, third];
        let mut ensemble = RealEnsemble { servers, proxy, started: instant() };
        ensemble.settle(3);
        assert_eq!(ensemble.leader(), Some(2), "the greatest number leads");
        ensemble
    }
}

impl Ensemble for RealEnsemble {
    type Connection = RealConnection;

    fn connect(&mut self, at: usize) -> RealConnection {
        self.servers[at].connect()
    }

    fn send(&mut self, connection: &mut RealConnection, bytes: &[u8]) {
        connection.send(bytes);
    }

    fn frame(&mut self, connection: &mut RealConnection) -> Option<Vec<u8>> {
        connection.frame()
    }

    fn is_silent(&mut self, connection: &mut RealConnection, ms: u64) -> bool {
        connection.is_silent(ms)
    }

    fn pass(&mut self, ms: u64) {
        let until = self.started.elapsed() + Duration::from_millis(ms);
        while let Some(left) = until.checked_sub(self.started.elapsed()) {
            std::thread::park_timeout(left.max(Duration::from_micros(100)));
        }
    }

    fn now_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn settle(&mut self, serving: usize) {
        wait_for("so many servers serve", || {
            let modes = self.servers.iter().filter_map(Real::mode);
            (modes.count() == serving).then_some(())
        });
    }

    fn leader(&mut self) -> Option<usize> {
        let leads = |server: &Real| server.mode().as_deref() == Some("leader");
        self.servers.iter().position(leads)
    }

    fn leads(&mut self, at: usize) -> bool {
        self.servers[at].mode().as_deref() == Some("leader")
    }

    fn kill(&mut self, at: usize) {
        self.servers[at].kill();
    }

    fn restart(&mut self, at: usize) {
        self.servers[at].restart();
    }

    fn stop(&mut self, at: usize) {
        self.servers[at].stop();
    }

    fn resume(&mut self, at: usize) {
        self.servers[at].resume();
    }

    fn hold_traffic(&mut self, is_held: bool) {
        self.proxy.set(is_held);
    }
}
