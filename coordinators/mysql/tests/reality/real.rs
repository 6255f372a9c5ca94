use super::packets::{is_whole, query, root, split};
use fencepost_testing::differential::number;
use fencepost_testing::{
    PATIENCE, Process, free_port, give_to_nobody, instant, rest, run_as_nobody, skip,
    wait_until_ready,
};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub(crate) struct Real {
    process: Process,
    port: u16,
    _folder: tempfile::TempDir,
    observer: Option<Connection>,
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/sbin".into());
    folders.into_iter().map(|folder| folder.join(name)).find(|path| path.exists())
}

fn programs() -> Option<(PathBuf, PathBuf)> {
    let (install, server) = (program("mariadb-install-db")?, program("mariadbd")?);
    let said = Command::new(&server).arg("--version").output().ok()?;
    let is_10_11 = String::from_utf8_lossy(&said.stdout).contains("Ver 10.11.");
    is_10_11.then_some((install, server))
}

/// Returns `true` for MariaDB 10.11.19, because other releases answer some statements differently.
pub(crate) fn is_release_modelled() -> bool {
    let said = program("mariadbd").and_then(|server| {
        let said = Command::new(server).arg("--version").output().ok()?;
        Some(String::from_utf8_lossy(&said.stdout).contains("Ver 10.11.19-"))
    });
    said == Some(true)
}

fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.arg("--no-defaults").arg(format!("--datadir={}", folder.join("data").display()));
    // A starting server deletes all temporary tables in this folder, even those of other servers.
    command.env("TMPDIR", folder);
    // MariaDB refuses to run as root.
    run_as_nobody(&mut command);
    command
}

fn prepare(install: &Path, folder: &Path) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let made = command(install, folder)
        .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let said = [made.stdout, made.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(made.status.success(), "mariadb-install-db failed: {said}");
}

fn connect(port: u16) -> Option<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_nodelay(true).ok()?;
    stream.set_read_timeout(Some(patience())).ok()?;
    Some(stream)
}

fn session(port: u16) -> Option<Connection> {
    let mut connection = Connection { stream: connect(port)?, id: 0 };
    let greeting = connection.read_packets(|said| !split(said).is_empty());
    let (_, body) = *split(&greeting).first()?;
    let after = body.iter().position(|byte| *byte == 0)? + 1;
    connection.id = u32::from_le_bytes(body.get(after..after + 4)?.try_into().ok()?);
    connection.send(&root());
    let welcome = connection.read();
    split(&welcome).first().filter(|(_, body)| body.first() == Some(&0))?;
    Some(connection)
}

impl Real {
    pub(crate) fn start() -> Option<Real> {
        Real::start_with(&[])
    }

    pub(crate) fn start_with(more: &[&str]) -> Option<Real> {
        let Some((install, server)) = programs() else {
            skip("FENCEPOST_REAL_MYSQL", "MariaDB 10.11");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        give_to_nobody(folder.path());
        prepare(&install, folder.path());
        let port = free_port();
        let socket = folder.path().join("socket");
        let process = command(&server, folder.path())
            .arg(format!("--socket={}", socket.display()))
            .arg(format!("--port={port}"))
            .args(["--bind-address=127.0.0.1", "--character-set-server=utf8mb4"])
            .args(["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=8M"])
            .args(more)
            .spawn()
            .unwrap();
        let mut real = Real { process: Process(process), port, _folder: folder, observer: None };
        let observer = wait_until_ready("MariaDB", &mut real.process, || session(port));
        real.observer = Some(observer);
        Some(real)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        connect(self.port).unwrap()
    }

    pub(crate) fn session(&self) -> Connection {
        session(self.port).unwrap()
    }

    /// Uses SHOW PROCESSLIST, because queries on information_schema can crash MariaDB 10.11.19.
    fn sessions(&mut self) -> Vec<Seen> {
        let answer = self.query_observer("SHOW PROCESSLIST");
        split(&answer).into_iter().filter_map(|(_, body)| seen(body)).collect()
    }

    fn watch(&mut self, mut is_enough: impl FnMut(&[Seen]) -> bool) -> bool {
        let deadline = instant() + patience();
        while instant() < deadline {
            let mut rows = self.sessions();
            rows.extend(self.wait_for_rows().into_iter().map(Seen::waiting));
            if is_enough(&rows) {
                return true;
            }
            rest(Duration::from_micros(200));
        }
        false
    }

    pub(crate) fn waits(&mut self, connection: &mut Connection) -> bool {
        let mut has_answer = false;
        let own = Seen { id: connection.id, waits: true };
        self.watch(|all| {
            has_answer = connection.has_answer();
            all.contains(&own) || has_answer
        }) && !has_answer
    }

    pub(crate) fn query_observer(&mut self, sql: &str) -> Vec<u8> {
        self.observer.as_mut().unwrap().ask(&query(sql))
    }

    fn wait_for_rows(&mut self) -> Vec<u32> {
        let status = self.query_observer("SHOW ENGINE INNODB STATUS");
        let status = String::from_utf8_lossy(&status).into_owned();
        let transactions = status.split("---TRANSACTION").skip(1);
        let waiting = transactions.filter(|one| one.contains("LOCK WAIT"));
        let id = |one: &str| {
            let (_, after) = one.split_once("MariaDB thread id ")?;
            after.split(',').next()?.parse().ok()
        };
        waiting.filter_map(id).collect()
    }

    pub(crate) fn is_gone(&mut self, id: u32) -> bool {
        let deadline = instant() + patience();
        while instant() < deadline {
            if self.sessions().iter().all(|one| one.id != id) {
                return true;
            }
            rest(Duration::from_micros(50));
        }
        false
    }

    pub(crate) fn is_alone(&mut self) -> bool {
        self.watch(|all| all.len() == 1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    id: u32,
    waits: bool,
}

impl Seen {
    fn waiting(id: u32) -> Seen {
        Seen { id, waits: true }
    }
}

fn seen(body: &[u8]) -> Option<Seen> {
    let (mut values, mut rest) = (Vec::new(), body);
    while let Some((length, after)) = rest.split_first() {
        let length = if *length == 0xfb { 0 } else { usize::from(*length) };
        values.push(std::str::from_utf8(after.get(..length)?).ok()?);
        rest = &after[length..];
    }
    let [id, _, _, _, command, _, state, ..] = values[..] else { return None };
    let id = id.parse().ok().filter(|_| command != "Daemon")?;
    Some(Seen { id, waits: state == "User lock" })
}

pub(crate) struct Connection {
    stream: TcpStream,
    pub(crate) id: u32,
}

impl Connection {
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub(crate) fn read(&mut self) -> Vec<u8> {
        self.read_packets(is_whole)
    }

    fn read_packets(&mut self, is_enough: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let (mut said, mut buffer) = (Vec::new(), [0; 16_384]);
        while !is_enough(&said) {
            match self.stream.read(&mut buffer) {
                Ok(length @ 1..) => said.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    said.extend_from_slice(b"(nothing more)");
                    break;
                }
                _ => break,
            }
        }
        said
    }

    pub(crate) fn ask(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.send(bytes);
        self.read()
    }

    fn has_answer(&mut self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let outcome = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false).unwrap();
        !matches!(outcome, Err(error) if error.kind() == ErrorKind::WouldBlock)
    }
}

fn patience() -> Duration {
    number("FENCEPOST_DIFFERENTIAL_PATIENCE_MS").map_or(PATIENCE, Duration::from_millis)
}
