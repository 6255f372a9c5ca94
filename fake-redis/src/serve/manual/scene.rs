use super::history::History;
use super::wire;
use fencepost_machine::WallTime;
use fencepost_serve::{LostMessage, Place, Sent, Stage, StageRecord, StagedServer, Trap};

/// Initial reading of every wall clock: 14 November 2023, 22:13:20 UTC.
const BEGINNING: WallTime = WallTime(1_700_000_000_000_000);
/// Id of the delay that LAG sets. The id of a cut is the index of its server.
const LAG: u32 = u32::MAX;

pub(super) struct Scene {
    pub(super) stage: Stage,
    pub(super) names: Vec<String>,
    pub(super) history: History,
    pub(super) primary: usize,
    trapped: Vec<String>,
}

impl Scene {
    pub(super) fn new(servers: Vec<(String, StagedServer)>) -> Scene {
        let (names, servers): (Vec<String>, Vec<StagedServer>) = servers.into_iter().unzip();
        let stage = Stage::new(BEGINNING, servers);
        let (history, trapped) = (History::default(), Vec::new());
        let mut scene = Scene { stage, names, history, primary: 0, trapped };
        scene.record_history();
        scene
    }

    pub(super) fn reset(&mut self) {
        self.stage.reset();
        self.history = History::default();
        self.primary = 0;
        self.trapped.clear();
        self.record_history();
    }

    pub(super) fn note(&mut self, server: usize, what: &str) {
        self.record_history();
        self.history.note(self.stage.now_us(), &self.names[server], what.to_owned());
    }

    pub(super) fn take_sent(&mut self) -> Vec<(u64, Sent)> {
        self.record_history();
        self.stage.take_sent()
    }

    pub(super) fn record_history(&mut self) {
        for record in self.stage.take_records() {
            let name = &self.names[record.server];
            match record.what {
                StageRecord::Tap(event) => self.history.tap(record.at_us, name, &event),
                StageRecord::Triggered(id) => {
                    let command = &self.trapped[id as usize];
                    let what = format!("the reply to {command} is lost");
                    self.history.note(record.at_us, name, what);
                }
            }
        }
    }

    pub(super) fn is_sentinel(&self, server: usize) -> bool {
        self.names[server].starts_with("sentinel")
    }

    pub(super) fn set_lag(&mut self, lag_us: u64) {
        self.stage.remove_delay(LAG);
        let replicate = (0..self.names.len()).filter(|server| !self.is_sentinel(*server));
        let servers: Vec<Place> = replicate.map(Place::Server).collect();
        if lag_us > 0 {
            self.stage.delay(LAG, &servers, &servers, lag_us..=lag_us);
        }
    }

    pub(super) fn trap(&mut self, server: Option<usize>, command: &str) {
        let named = command.to_owned();
        let matches = move |bytes: &[u8]| {
            wire::first_word(bytes).is_some_and(|word| word.eq_ignore_ascii_case(&named))
        };
        let id = self.trapped.len() as u32;
        self.trapped.push(command.to_owned());
        let matches = Box::new(matches);
        self.stage.set_trap(Trap { id, server, matches, lost_message: LostMessage::Reply });
    }

    pub(super) fn cut_off(&mut self, server: usize) {
        if self.is_cut_off(server) {
            return;
        }
        let me = [Place::Server(server)];
        let all = (0..self.names.len()).map(Place::Server);
        let others: Vec<Place> = all.chain([Place::Outside]).filter(|one| *one != me[0]).collect();
        self.stage.cut(server as u32, &me, &others);
        self.stage.cut(server as u32, &others, &me);
    }

    pub(super) fn is_cut_off(&self, server: usize) -> bool {
        self.stage.has_cut(server as u32)
    }

    pub(super) fn crash(&mut self, server: usize) {
        self.stage.crash(server);
        self.stage.heal(server as u32);
    }
}
