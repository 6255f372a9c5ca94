//! Membership ([`Membership`]): the coordinator proposes views, and servers agree to them. A view
//! needs a majority by weight of the last view. The first view needs all of its servers.

use crate::config::Config;
use crate::health::{Health, SilenceLimits};
use crate::message::{Installed, Message, Region};
use crate::view::{Appointed, Life, View};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
struct Peer {
    health: Health,
    born: Option<u64>,
    is_joining: bool,
    was_heard: bool,
}

#[derive(Clone, Debug)]
struct Agreed {
    view: View,
    chain: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Proposal {
    base: View,
    acks: BTreeSet<u8>,
    sent_at: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Membership {
    pub(crate) me: Life,
    patience: SilenceLimits,
    heartbeat_us: u64,
    now: u64,
    pub(crate) view: Option<View>,
    agreed: Option<Agreed>,
    highest: u64,
    proposal: Option<Proposal>,
    peers: BTreeMap<u8, Peer>,
    beat_at: u64,
    started: u64,
    passed: u64,
    pub(crate) processes: BTreeMap<String, Health>,
    pub(crate) applicants: BTreeSet<String>,
    pub(crate) region: Region,
    pub(crate) outbox: Vec<(u8, Message)>,
}

impl Membership {
    pub(crate) fn new(config: &Config, born: u64, now: u64) -> Membership {
        let peer =
            || Peer { health: Health::new(now), born: None, is_joining: false, was_heard: false };
        let patience =
            SilenceLimits { silence_us: config.silence_us(), cut_off_us: config.cut_off_us() };
        Membership {
            me: Life { id: config.me, born },
            patience,
            heartbeat_us: config.heartbeat_us(),
            now,
            view: None,
            agreed: None,
            highest: 0,
            proposal: None,
            peers: config.others().map(|server| (server.id, peer())).collect(),
            beat_at: now,
            started: now,
            passed: now,
            processes: BTreeMap::new(),
            applicants: BTreeSet::new(),
            region: Region::new(),
            outbox: Vec::new(),
        }
    }

    /// Leaves the system. The server then joins again as a new member (`forcedDisconnect`).
    fn disconnect(&mut self, born: u64) {
        self.me.born = born.max(self.me.born + 1);
        (self.view, self.agreed, self.proposal) = (None, None, None);
        self.processes.clear();
        self.applicants.clear();
        self.region.clear();
        (self.beat_at, self.started) = (self.now, self.now);
    }

    pub(crate) fn advance(&mut self, now: u64, born: u64) {
        let slept = now.saturating_sub(self.passed) > 2 * self.heartbeat_us;
        (self.now, self.passed) = (now, now);
        if slept {
            self.peers.values_mut().for_each(|peer| peer.health.reset(now));
            self.processes.values_mut().for_each(|health| health.reset(now));
        }
        if self.has_lost_majority() {
            self.disconnect(born);
        }
        if now >= self.beat_at {
            self.beat_at = now + self.heartbeat_us;
            let message = self.heartbeat();
            self.send_all(&message);
        }
        match self.is_coordinator() {
            true => self.coordinate(),
            false if self.view.is_none() => self.found(),
            false => self.proposal = None,
        }
    }

    fn has_lost_majority(&self) -> bool {
        let Some(view) = &self.view else { return false };
        let is_here = |life: Life| !self.has_failed(life);
        let newer = self.agreed.as_ref().filter(|agreed| agreed.view.number > view.number);
        let is_lost = |agreed: &Agreed| {
            let View { servers, .. } = &agreed.view;
            let is_settled = servers.iter().all(|life| is_here(*life) || self.is_over(*life));
            !agreed.view.is_majority(is_here) && !is_settled
        };
        !view.is_majority(is_here) || newer.is_some_and(is_lost)
    }

    pub(crate) fn due(&self) -> u64 {
        let peers = self.peers.values().map(|peer| peer.health.due(self.patience));
        let processes = self.processes.values().map(|health| health.due(self.patience));
        let later = peers.chain(processes).filter(|due| *due > self.now);
        later.chain([self.beat_at]).min().unwrap_or(self.beat_at)
    }

    fn heartbeat(&self) -> Message {
        let born = self.me.born;
        match &self.view {
            Some(view) => Message::Alive { born, system: view.system, number: view.number },
            None => Message::Join { born },
        }
    }

    fn send_all(&mut self, message: &Message) {
        self.outbox.extend(self.peers.keys().map(|to| (*to, message.clone())));
    }

    fn has_failed(&self, life: Life) -> bool {
        let peer = self.peers.get(&life.id);
        self.is_over(life)
            || peer.is_some_and(|peer| peer.health.has_failed(self.patience, self.now))
    }

    fn is_over(&self, life: Life) -> bool {
        let born = self.peers.get(&life.id).and_then(|peer| peer.born);
        born.is_some_and(|born| born != life.born)
    }

    pub(crate) fn coordinator(&self) -> Option<Life> {
        self.view.as_ref()?.servers.iter().copied().find(|life| !self.has_failed(*life))
    }

    pub(crate) fn is_coordinator(&self) -> bool {
        self.coordinator() == Some(self.me)
    }

    fn found(&mut self) {
        let joining = |(id, peer): (&u8, &Peer)| {
            let born = peer.born.filter(|_| peer.is_joining)?;
            let is_here = !peer.health.has_failed(self.patience, self.now);
            is_here.then_some(Life { id: *id, born })
        };
        let others: Vec<Life> = self.peers.iter().filter_map(joining).collect();
        let is_first = others.iter().all(|life| life.id > self.me.id);
        let has_all = others.len() == self.peers.len();
        let has_waited = self.now >= self.started + self.heartbeat_us;
        let is_majority = 2 * (others.len() + 1) > self.peers.len() + 1;
        if !is_first || !is_majority || !(has_all || has_waited) {
            return;
        }
        let servers: Vec<Life> = std::iter::once(self.me).chain(others).collect();
        let view = View { system: self.me.born, servers, ..View::default() };
        if self.agreed.as_ref().is_some_and(|agreed| agreed.view.servers == view.servers) {
            return self.send_again();
        }
        self.propose(Agreed { view: view.clone(), chain: Vec::new() }, view);
    }

    fn coordinate(&mut self) {
        let Some(view) = &self.view else { return };
        let newest = self.agreed.as_ref().filter(|agreed| agreed.view.number > view.number);
        let installed = || Agreed { view: view.clone(), chain: Vec::new() };
        let base = newest.cloned().unwrap_or_else(installed);
        let (is_installed, next) = (newest.is_none(), self.next(&base.view));
        match next.is_like(&base.view) {
            true if self.proposal.is_some() => self.send_again(),
            true if is_installed => {}
            _ => self.propose(base, next),
        }
    }

    fn next(&self, base: &View) -> View {
        let stays = |life: &Life| !self.has_failed(*life);
        let mut servers: Vec<Life> = base.servers.iter().copied().filter(stays).collect();
        // Keep the servers of the installed view, even if a later view that was not installed omits
        // them.
        let installed = self.view.iter().flat_map(|view| &view.servers).copied().filter(stays);
        let left_out: Vec<Life> = installed.filter(|life| !servers.contains(life)).collect();
        servers.extend(left_out);
        for (id, peer) in &self.peers {
            let life = peer.born.filter(|_| peer.is_joining).map(|born| Life { id: *id, born });
            let is_new = |life: &Life| !servers.contains(life) && !self.has_failed(*life);
            servers.extend(life.filter(is_new));
        }
        let is_here = |process: &&String| {
            let health = self.processes.get(*process);
            health.is_none_or(|health| !health.has_failed(self.patience, self.now))
        };
        let stays = base.processes.iter().filter(is_here);
        let grantor = base.grantor.filter(|grantor| servers.contains(&grantor.server));
        View {
            system: base.system,
            number: base.number,
            processes: stays.chain(&self.applicants).cloned().collect(),
            grantor,
            servers,
        }
    }

    fn propose(&mut self, base: Agreed, mut view: View) {
        view.number = View::number_after(self.highest, self.me.id);
        self.highest = view.number;
        if view.grantor.is_none() {
            let version = view.number;
            view.grantor = view.servers.last().map(|server| Appointed { server: *server, version });
        }
        let mut chain = base.chain;
        chain.push(base.view.number);
        let acks = BTreeSet::from([self.me.id]);
        self.agreed = Some(Agreed { view, chain });
        self.proposal = Some(Proposal { base: base.view, acks, sent_at: self.now });
        self.send_proposal();
        self.count();
    }

    fn send_again(&mut self) {
        let Some(proposal) = &mut self.proposal else { return };
        if self.now >= proposal.sent_at + self.heartbeat_us {
            proposal.sent_at = self.now;
            self.send_proposal();
        }
    }

    fn send_proposal(&mut self) {
        let Some(Agreed { view, chain }) = &self.agreed else { return };
        for id in view.servers.iter().map(|life| life.id).filter(|id| *id != self.me.id) {
            let (chain, view) = (chain.clone(), view.clone());
            self.outbox.push((id, Message::Prepare { chain, view }));
        }
    }

    fn count(&mut self) {
        let Some(Proposal { base, acks, .. }) = &self.proposal else { return };
        let has_agreed = |life: Life| acks.contains(&life.id);
        let is_agreed = match &self.view {
            Some(installed) => {
                let is_settled = |life: &Life| has_agreed(*life) || self.is_over(*life);
                installed.is_majority(has_agreed)
                    && (base.is_majority(has_agreed) || base.servers.iter().all(is_settled))
            }
            None => base.servers.iter().all(|life| has_agreed(*life)),
        };
        let Some(Agreed { view, .. }) = self.agreed.clone().filter(|_| is_agreed) else { return };
        self.proposal = None;
        self.install(view);
        let Some(installed) = self.installed() else { return };
        self.send_all(&Message::Install(installed));
    }

    fn installed(&self) -> Option<Installed> {
        Some(Installed { view: self.view.clone()?, region: self.region.clone() })
    }

    fn install(&mut self, view: View) {
        let now = self.now;
        self.processes.retain(|process, _| view.processes.contains(process));
        for process in &view.processes {
            self.processes.entry(process.clone()).or_insert(Health::new(now));
        }
        self.applicants.retain(|process| !view.processes.contains(process));
        self.highest = self.highest.max(view.number);
        if self.agreed.as_ref().is_none_or(|agreed| agreed.view.number <= view.number) {
            self.agreed = Some(Agreed { view: view.clone(), chain: Vec::new() });
        }
        self.view = Some(view);
    }

    pub(crate) fn lost(&mut self, id: u8) {
        let now = self.now;
        if let Some(peer) = self.peers.get_mut(&id).filter(|peer| peer.was_heard) {
            peer.health.cut_off(now);
        }
    }

    pub(crate) fn handle_message(&mut self, from: u8, message: Message, born: u64) {
        let now = self.now;
        let Some(peer) = self.peers.get_mut(&from) else { return };
        peer.health.note_heard(now);
        peer.was_heard = true;
        match message {
            Message::Alive { born: life, system, number } => {
                (peer.born, peer.is_joining) = (Some(life), false);
                self.compare(from, system, number);
            }
            Message::Join { born: life } => {
                (peer.born, peer.is_joining) = (Some(life), true);
                let is_known = |view: &View| view.has(Life { id: from, born: life });
                if self.view.as_ref().is_some_and(is_known) {
                    self.send_installed(from);
                }
            }
            Message::Prepare { chain, view } => self.prepare(from, Agreed { view, chain }),
            Message::Ack { number } => {
                let agreed = self.agreed.as_ref().map(|agreed| agreed.view.number);
                if let Some(proposal) = self.proposal.as_mut().filter(|_| agreed == Some(number)) {
                    proposal.acks.insert(from);
                    self.count();
                }
            }
            Message::Refuse { chain, view } => self.adopt(Agreed { view, chain }),
            Message::Install(installed) => self.learn(installed, born),
        }
    }

    fn send_installed(&mut self, to: u8) {
        if let Some(installed) = self.installed() {
            self.outbox.push((to, Message::Install(installed)));
        }
    }

    fn compare(&mut self, with: u8, system: u64, number: u64) {
        let Some(view) = &self.view else { return };
        if view.system != system || number < view.number {
            self.send_installed(with);
        }
    }

    fn prepare(&mut self, from: u8, proposed: Agreed) {
        let (number, installed) = (proposed.view.number, self.view.as_ref());
        let is_own = match installed {
            Some(view) => view.system == proposed.view.system,
            None => proposed.chain == [0] && proposed.view.has(self.me),
        };
        if !is_own {
            return;
        }
        self.highest = self.highest.max(number);
        // Until a view is installed, a new proposal replaces the agreed view.
        let follows = self.agreed.as_ref().filter(|_| installed.is_some()).is_none_or(|agreed| {
            let since = proposed.chain.first().copied().unwrap_or_default();
            let known = agreed.view.number;
            known == number || known <= since || proposed.chain.contains(&known)
        });
        match self.agreed.clone().filter(|_| !follows) {
            Some(Agreed { view, chain }) => {
                self.outbox.push((from, Message::Refuse { chain, view }));
            }
            None => {
                self.agreed = Some(proposed);
                self.outbox.push((from, Message::Ack { number }));
            }
        }
    }

    /// Adopts the view in a refusal, if that view is newer and another server proposed it.
    fn adopt(&mut self, other: Agreed) {
        let is_own = View::proposer(other.view.number) == self.me.id;
        let installed = self.view.as_ref().filter(|view| view.system == other.view.system);
        if !is_own && installed.is_some_and(|view| view.number < other.view.number) {
            self.highest = self.highest.max(other.view.number);
            (self.agreed, self.proposal) = (Some(other), None);
        }
    }

    fn learn(&mut self, Installed { view, region }: Installed, born: u64) {
        let is_in = view.has(self.me);
        match &self.view {
            None if !is_in => return,
            None => {}
            Some(own) if own.system == view.system && view.number <= own.number => return,
            Some(own) if own.system != view.system => {
                let rank = |view: &View| (view.servers.len(), view.system);
                if rank(own) < rank(&view) {
                    self.disconnect(born);
                }
                return;
            }
            Some(_) if !is_in => return self.disconnect(born),
            Some(_) => {}
        }
        for (key, value) in region {
            let own = self.region.entry(key).or_default();
            *own = value.max(*own);
        }
        self.proposal = None;
        self.install(view);
    }
}
