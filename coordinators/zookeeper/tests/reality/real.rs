use fencepost_testing::{Process, free_port, signal, skip, wait_for};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

const JAR: &str = "/usr/share/java/zookeeper.jar";
pub(crate) fn is_there() -> bool {
    let java =
        Command::new("java").arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let has_java = java.is_ok_and(|status| status.success());
    let is_there = has_java && std::path::Path::new(JAR).exists();
    if !is_there {
        skip("FENCEPOST_REAL_ZOOKEEPER", "ZooKeeper 3.8 (libzookeeper-java) or Java runtime");
    }
    is_there
}

pub(crate) struct Real {
    process: Process,
    pub(crate) port: u16,
    is_stopped: bool,
    folder: tempfile::TempDir,
}

fn launch(folder: &tempfile::TempDir) -> Process {
    let mut command = Command::new("java");
    command
        .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"])
        .args(["-Dzookeeper.forceSync=no", "-cp", JAR])
        .arg("org.apache.zookeeper.server.quorum.QuorumPeerMain")
        .arg(folder.path().join("zoo.cfg"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Process(command.spawn().unwrap())
}

impl Real {
    pub(crate) fn alone(tick_ms: u32) -> Real {
        let real = Real::start(free_port(), 1, tick_ms, "");
        real.wait_until_serving();
        real
    }

    pub(crate) fn start(port: u16, id: u8, tick_ms: u32, more: &str) -> Real {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().display();
        let config = format!(
            "tickTime={tick_ms}\ninitLimit=10\nsyncLimit=5\ndataDir={data}\nclientPort={port}\n\
             maxClientCnxns=0\nadmin.enableServer=false\n{more}"
        );
        std::fs::write(folder.path().join("zoo.cfg"), config).unwrap();
        std::fs::write(folder.path().join("myid"), id.to_string()).unwrap();
        Real { process: launch(&folder), port, is_stopped: false, folder }
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    pub(crate) fn restart(&mut self) {
        self.process = launch(&self.folder);
    }

    pub(crate) fn stop(&mut self) {
        signal(self.process.id(), "STOP");
        self.is_stopped = true;
    }

    pub(crate) fn resume(&mut self) {
        signal(self.process.id(), "CONT");
        self.is_stopped = false;
    }

    pub(crate) fn wait_until_serving(&self) {
        wait_for("the server serves", || {
            self.mode()?;
            Some(())
        });
    }

    pub(crate) fn mode(&self) -> Option<String> {
        if self.is_stopped {
            return None;
        }
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        stream.write_all(b"srvr").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let mode = answer.lines().find_map(|line| line.strip_prefix("Mode: "));
        mode.map(str::to_owned)
    }

    pub(crate) fn connect(&self) -> RealConnection {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        RealConnection { stream }
    }
}

pub(crate) struct RealConnection {
    stream: TcpStream,
}

impl RealConnection {
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    pub(crate) fn frame(&mut self) -> Option<Vec<u8>> {
        let mut length = [0; 4];
        self.fill(&mut length)?;
        let mut frame = vec![0; u32::from_be_bytes(length) as usize];
        self.fill(&mut frame)?;
        Some(frame)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Option<()> {
        match self.stream.read_exact(buffer) {
            Ok(()) => Some(()),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                panic!("the real server does not answer")
            }
            Err(_) => None,
        }
    }

    pub(crate) fn is_silent(&mut self, ms: u64) -> bool {
        self.stream.set_read_timeout(Some(Duration::from_millis(ms))).unwrap();
        let peeked = self.stream.peek(&mut [0]);
        self.stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        peeked.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }

    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let _ = self.stream.read_to_end(&mut rest);
        rest
    }
}
