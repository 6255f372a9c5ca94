use super::http::{Server, whole};
use fencepost_testing::{PATIENCE, Process, free_port, skip, wait_until_ready};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

const SILENCE: Duration = Duration::from_millis(300);

pub(crate) struct Real {
    process: Process,
    port: u16,
    kept: Option<TcpStream>,
    _folder: tempfile::TempDir,
}

fn is_healthy(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let asked = stream.write_all(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
    let mut said = [0; 4_096];
    let length = asked.and_then(|()| stream.read(&mut said)).unwrap_or(0);
    String::from_utf8_lossy(&said[..length]).contains("\"true\"")
}

pub(crate) fn is_there() -> bool {
    let said = Command::new("etcd").arg("--version").output();
    let is_there =
        said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains("Version: 3.4."));
    if !is_there {
        skip("FENCEPOST_REAL_ETCD", "etcd 3.4");
    }
    is_there
}

impl Real {
    pub(crate) fn start() -> Option<Real> {
        if !is_there() {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let (client, peer) =
            (format!("http://127.0.0.1:{port}"), format!("http://127.0.0.1:{}", free_port()));
        let cluster = format!("default={peer}");
        let process = Command::new("etcd")
            .args(["--unsafe-no-fsync", "--data-dir"])
            .arg(folder.path().join("data"))
            .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
            .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
            .args(["--initial-cluster", &cluster])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut real = Real { process: Process(process), port, kept: None, _folder: folder };
        wait_until_ready("etcd", &mut real.process, || is_healthy(port).then_some(()));
        Some(real)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }
}

pub(crate) fn read(stream: &mut TcpStream, is_enough: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let (mut said, mut buffer) = (Vec::new(), [0; 65_536]);
    while !is_enough(&said) {
        match stream.read(&mut buffer) {
            Ok(0) => {
                said.extend_from_slice(b"<end>");
                break;
            }
            Ok(length) => said.extend_from_slice(&buffer[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                break;
            }
            Err(_) => {
                said.extend_from_slice(b"<end>");
                break;
            }
        }
    }
    said
}

fn has_answers(said: &[u8], mut count: usize) -> bool {
    let mut rest = said;
    while count > 0 {
        let Some(length) = whole(rest) else { return false };
        rest = &rest[length..];
        count -= 1;
    }
    true
}

impl Server for Real {
    fn ask_on_new_connection(&mut self, bytes: &[u8], answers: usize) -> Vec<u8> {
        let mut stream = self.connect();
        stream.set_read_timeout(Some(SILENCE)).unwrap();
        let _ = stream.write_all(bytes);
        read(&mut stream, |said| answers > 0 && has_answers(said, answers))
    }

    fn ask(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.kept.take().unwrap_or_else(|| self.connect());
        stream.write_all(bytes).unwrap();
        let said = read(&mut stream, |said| has_answers(said, 1));
        self.kept = Some(stream);
        said
    }
}
