use super::{System, TIMEOUT_MS};
use fencepost_testing::{Process, free_port, instant, signal, skip, wait_for};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const OPENS: [&str; 3] = [
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
];

struct Member {
    process: Process,
    input: ChildStdin,
    output: Receiver<String>,
    answers: VecDeque<String>,
}

#[derive(Clone, Copy)]
pub(super) struct Libraries {
    folder: &'static str,
    jar: &'static str,
}

pub(super) const GEODE: Libraries =
    Libraries { folder: ".cache/java-geode", jar: "geode-core-1.15.1.jar" };
/// Libraries with Spring Integration's lock registry and its version of Geode (1.13.8).
pub(super) const SPRING: Libraries =
    Libraries { folder: ".cache/java-geode-spring", jar: "spring-integration-gemfire-5.5.20.jar" };

pub(super) struct Members {
    folder: PathBuf,
    classes: String,
    port: String,
    since: Instant,
    locator: Option<Member>,
    members: Vec<Option<Member>>,
}

impl Drop for Members {
    fn drop(&mut self) {
        self.members.clear();
        self.locator = None;
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Members {
    pub(super) fn started(on: Libraries) -> Option<Members> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let libraries = root.join(on.folder);
        let is_there = |program| Command::new(program).arg("-version").output().is_ok();
        if !libraries.join(on.jar).exists() || !is_there("java") || !is_there("javac") {
            skip("FENCEPOST_REAL_GEMFIRE", "java, javac or Geode (ci/install.sh geode)");
            return None;
        }
        let port = free_port().to_string();
        let folder = std::env::temp_dir().join(format!("fencepost-geode-{port}"));
        std::fs::create_dir_all(&folder).unwrap();
        let source = root.join("coordinators/gemfire/src/tests/reality/Members.java");
        let classes = format!("{}:{}/*", folder.display(), libraries.display());
        let mut compiler = Command::new("javac");
        compiler.args(["-cp", &classes, "-d"]).arg(&folder).arg(source);
        assert!(compiler.status().unwrap().success(), "javac");
        let since = instant();
        let members = vec![None, None, None];
        let mut all = Members { folder, classes, port, since, locator: None, members };
        all.locator = Some(all.launch("locator"));
        (0..3).for_each(|who| all.start(who));
        all.pass(1_000);
        Some(all)
    }

    fn launch(&self, name: &str) -> Member {
        let mut command = Command::new("java");
        command
            .args(OPENS)
            .args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", &self.classes, "Members"])
            .arg(&self.folder)
            .args([name, &self.port, &TIMEOUT_MS.to_string()])
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = Process(command.spawn().unwrap());
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(answer) = line.strip_prefix("= ") {
                    let _ = sender.send(answer.to_owned());
                }
            }
        });
        let answer = receiver.recv_timeout(Duration::from_secs(120));
        assert_eq!(answer.as_deref(), Ok("ready"), "{name}: see {}", self.folder.display());
        Member { process, input, output: receiver, answers: VecDeque::new() }
    }

    fn member(&mut self, who: usize) -> &mut Member {
        self.members[who].as_mut().unwrap()
    }

    pub(super) fn send(&mut self, who: usize, command: &str) {
        writeln!(self.member(who).input, "{command}").unwrap();
    }

    pub(super) fn take(&mut self, who: usize) -> Option<String> {
        let member = self.member(who);
        member.answers.extend(member.output.try_iter());
        member.answers.pop_front()
    }

    pub(super) fn answer(&mut self, who: usize) -> String {
        wait_for("a member answers", || self.take(who))
    }

    pub(super) fn ask(&mut self, who: usize, command: &str) -> String {
        self.send(who, command);
        self.answer(who)
    }
}

impl System for Members {
    fn begin(&mut self, who: usize, lock: &str, wait_ms: u64, lease_ms: u64) {
        let lease_ms = if lease_ms == 0 { "-1".to_owned() } else { lease_ms.to_string() };
        self.send(who, &format!("lock {lock} {wait_ms} {lease_ms}"));
    }

    fn outcome(&mut self, who: usize) -> Option<bool> {
        self.take(who).map(|answer| answer == "true")
    }

    fn unlock(&mut self, who: usize, lock: &str) -> bool {
        self.ask(who, &format!("unlock {lock}")) == "unlocked"
    }

    fn pass(&mut self, span_ms: u64) {
        std::thread::park_timeout(Duration::from_millis(span_ms));
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap()
    }

    fn kill(&mut self, who: usize) {
        self.members[who] = None;
    }

    fn stop(&mut self, who: usize) {
        signal(self.member(who).process.id(), "STOP");
    }

    fn resume(&mut self, who: usize) {
        signal(self.member(who).process.id(), "CONT");
    }

    fn start(&mut self, who: usize) {
        self.members[who] = None;
        self.members[who] = Some(self.launch(["a", "b", "c"][who]));
    }

    fn kill_grantor(&mut self) {
        assert_eq!(self.ask(0, "become"), "true");
        self.kill(0);
    }

    fn kill_majority(&mut self) {
        (self.members[0], self.members[1], self.locator) = (None, None, None);
    }

    fn has_given_up(&mut self) -> bool {
        self.ask(2, "closed") == "true"
    }
}
