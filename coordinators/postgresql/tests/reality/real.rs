use super::messages::{is_whole, query, shown, split, startup};
use fencepost_testing::{
    PATIENCE, free_port, give_to_nobody, instant, rest, run_as_nobody, signal, skip,
    wait_until_ready,
};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    give_to_nobody(folder.path());
    folder
}

pub(crate) struct Real {
    process: Child,
    port: u16,
    folder: tempfile::TempDir,
    observer: Option<Connection>,
}

fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let folders = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = folders.chain(std::env::split_paths(&path).collect::<Vec<_>>());
    all.filter(|folder| folder.join("initdb").exists()).find(|folder| is_15(folder))
}

fn is_15(folder: &Path) -> bool {
    let said = Command::new(folder.join("postgres")).arg("--version").output();
    said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains(") 15."))
}

fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // PostgreSQL refuses to run as root.
    run_as_nobody(&mut command);
    command
}

fn connect(port: u16) -> Option<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_nodelay(true).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    Some(stream)
}

fn session(port: u16) -> Option<Connection> {
    let mut connection = Connection { stream: connect(port)?, pid: 0, welcome: Vec::new() };
    connection.stream.write_all(&startup()).ok()?;
    connection.welcome = connection.read();
    let messages = split(&connection.welcome);
    let (_, key) = messages.iter().find(|(kind, _)| *kind == b'K')?;
    connection.pid = u32::from_be_bytes([key[0], key[1], key[2], key[3]]);
    Some(connection)
}

impl Real {
    pub(crate) fn start() -> Option<Real> {
        let Some(programs) = programs() else {
            skip("FENCEPOST_REAL_POSTGRESQL", "PostgreSQL 15");
            return None;
        };
        let folder = folder();
        let data = folder.path().join("data");
        let made = command(&programs.join("initdb"), folder.path())
            .args(["-A", "trust", "-U", "postgres", "-N", "--locale=C", "-E", "UTF8", "-D"])
            .arg(&data)
            .status();
        assert!(made.unwrap().success(), "initdb failed");
        Some(Real::launch(&programs, folder))
    }

    pub(crate) fn standby(&self) -> Real {
        let (programs, folder) = (programs().unwrap(), folder());
        let made = command(&programs.join("pg_basebackup"), folder.path())
            .args(["-h", "127.0.0.1", "-U", "postgres", "-p", &self.port.to_string()])
            .args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "-D"])
            .arg(folder.path().join("data"))
            .status();
        assert!(made.unwrap().success(), "pg_basebackup failed");
        Real::launch(&programs, folder)
    }

    fn launch(programs: &Path, folder: tempfile::TempDir) -> Real {
        let port = free_port();
        let mut settings = vec![format!("port={port}")];
        settings.extend(
            [
                "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off",
                "autovacuum=off",
            ]
            .map(str::to_owned),
        );
        settings.extend(["deadlock_timeout=10ms", "TimeZone=UTC"].map(str::to_owned));
        // Shorten this interval: a promotion waits for the standby's next attempt to reach the
        // primary.
        settings.push("wal_retrieve_retry_interval=50ms".to_owned());
        // With mmap, dynamic shared memory consists of files in the data folder.
        settings.push("dynamic_shared_memory_type=mmap".to_owned());
        let mut server = command(&programs.join("postgres"), folder.path());
        server.arg("-D").arg(folder.path().join("data"));
        for setting in &settings {
            server.args(["-c", setting]);
        }
        let process = server.spawn().unwrap();
        let mut real = Real { process, port, folder, observer: None };
        let observer = wait_until_ready("PostgreSQL", &mut real.process, || session(port));
        real.observer = Some(observer);
        real
    }

    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        // A killed server leaves its SysV segment behind; `postmaster.pid` has its key and id.
        let text = std::fs::read_to_string(self.folder.path().join("data/postmaster.pid")).unwrap();
        let id = text.lines().nth(6).and_then(|line| line.split_whitespace().nth(1)).unwrap();
        assert!(Command::new("ipcrm").args(["-m", id]).status().unwrap().success());
    }

    pub(crate) fn connect(&self) -> TcpStream {
        connect(self.port).unwrap()
    }

    pub(crate) fn session(&self) -> Connection {
        session(self.port).unwrap()
    }

    pub(crate) fn wait_alone(&mut self) {
        let ask = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'";
        let deadline = instant() + PATIENCE;
        while self.observer.as_mut().unwrap().value(ask) != "1" {
            assert!(instant() < deadline, "a session does not end");
            rest(Duration::from_millis(1));
        }
    }

    pub(crate) fn waits(&mut self, connection: &mut Connection) -> bool {
        let pid = connection.pid;
        let ask = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE pid = {pid} AND wait_event_type = 'Lock'"
        );
        let deadline = instant() + PATIENCE;
        while instant() < deadline {
            let answer = shown(&self.observer.as_mut().unwrap().ask(&query(&ask)));
            if answer.contains("\\u{1}1\"") {
                // Wait a little longer, because the server's deadlock check may still end the wait.
                rest(Duration::from_millis(25));
                return !connection.has_answer();
            }
            if connection.has_answer() {
                return false;
            }
        }
        false
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            // QUIT requests an immediate shutdown, which removes the server's shared memory.
            signal(self.process.id(), "QUIT");
            let _ = self.process.wait();
        }
    }
}

pub(crate) struct Connection {
    stream: TcpStream,
    pid: u32,
    pub(crate) welcome: Vec<u8>,
}

impl Connection {
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub(crate) fn read(&mut self) -> Vec<u8> {
        let (mut said, mut buffer) = (Vec::new(), [0; 16_384]);
        while !is_whole(&said) {
            match self.stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => said.extend_from_slice(&buffer[..length]),
                Err(error) => {
                    said.extend_from_slice(format!("({error})").as_bytes());
                    break;
                }
            }
        }
        said
    }

    pub(crate) fn ask(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.send(bytes);
        self.read()
    }

    pub(crate) fn value(&mut self, sql: &str) -> String {
        let answer = split(&self.ask(&query(sql)));
        let row = answer.into_iter().find(|(kind, _)| *kind == b'D');
        row.map(|(_, row)| String::from_utf8_lossy(&row[6..]).into_owned()).unwrap_or_default()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn has_answer(&mut self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let outcome = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false).unwrap();
        !matches!(outcome, Err(error) if error.kind() == ErrorKind::WouldBlock)
    }
}
