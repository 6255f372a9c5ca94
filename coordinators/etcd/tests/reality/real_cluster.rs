use super::cluster::{Cluster, Pace};
use super::real::{is_there, read};
use fencepost_testing::{Process, free_port, instant, rest, signal};
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

struct Member {
    process: Process,
    name: String,
    ports: [u16; 2],
    folder: tempfile::TempDir,
}

pub(crate) struct RealCluster {
    members: Vec<Member>,
    cluster: String,
    pace: Pace,
    started: Instant,
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

fn run(
    name: &str,
    [client, peer]: [u16; 2],
    (cluster, pace): (&str, Pace),
    folder: &Path,
) -> Process {
    let (client, peer) = (url(client), url(peer));
    let process = Command::new("etcd")
        .args(["--unsafe-no-fsync", "--name", name, "--data-dir"])
        .arg(folder.join("data"))
        .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
        .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
        .args(["--initial-cluster", cluster])
        .args(["--heartbeat-interval", &pace.heartbeat_ms.to_string()])
        .args(["--election-timeout", &pace.election_ms.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Process(process.unwrap())
}

impl RealCluster {
    pub(crate) fn start(pace: Pace) -> Option<RealCluster> {
        if !is_there() {
            return None;
        }
        let ports: Vec<[u16; 2]> = (0..3).map(|_| [free_port(), free_port()]).collect();
        let names: Vec<String> = (0..3).map(|at| format!("m{at}")).collect();
        let each =
            names.iter().zip(&ports).map(|(name, [_, peer])| format!("{name}={}", url(*peer)));
        let cluster = each.collect::<Vec<_>>().join(",");
        let member = |(name, ports): (String, [u16; 2])| {
            let folder = tempfile::tempdir().unwrap();
            let process = run(&name, ports, (&cluster, pace), folder.path());
            Member { process, name, ports, folder }
        };
        let members = names.into_iter().zip(ports).map(member).collect();
        Some(RealCluster { members, cluster, pace, started: instant() })
    }

    fn signal(&self, at: usize, name: &str) {
        signal(self.members[at].process.id(), name);
    }
}

pub(crate) struct Call {
    stream: Option<TcpStream>,
    said: Vec<u8>,
}

impl Cluster for RealCluster {
    type Call = Call;

    fn send(&mut self, at: usize, bytes: &[u8]) -> Call {
        let mut stream = TcpStream::connect(("127.0.0.1", self.members[at].ports[0])).ok();
        if let Some(stream) = &mut stream {
            stream.set_nodelay(true).unwrap();
            let _ = stream.write_all(bytes);
        }
        Call { stream, said: Vec::new() }
    }

    fn read_reply(&mut self, call: &mut Call, enough: fn(&[u8]) -> bool, ms: u64) -> Vec<u8> {
        if let Some(stream) = &mut call.stream
            && !enough(&call.said)
        {
            stream.set_read_timeout(Some(Duration::from_millis(ms))).unwrap();
            let before = call.said.clone();
            let more = read(stream, |more| enough(&[&before[..], more].concat()));
            call.said.extend(more);
        }
        call.said.clone()
    }

    fn now_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn pass(&mut self, ms: u64) {
        rest(Duration::from_millis(ms));
    }

    fn kill(&mut self, at: usize) {
        let _ = self.members[at].process.kill();
        let _ = self.members[at].process.wait();
    }

    fn restart(&mut self, at: usize) {
        let Member { name, ports, folder, .. } = &self.members[at];
        let process = run(name, *ports, (&self.cluster, self.pace), folder.path());
        self.members[at].process = process;
    }

    fn stop(&mut self, at: usize) {
        self.signal(at, "STOP");
    }

    fn resume(&mut self, at: usize) {
        self.signal(at, "CONT");
    }
}
