use fencepost_testing::{PATIENCE, Process, free_port, wait_for, wait_until_ready};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub(crate) fn skip(program: &str) {
    fencepost_testing::skip("FENCEPOST_REAL_REDIS", &format!("{program} 7.0"));
}

pub(crate) struct RealRedis {
    process: Process,
    pub(crate) port: u16,
    folder: tempfile::TempDir,
}

impl RealRedis {
    pub(crate) fn start(options: &[&str]) -> Option<RealRedis> {
        RealRedis::start_in(tempfile::tempdir().unwrap(), options)
    }

    fn start_in(folder: tempfile::TempDir, options: &[&str]) -> Option<RealRedis> {
        let port = free_port();
        let number = port.to_string();
        let mut all =
            vec!["--port", &number, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
        all.extend(options);
        RealRedis::run("redis-server", port, &all, folder)
    }

    pub(crate) fn sentinel(master: u16) -> Option<RealRedis> {
        let port = free_port();
        let text = format!(
            "port {port}\nbind 127.0.0.1\nsentinel monitor mymaster 127.0.0.1 {master} 1\n\
             sentinel down-after-milliseconds mymaster 1000\nsentinel failover-timeout mymaster \
             20000\n"
        );
        RealRedis::sentinel_of(port, &text)
    }

    pub(crate) fn sentinel_of(port: u16, text: &str) -> Option<RealRedis> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sentinel.conf");
        std::fs::write(&file, text).unwrap();
        RealRedis::run("redis-sentinel", port, &[file.to_str().unwrap()], folder)
    }

    pub(crate) fn sentinel_file(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("sentinel.conf")).unwrap()
    }

    fn run(
        program: &str,
        port: u16,
        options: &[&str],
        folder: tempfile::TempDir,
    ) -> Option<RealRedis> {
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let process = Command::new(program)
            .args(options)
            .current_dir(folder.path())
            .stdout(log)
            .stderr(Stdio::null())
            .spawn();
        let Ok(process) = process else {
            skip(program);
            return None;
        };
        let mut real = RealRedis { process: Process(process), port, folder };
        wait_until_ready(program, &mut real.process, || {
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        Some(real)
    }

    pub(crate) fn restart(mut self, options: &[&str]) -> Option<RealRedis> {
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        drop(self);
        let real = RealRedis::start_in(folder, options)?;
        wait_for("its data are loaded", || {
            (!real.connect().run("PING").starts_with("-LOADING")).then_some(())
        });
        Some(real)
    }

    pub(crate) fn connect(&self) -> Client {
        Client::of(self.port)
    }

    pub(crate) fn log(&self) -> String {
        let path: PathBuf = self.folder.path().join("log");
        std::fs::read_to_string(path).unwrap()
    }
}

pub(crate) fn encode(words: &[impl AsRef<str>]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        let word = word.as_ref();
        bytes.extend_from_slice(format!("${}\r\n{word}\r\n", word.len()).as_bytes());
    }
    bytes
}

fn reply_length(bytes: &[u8]) -> Option<usize> {
    let line = bytes.windows(2).position(|pair| pair == b"\r\n")? + 2;
    let number = || std::str::from_utf8(&bytes[1..line - 2]).ok()?.parse::<i64>().ok();
    let elements = |count: i64| {
        let mut length = line;
        for _ in 0..count {
            length += reply_length(bytes.get(length..)?)?;
        }
        Some(length)
    };
    match bytes[0] {
        b'$' | b'=' => {
            let length = usize::try_from(number()?).map_or(line, |content| line + content + 2);
            (bytes.len() >= length).then_some(length)
        }
        b'*' | b'~' | b'>' => elements(number()?),
        b'%' => elements(number()? * 2),
        _ => Some(line),
    }
}

pub(crate) struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Client {
    pub(crate) fn of(port: u16) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client { stream, received: Vec::new() }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub(crate) fn read(&mut self) -> Vec<u8> {
        let mut buffer = [0; 65_536];
        loop {
            if let Some(length) = reply_length(&self.received).filter(|_| !self.received.is_empty())
            {
                let rest = self.received.split_off(length);
                return std::mem::replace(&mut self.received, rest);
            }
            let length = self.stream.read(&mut buffer).unwrap_or(0);
            if length == 0 {
                return std::mem::take(&mut self.received);
            }
            self.received.extend_from_slice(&buffer[..length]);
        }
    }

    pub(crate) fn ask(&mut self, words: &[&str]) -> Vec<u8> {
        self.write(&encode(words));
        self.read()
    }

    pub(crate) fn run(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let reply = String::from_utf8_lossy(&self.ask(&words)).into_owned();
        reply.strip_suffix("\r\n").unwrap_or(&reply).replace("\r\n", "|")
    }

    pub(crate) fn info(&mut self, name: &str) -> Option<String> {
        let info = self.run("INFO everything");
        info.split('|')
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .map(str::to_owned)
    }
}
