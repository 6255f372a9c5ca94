use crate::ServeError;
use crate::event::Event;
use crate::files::Files;
use crate::host::MachineBuilder;
use crate::thread::{HostParts, HostThread};
use std::fmt;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::ControlFlow;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::mpsc;

/// Length of the accept queue (`tcp-backlog` in redis.conf).
const BACKLOG: u32 = 511;

pub struct Member {
    pub role: &'static str,
    pub boot: MachineBuilder,
    pub files: Files,
    pub listener: TcpListener,
}

pub struct Serving {
    addresses: Vec<(&'static str, SocketAddr)>,
    threads: Vec<HostThread>,
    events: mpsc::UnboundedReceiver<Event>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Announcement<'a> {
    /// The ready line: all servers are ready for requests.
    Ready(&'a str),
    Warning(&'a str),
}

impl fmt::Display for Serving {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&ready_line(&self.addresses))
    }
}

pub(crate) fn ready_line(addresses: &[(&'static str, SocketAddr)]) -> String {
    let all = addresses.iter().map(|(role, address)| format!(" {role}={address}"));
    format!("ready{}", all.collect::<String>())
}

impl Serving {
    /// Starts each server on its own thread. Fails if the system refuses a resource.
    pub fn start(members: Vec<Member>) -> Result<Serving, ServeError> {
        let (report, events) = mpsc::unbounded_channel();
        let (mut addresses, mut threads) = (Vec::new(), Vec::new());
        for Member { role, boot, files, listener } in members {
            addresses.push((role, listener.local_addr().map_err(ServeError::System)?));
            let listener = listener.into_std().map_err(ServeError::System)?;
            let thread = HostThread::start(HostParts { boot, files, listener }, report.clone());
            threads.push(thread.map_err(ServeError::System)?);
        }
        Ok(Serving { addresses, threads, events })
    }

    pub fn addresses(&self) -> impl ExactSizeIterator<Item = SocketAddr> {
        self.addresses.iter().map(|(_, address)| *address)
    }

    /// Serves until `stop`, or until all servers have stopped. Each server syncs its written data
    /// before it stops. Fails if a server fails.
    pub async fn until(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        self.announcing(stop, |_| ControlFlow::Continue(())).await
    }

    /// Serves like [`Serving::until`], but also stops when `announce` returns `Break`.
    pub async fn announcing(
        self,
        stop: impl Future<Output = ()>,
        mut announce: impl FnMut(Announcement<'_>) -> ControlFlow<()>,
    ) -> Result<(), ServeError> {
        let ready_line = self.to_string();
        let Serving { threads, mut events, .. } = self;
        let mut starting = threads.len();
        let mut stop = std::pin::pin!(stop);
        loop {
            let event = tokio::select! {
                biased;
                event = events.recv() => event,
                () = &mut stop => break,
            };
            let goes_on = match event {
                None => return Ok(()),
                Some(Event::Ended(result)) => {
                    result?;
                    continue;
                }
                Some(Event::Warning(text)) => announce(Announcement::Warning(&text)),
                Some(Event::Ready) => {
                    starting -= 1;
                    if starting > 0 {
                        continue;
                    }
                    announce(Announcement::Ready(&ready_line))
                }
            };
            if goes_on.is_break() {
                break;
            }
        }
        threads.iter().for_each(HostThread::leave);
        drop(threads);
        all_ended(&mut events).await
    }
}

async fn all_ended(events: &mut mpsc::UnboundedReceiver<Event>) -> Result<(), ServeError> {
    while let Some(event) = events.recv().await {
        if let Event::Ended(result) = event {
            result?;
        }
    }
    Ok(())
}

/// Listens on `count` consecutive ports starting at `port`, or on any free ports if `port` is 0.
/// Needs a tokio runtime.
pub fn listen(bind: IpAddr, port: u16, count: u16) -> Result<Vec<TcpListener>, ServeError> {
    if port > 0 && u32::from(port) + u32::from(count) > 65_536 {
        let fit = format!(
            "--port {port}: the port of the last server would exceed 65535: expected a smaller \
             port, or 0"
        );
        return Err(ServeError::Options(fit));
    }
    (0..count)
        .map(|index| at(bind, if port == 0 { 0 } else { port.saturating_add(index) }))
        .collect()
}

fn at(bind: IpAddr, port: u16) -> Result<TcpListener, ServeError> {
    let address = SocketAddr::new(bind, port);
    let listen = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_reuseaddr(true)?;
        socket.set_keepalive(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listen().map_err(|error| ServeError::Listen { address: address.to_string(), error })
}

/// Returns an IP address at which local clients reach a server that listens on `bind`.
pub fn announced(bind: IpAddr) -> String {
    match bind {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.to_string(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.to_string(),
        address => address.to_string(),
    }
}
