use fake_redis::serve::ServeOptions;
use fencepost_machine::{DiskImage, Machine, Now, peers};
use fencepost_serve::{
    Files, Member, ServeError, Serving, StagedServer, announced, clocks, listen,
};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;

#[derive(Clone, Copy)]
pub(crate) struct Place<'p> {
    pub(crate) bind: IpAddr,
    pub(crate) port: u16,
    pub(crate) servers: u16,
    pub(crate) dir: Option<&'p Path>,
}

type Address = (String, u16);

pub(super) struct Seat {
    pub(super) number: u16,
    pub(super) all: Vec<Address>,
    pub(super) disk: DiskImage,
    pub(super) now: Now,
}

impl Seat {
    /// Returns the seat's id and all members of its ensemble.
    pub(super) fn members(&self) -> (u8, Vec<peers::Member>) {
        let id = |number| u8::try_from(number).unwrap_or(u8::MAX);
        let member = |(number, (host, port)): (u16, &Address)| peers::Member {
            id: id(number),
            host: host.clone(),
            port: *port,
        };
        (id(self.number), (1..).zip(&self.all).map(member).collect())
    }
}

/// Returns the number of clients that a server accepts at the same time.
pub(super) fn bound(clients_max: Option<u32>, default: usize) -> usize {
    clients_max.map_or(default, |bound| bound as usize)
}

#[derive(Clone)]
pub(crate) struct Served {
    role: &'static str,
    is_numbered: bool,
    machine: Arc<dyn Fn(Seat) -> Box<dyn Machine> + Send + Sync>,
}

impl Served {
    /// Serves one or more machines. Each machine's folder is named `ROLE-NUMBER`, such as `etcd-2`.
    pub(super) fn ensemble<M: Machine + 'static>(
        role: &'static str,
        machine: impl Fn(Seat) -> M + Send + Sync + 'static,
    ) -> Served {
        let machine = Arc::new(move |seat| -> Box<dyn Machine> { Box::new(machine(seat)) });
        Served { role, is_numbered: true, machine }
    }

    pub(super) fn single<M: Machine + 'static>(
        role: &'static str,
        machine: impl Fn(Seat) -> M + Send + Sync + 'static,
    ) -> Served {
        Served { is_numbered: false, ..Served::ensemble(role, machine) }
    }

    fn folder(&self, number: u16) -> String {
        match self.is_numbered {
            true => format!("{}-{number}", self.role),
            false => self.role.to_owned(),
        }
    }

    pub(crate) fn start(&self, place: Place<'_>) -> Result<Serving, ServeError> {
        let (listeners, all) = addresses(place)?;
        let mut members = Vec::new();
        for (number, listener) in (1..).zip(listeners) {
            let (files, disk) = match place.dir {
                None => (Files::none(), DiskImage::default()),
                Some(dir) => Files::open(&dir.join(self.folder(number)))?,
            };
            let (all, machine) = (all.clone(), Arc::clone(&self.machine));
            let boot = Box::new(move |_| machine(Seat { number, all, disk, now: clocks() }));
            members.push(Member { role: self.role, boot, files, listener });
        }
        Serving::start(members)
    }

    pub(crate) fn stage(
        &self,
        place: Place<'_>,
    ) -> Result<(Vec<TcpListener>, Vec<StagedServer>), ServeError> {
        let (listeners, all) = addresses(place)?;
        let server = |(number, (_, port)): (u16, &Address)| {
            let (all, machine) = (all.clone(), Arc::clone(&self.machine));
            let boot = Box::new(move |start: fencepost_serve::Start| {
                machine(Seat { number, all: all.clone(), disk: start.disk, now: start.now })
            });
            StagedServer { role: self.role, port: *port, boot }
        };
        let servers = (1..).zip(&all).map(server).collect();
        Ok((listeners, servers))
    }
}

pub(crate) fn stage_redis(
    options: &ServeOptions,
) -> Result<(Vec<TcpListener>, Vec<StagedServer>), ServeError> {
    let (bind, port, servers) = (options.bind, options.port, options.count()?);
    let (listeners, all) = addresses(Place { bind, port, servers, dir: None })?;
    let ports: Vec<u16> = all.into_iter().map(|(_, port)| port).collect();
    Ok((listeners, fake_redis::serve::staged(options, &ports)?))
}

fn addresses(place: Place<'_>) -> Result<(Vec<TcpListener>, Vec<Address>), ServeError> {
    let listeners = listen(place.bind, place.port, place.servers)?;
    let (host, mut all) = (announced(place.bind), Vec::new());
    for listener in &listeners {
        all.push((host.clone(), listener.local_addr().map_err(ServeError::System)?.port()));
    }
    Ok((listeners, all))
}
