//! A model of a lock on servers that expire keys: a single-node lock, or Redlock. A process asks
//! all servers at the same time. If a majority grants the lock while the lease is valid, the
//! process enters its critical section for one tick. Otherwise the process undoes the attempt, and
//! retries while attempts remain. A message takes 0 or 1 ticks, unless its receiver is paused.

use stateright::{Model, Property};

const LEASE: u8 = 4;
const HOLD: u8 = 1;
const PAUSE_MAX: u8 = 6;
const AWAY: u8 = LEASE + 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Trouble {
    Pause,
    Crash,
    Forget,
    ForgetLate,
    LoseReply,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mistake {
    None,
    /// One server fewer than a majority is enough.
    Quorum,
    Delete,
    Set,
}

#[derive(Clone, Debug)]
pub(super) struct Lock {
    pub(super) processes: usize,
    pub(super) servers: usize,
    pub(super) attempts: u8,
    pub(super) trouble: Option<Trouble>,
    pub(super) mistake: Mistake,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct State {
    processes: Vec<Process>,
    servers: Vec<Server>,
    messages: Vec<(Message, u8)>,
    has_trouble: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Process {
    phase: Phase,
    attempts: u8,
    paused: Option<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Phase {
    /// The process sends its requests between `wait` and `wait + within` ticks from now.
    Idle {
        wait: u8,
        within: u8,
    },
    Asking {
        since: u8,
        granted: u8,
        denied: u8,
    },
    Inside {
        left: u8,
    },
    Done,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Server {
    key: Option<(u8, u8, u8)>,
    away: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Message {
    process: u8,
    server: u8,
    attempt: u8,
    what: MessageKind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum MessageKind {
    Ask,
    Granted,
    Denied,
    Free,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Arrive(usize),
    Lose(usize),
    Step(usize),
    Pause(usize),
    Resume(usize),
    Crash(usize),
    Forget(usize),
    Tick,
}

impl Lock {
    fn quorum(&self) -> u8 {
        let majority = self.servers as u8 / 2 + 1;
        if self.mistake == Mistake::Quorum { majority - 1 } else { majority }
    }
}

impl State {
    fn is_due(&self, process: usize) -> bool {
        let Process { phase, paused, .. } = self.processes[process];
        paused.is_none()
            && match phase {
                Phase::Idle { wait, .. } => wait == 0,
                Phase::Inside { left } => left == 0,
                Phase::Asking { .. } | Phase::Done => false,
            }
    }

    fn can_arrive(&self, message: &Message) -> bool {
        match message.what {
            MessageKind::Ask | MessageKind::Free => true,
            MessageKind::Granted | MessageKind::Denied => {
                self.processes[usize::from(message.process)].paused.is_none()
            }
        }
    }

    fn can_tick(&self) -> bool {
        let is_late = |(message, left): &(Message, u8)| *left == 0 && self.can_arrive(message);
        let can_wait = |process: &Process| match process.phase {
            Phase::Idle { wait, within } => wait + within > 0,
            Phase::Inside { left } => left > 0,
            Phase::Asking { .. } | Phase::Done => true,
        };
        !self.messages.iter().any(is_late)
            && self.processes.iter().all(|process| match process.paused {
                Some(left) => left > 0,
                None => can_wait(process),
            })
    }

    fn tick(&mut self) {
        for Process { phase, paused, .. } in &mut self.processes {
            *paused = paused.map(|left| left - 1);
            match phase {
                Phase::Idle { wait: 0, within } => *within = within.saturating_sub(1),
                Phase::Idle { wait, .. } => *wait -= 1,
                Phase::Asking { since, .. } => *since = (*since + 1).min(LEASE),
                Phase::Inside { left } => *left = left.saturating_sub(1),
                Phase::Done => {}
            }
        }
        for Server { key, away } in &mut self.servers {
            *key = key.map(|(owner, attempt, left)| (owner, attempt, left - 1));
            *key = key.filter(|(.., left)| *left > 0);
            *away = away.saturating_sub(1);
        }
        for (_, left) in &mut self.messages {
            *left = left.saturating_sub(1);
        }
    }

    fn representative(self) -> State {
        let orders = permutations(self.processes.len());
        orders.iter().map(|order| self.renamed(order)).min().unwrap_or(self)
    }

    fn renamed(&self, order: &[u8]) -> State {
        let name = |process: u8| order[usize::from(process)];
        let mut processes = self.processes.clone();
        for (process, own) in self.processes.iter().zip(order) {
            processes[usize::from(*own)] = *process;
        }
        let mut servers: Vec<(Server, Vec<(Message, u8)>)> = Vec::new();
        for (server, number) in self.servers.iter().zip(0..) {
            let key = server.key.map(|(owner, attempt, left)| (name(owner), attempt, left));
            let own = self.messages.iter().filter(|(message, _)| message.server == number);
            let renamed = own.map(|(message, left)| {
                (Message { process: name(message.process), server: 0, ..*message }, *left)
            });
            let mut messages: Vec<_> = renamed.collect();
            messages.sort_unstable();
            servers.push((Server { key, ..*server }, messages));
        }
        servers.sort_unstable();
        let messages = servers.iter().zip(0..).flat_map(|((_, messages), server)| {
            messages.iter().map(move |(message, left)| (Message { server, ..*message }, *left))
        });
        let messages = messages.collect();
        let servers = servers.iter().map(|(server, _)| *server).collect();
        State { processes, servers, messages, ..*self }
    }

    fn send(&mut self, message: Message) {
        self.messages.push((message, 1));
    }

    fn ask(&mut self, process: usize) {
        let own = &mut self.processes[process];
        own.attempts += 1;
        own.phase = Phase::Asking { since: 0, granted: 0, denied: 0 };
        self.send_to_all(process, MessageKind::Ask);
    }

    fn send_to_all(&mut self, process: usize, what: MessageKind) {
        let attempt = self.processes[process].attempts;
        for server in 0..self.servers.len() as u8 {
            self.send(Message { process: process as u8, server, attempt, what });
        }
    }

    fn serve(&mut self, lock: &Lock, message: Message) {
        let own = (message.process, message.attempt);
        let Server { key, away } = &mut self.servers[usize::from(message.server)];
        let is_away = *away > 0;
        match message.what {
            MessageKind::Ask => {
                let is_free = key.is_none() || lock.mistake == Mistake::Set;
                let what = if is_free && !is_away {
                    *key = Some((own.0, own.1, LEASE));
                    MessageKind::Granted
                } else {
                    MessageKind::Denied
                };
                self.send(Message { what, ..message });
            }
            MessageKind::Free if !is_away => {
                let is_own = key.is_some_and(|(owner, attempt, _)| (owner, attempt) == own);
                if is_own || lock.mistake == Mistake::Delete {
                    *key = None;
                }
            }
            MessageKind::Free | MessageKind::Granted | MessageKind::Denied => {}
        }
    }

    fn hear(&mut self, lock: &Lock, message: Message) {
        let process = usize::from(message.process);
        let own = &mut self.processes[process];
        let Phase::Asking { since, mut granted, mut denied } = own.phase else { return };
        if own.attempts != message.attempt {
            return;
        }
        match message.what {
            MessageKind::Granted => granted += 1,
            _ => denied += 1,
        }
        own.phase = Phase::Asking { since, granted, denied };
        if usize::from(granted + denied) < self.servers.len() {
            return;
        }
        let is_valid = since + HOLD < LEASE;
        if granted >= lock.quorum() && is_valid {
            own.phase = Phase::Inside { left: HOLD };
            return;
        }
        let is_last = own.attempts == lock.attempts;
        own.phase = if is_last { Phase::Done } else { Phase::Idle { wait: 1, within: 0 } };
        self.send_to_all(process, MessageKind::Free);
    }
}

impl Model for Lock {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let process =
            Process { phase: Phase::Idle { wait: 0, within: 2 }, attempts: 0, paused: None };
        vec![State {
            processes: vec![process; self.processes],
            servers: vec![Server { key: None, away: 0 }; self.servers],
            messages: Vec::new(),
            has_trouble: true,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let messages = state.messages.iter().enumerate();
        let arriving = messages.filter(|(_, (message, _))| state.can_arrive(message));
        actions.extend(arriving.map(|(number, _)| Action::Arrive(number)));
        for process in 0..state.processes.len() {
            let own = state.processes[process];
            if state.is_due(process) {
                actions.push(Action::Step(process));
            }
            if own.paused.is_some() {
                actions.push(Action::Resume(process));
            }
        }
        let is_over = state.processes.iter().all(|own| own.phase == Phase::Done);
        if state.can_tick() && !(is_over && state.messages.is_empty()) {
            actions.push(Action::Tick);
        }
        let Some(trouble) = self.trouble.filter(|_| state.has_trouble) else { return };
        let alive = (0..state.processes.len())
            .filter(|process| state.processes[*process].phase != Phase::Done);
        match trouble {
            Trouble::Pause => actions.extend(alive.map(Action::Pause)),
            Trouble::Crash => actions.extend(alive.map(Action::Crash)),
            Trouble::Forget | Trouble::ForgetLate => {
                actions.extend((0..state.servers.len()).map(Action::Forget));
            }
            Trouble::LoseReply => {
                let messages = state.messages.iter().enumerate();
                let replies =
                    messages.filter(|(_, (message, _))| message.what == MessageKind::Granted);
                actions.extend(replies.map(|(number, _)| Action::Lose(number)));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Arrive(number) => {
                let (message, _) = state.messages.remove(number);
                match message.what {
                    MessageKind::Ask | MessageKind::Free => state.serve(self, message),
                    MessageKind::Granted | MessageKind::Denied => state.hear(self, message),
                }
            }
            Action::Lose(number) => {
                state.messages[number].0.what = MessageKind::Denied;
            }
            Action::Step(process) => match state.processes[process].phase {
                Phase::Idle { .. } => state.ask(process),
                _ => {
                    state.processes[process].phase = Phase::Done;
                    state.send_to_all(process, MessageKind::Free);
                }
            },
            Action::Pause(process) => {
                state.processes[process].paused = Some(PAUSE_MAX);
            }
            Action::Resume(process) => state.processes[process].paused = None,
            Action::Crash(process) => state.processes[process].phase = Phase::Done,
            Action::Forget(server) => {
                let late = self.trouble == Some(Trouble::ForgetLate);
                let away = if late { AWAY } else { 0 };
                state.servers[server] = Server { key: None, away };
            }
            Action::Tick => state.tick(),
        }
        if matches!(
            action,
            Action::Lose(_) | Action::Pause(_) | Action::Crash(_) | Action::Forget(_)
        ) {
            state.has_trouble = false;
        }
        Some(state.representative())
    }

    fn properties(&self) -> Vec<Property<Lock>> {
        vec![
            Property::always("one at a time", |_, state: &State| inside(state) < 2),
            Property::sometimes("somebody enters", |_, state: &State| inside(state) == 1),
            Property::sometimes("everybody enters", |_, state: &State| {
                let mut attempts = state.processes.iter().map(|own| own.attempts);
                inside(state) == 1 && attempts.all(|attempts| attempts > 0)
            }),
        ]
    }
}

fn permutations(count: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    for next in 0..count as u8 {
        all = all
            .iter()
            .flat_map(|some: &Vec<u8>| {
                (0..=some.len()).map(|place| {
                    let mut more = some.clone();
                    more.insert(place, next);
                    more
                })
            })
            .collect();
    }
    all
}

fn inside(state: &State) -> usize {
    let is_inside = |own: &&Process| matches!(own.phase, Phase::Inside { .. });
    state.processes.iter().filter(is_inside).count()
}
