//! Runs a program, a `Group` of traced threads, without the simulator. If all threads wait, time
//! jumps to the next event.

pub(crate) mod server;

use fencepost_programs::{
    CallMade, Channel, Clocks, Ending, FilesUsed, Group, Launch, News, Request,
};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

pub(crate) const EPOCH_US: i64 = 1_700_000_000_000_000;
const STEPS_MAX: u32 = 2_000_000;

pub(crate) struct Alone {
    pub(crate) ending: Ending,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) elapsed_us: u64,
    pub(crate) calls: Vec<CallMade>,
    pub(crate) preempted: u32,
    pub(crate) used: FilesUsed,
    pub(crate) dropped: usize,
}

pub(crate) fn launch(command: &[&str]) -> Launch {
    let path = std::env::var("PATH").unwrap_or_default();
    let environment = [("PATH", path.as_str()), ("HOME", "/"), ("LANG", "C.UTF-8"), ("TZ", "UTC")];
    Launch {
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        folder: "/".into(),
        host_name: "client-1".to_owned(),
        aliases: BTreeMap::new(),
        hosts: BTreeMap::from([
            ("client-1".to_owned(), Ipv4Addr::new(10, 0, 0, 1)),
            ("nobody".to_owned(), Ipv4Addr::new(10, 0, 0, 2)),
            (server::NAME.to_owned(), Ipv4Addr::new(10, 0, 0, 3)),
        ]),
        seed: 7,
        machine_seed: 1,
        first_process: 1001,
        user: None,
        sync_us: None,
        temporary: Vec::new(),
    }
}

pub(crate) fn run_alone(launch: &Launch) -> Alone {
    let mut server = server::Simulated::default();
    let mut group = Group::start(launch).expect("the program starts");
    let (mut now, mut stdout, mut stderr) = (1_000_000_000, Vec::new(), Vec::new());
    let began = now;
    for _ in 0..STEPS_MAX {
        let wall_us = EPOCH_US + (now - began) as i64;
        let step = group.step(Clocks { wall_us, monotonic_us: now });
        for output in group.take_output() {
            match output.channel {
                Channel::Stdout => stdout.extend(output.bytes),
                Channel::Stderr => stderr.extend(output.bytes),
            }
        }
        if let Some(ending) = step.ending {
            return Alone {
                ending,
                stdout: String::from_utf8_lossy(&stdout).into_owned(),
                stderr: String::from_utf8_lossy(&stderr).into_owned(),
                elapsed_us: now - began,
                calls: group.calls().to_vec(),
                preempted: group.preempted(),
                used: group.files_used().clone(),
                dropped: group.output_dropped(),
            };
        }
        let mut news = Vec::new();
        for request in step.requests {
            match request {
                Request::Connect { socket, host, .. } if host != server::NAME => {
                    news.push(News::Refused(socket));
                }
                request => server.hears(request, now),
            }
        }
        news.extend(server.says(now));
        if news.is_empty() {
            let woken = step.wake_after_us.map(|us| now + us);
            let next = woken.into_iter().chain(server.next()).min();
            now = next.expect("it waits for something that can come");
            news.extend(server.says(now));
        }
        news.into_iter().for_each(|news| group.deliver(news));
    }
    panic!("{:?} does not end", launch.command);
}
