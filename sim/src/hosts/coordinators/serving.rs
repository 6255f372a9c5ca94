//! Serves behind real TCP with persistent files, for single servers and members of an ensemble.

use fencepost_machine::{DiskImage, Machine};
use fencepost_serve::{Files, Member, ServeError, Serving, announced, listen};
use std::net::IpAddr;
use std::path::Path;

#[derive(Clone, Copy)]
pub(crate) struct Place<'p> {
    pub(crate) bind: IpAddr,
    pub(crate) port: u16,
    pub(crate) servers: u16,
    pub(crate) dir: Option<&'p Path>,
    pub(crate) clients_max: Option<u32>,
}

pub(super) struct Seat {
    pub(super) number: u16,
    pub(super) all: Vec<(String, u16)>,
    pub(super) disk: DiskImage,
}

pub(super) fn start<M: Machine + 'static>(
    place: Place<'_>,
    role: &'static str,
    folder: impl Fn(u16) -> String,
    machine: impl Fn(Seat) -> M + Clone + Send + 'static,
) -> Result<Serving, ServeError> {
    let listeners = listen(place.bind, place.port, place.servers)?;
    let (host, mut all) = (announced(place.bind), Vec::new());
    for listener in &listeners {
        all.push((host.clone(), listener.local_addr().map_err(ServeError::System)?.port()));
    }
    let mut served = Vec::new();
    for (number, listener) in (1..).zip(listeners) {
        let (files, disk) = match place.dir {
            None => (Files::none(), DiskImage::default()),
            Some(dir) => Files::open(&dir.join(folder(number)))?,
        };
        let (seat, machine) = (Seat { number, all: all.clone(), disk }, machine.clone());
        let boot = Box::new(move |_| Box::new(machine(seat)) as Box<dyn Machine>);
        served.push(Member { role, boot, files, listener });
    }
    Serving::start(served)
}
