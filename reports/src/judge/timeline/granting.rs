//! Finds the grant on which each acquisition relies ([`set_grants`]).
//!
//! A claim is a command by which an owner created a value at a primary, wrote a new count that is
//! not lower, or reset the time to live. A claim ends with its value. A lower count ends the
//! owner's last open claim that is not an extension.
//!
//! An acquisition relies on claims of its process that precede the entry and that the process has
//! not withdrawn. Claims during the acquire take precedence over earlier claims. Claims that are
//! open at the entry take precedence over claims that a server lost before.
//!
//! If no claim remains and the servers commit every change to a majority, a copy at a replica or a
//! value that survived a crash is also evidence of the grant: the primary may have crashed before
//! it reported the grant.
//!
//! The claim that completes the quorum decides. Without a quorum, the last claim decides. A nested
//! acquire that recreates a lost lock relies on its own claim; any other nested acquire shares the
//! grant of the outer acquire.

use super::acquisition::{Acquisition, Grant, Outcome};
use super::{Moment, moments, owner_and_count};
use crate::record::history::{Action, Change, History, What};
use fencepost_faults::Node;
use std::collections::BTreeMap;

type Claims<'h> = BTreeMap<&'h str, Vec<Claim>>;

#[derive(Clone, Copy, Debug)]
struct Claim {
    server: Node,
    by: Option<Node>,
    moment: Moment,
    did: ClaimKind,
    ended: Option<(Moment, Ending)>,
}

/// [`first_copy`] prefers earlier variants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum ClaimKind {
    Create,
    Again,
    Extend,
    /// The change is a copy of a grant that was committed.
    Copy,
    /// A restarted replica has the value, but the value may not have been committed yet.
    Restart,
}

impl ClaimKind {
    fn is_copy(self) -> bool {
        matches!(self, ClaimKind::Copy | ClaimKind::Restart)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    Withdrawn,
    Lowered,
    Lost,
}

struct ServerValue<'h> {
    owner: &'h str,
    count: Option<u64>,
    of: Option<Node>,
    written: Moment,
    open: Vec<usize>,
}

pub(super) fn set_grants(history: &History, acquisitions: &mut [Acquisition<'_>]) {
    let claims = claims(history);
    // Outer acquires are invoked first, so their grants are already set.
    for (index, outer) in outer(history, acquisitions).into_iter().enumerate() {
        let within = outer.and_then(|outer| acquisitions[outer].grant.as_ref());
        let (one, quorum) = (&acquisitions[index], history.header.quorum);
        acquisitions[index].grant = grant_of(one, within, &claims, quorum);
    }
}

/// Returns, for each acquisition, the last one that its thread had already entered but not left.
fn outer(history: &History, acquisitions: &[Acquisition<'_>]) -> Vec<Option<usize>> {
    let mut entered: BTreeMap<Node, Vec<usize>> = BTreeMap::new();
    let mut outer = vec![None; acquisitions.len()];
    let invoked: BTreeMap<usize, usize> =
        acquisitions.iter().enumerate().map(|(index, one)| (one.invoked.index, index)).collect();
    let granted: BTreeMap<usize, usize> = acquisitions
        .iter()
        .enumerate()
        .filter(|(_, one)| one.outcome == Outcome::Granted)
        .filter_map(|(index, one)| Some((one.completed?.index, index)))
        .collect();
    for (moment, event) in moments(history) {
        if let Some(index) = invoked.get(&moment.index) {
            outer[*index] = entered.get(&event.node).and_then(|stack| stack.last().copied());
        }
        if let Some(index) = granted.get(&moment.index) {
            entered.entry(event.node).or_default().push(*index);
        }
        match &event.what {
            What::Invoke { action: Action::Release, .. } => {
                entered.entry(event.node).or_default().pop();
            }
            What::Lost => drop(entered.remove(&event.node)),
            What::Crashed => entered.retain(|node, _| node.machine() != event.node),
            _ => {}
        }
    }
    outer
}

fn claims(history: &History) -> Claims<'_> {
    let mut ledger = Ledger { commits: history.header.commits(), ..Ledger::default() };
    for (moment, event) in moments(history) {
        let What::Server { key, change, value: Some(value), by, primary, .. } = &event.what else {
            continue;
        };
        if *key == history.header.resource {
            let asked = KeyChange { by: *by, primary: *primary, server: event.node, moment };
            ledger.follow(*change, value, asked);
        }
    }
    ledger.claims
}

#[derive(Clone, Copy)]
struct KeyChange {
    by: Option<Node>,
    primary: bool,
    server: Node,
    moment: Moment,
}

#[derive(Default)]
struct Ledger<'h> {
    /// `true` if a replica has only values that a majority of the servers has or may have.
    commits: bool,
    claims: Claims<'h>,
    standing: BTreeMap<Node, ServerValue<'h>>,
    grantees: BTreeMap<&'h str, Node>,
}

impl<'h> Ledger<'h> {
    fn follow(&mut self, change: Change, value: &'h str, asked: KeyChange) {
        let (owner, count) = owner_and_count(value);
        match change {
            Change::Granted if self.is_again(owner, asked) => self.rewrite(owner, count, asked),
            Change::Restored if self.has_value_of(owner, asked.server) => {
                self.copy(owner, asked, change);
            }
            Change::Granted | Change::Restored => {
                self.end_all(asked, |_| Ending::Lost);
                self.create(owner, count, asked, change);
            }
            Change::Extended => self.extend(owner, asked),
            Change::Removed => {
                let remover = asked.by.map(Node::machine);
                self.end_all(asked, |claim| {
                    let own = remover.is_some() && claim.by.map(Node::machine) == remover;
                    if own { Ending::Withdrawn } else { Ending::Lost }
                });
            }
            Change::Expired
            | Change::Evicted
            | Change::Flushed
            | Change::Discarded
            | Change::Forgotten => self.end_all(asked, |_| Ending::Lost),
        }
    }

    fn has_value_of(&self, owner: &str, server: Node) -> bool {
        self.standing.get(&server).is_some_and(|standing| standing.owner == owner)
    }

    fn is_again(&self, owner: &str, asked: KeyChange) -> bool {
        self.standing
            .get(&asked.server)
            .is_some_and(|standing| standing.owner == owner && is_own(standing.of, asked.by))
    }

    fn create(&mut self, owner: &'h str, count: Option<u64>, asked: KeyChange, change: Change) {
        let granted = change == Change::Granted;
        let of = match asked.by.filter(|_| granted) {
            Some(by) => {
                self.grantees.insert(owner, by.machine());
                Some(by.machine())
            }
            None => self.grantees.get(owner).copied(),
        };
        let standing = ServerValue { owner, count, of, written: asked.moment, open: Vec::new() };
        self.standing.insert(asked.server, standing);
        if granted && asked.primary {
            self.claim(owner, asked, ClaimKind::Create);
        } else {
            self.copy(owner, asked, change);
        }
    }

    fn copy(&mut self, owner: &'h str, asked: KeyChange, change: Change) {
        let may_be_lost = change == Change::Restored && !asked.primary;
        if self.commits {
            let did = if may_be_lost { ClaimKind::Restart } else { ClaimKind::Copy };
            self.record(owner, asked, did);
        }
    }

    fn rewrite(&mut self, owner: &'h str, count: Option<u64>, asked: KeyChange) {
        let Some(standing) = self.standing.get_mut(&asked.server) else { return };
        let lower = count < standing.count;
        let how =
            if count.is_some_and(|count| count > 0) { Ending::Lowered } else { Ending::Withdrawn };
        (standing.count, standing.written) = (count, asked.moment);
        if !lower {
            self.claim(owner, asked, ClaimKind::Again);
            return;
        }
        let Some(list) = self.claims.get_mut(owner) else { return };
        let is_counted = |did: ClaimKind| did != ClaimKind::Extend && !did.is_copy();
        let counted = standing.open.iter().rposition(|place| is_counted(list[*place].did));
        if let Some(place) = counted.map(|at| standing.open.remove(at)) {
            list[place].ended = Some((asked.moment, how));
        }
    }

    fn extend(&mut self, owner: &'h str, asked: KeyChange) {
        let Some(standing) = self.standing.get(&asked.server) else { return };
        let own = standing.owner == owner && is_own(standing.of, asked.by);
        if own && standing.written.time < asked.moment.time {
            self.claim(owner, asked, ClaimKind::Extend);
        }
    }

    /// Records a claim, unless the server is a replica, because replicas grant nothing.
    fn claim(&mut self, owner: &'h str, asked: KeyChange, did: ClaimKind) {
        if asked.primary {
            self.record(owner, asked, did);
        }
    }

    fn record(&mut self, owner: &'h str, asked: KeyChange, did: ClaimKind) {
        let list = self.claims.entry(owner).or_default();
        if let Some(standing) = self.standing.get_mut(&asked.server) {
            standing.open.push(list.len());
        }
        let KeyChange { by, server, moment, .. } = asked;
        list.push(Claim { server, by, moment, did, ended: None });
    }

    fn end_all(&mut self, asked: KeyChange, how: impl Fn(&Claim) -> Ending) {
        let Some(standing) = self.standing.remove(&asked.server) else { return };
        let Some(list) = self.claims.get_mut(standing.owner) else { return };
        for place in standing.open {
            list[place].ended = Some((asked.moment, how(&list[place])));
        }
    }
}

/// Returns `true` unless both processes are known and differ.
fn is_own(of: Option<Node>, by: Option<Node>) -> bool {
    of.zip(by).is_none_or(|(of, by)| of == by.machine())
}

fn grant_of(
    acquisition: &Acquisition<'_>,
    outer: Option<&Grant>,
    claims: &Claims<'_>,
    quorum: u16,
) -> Option<Grant> {
    let completed = acquisition.completed?;
    let list = claims.get(owner_and_count(acquisition.owner?).0).map_or(&[][..], Vec::as_slice);
    let machine = acquisition.process.machine();
    let (copies, all): (Vec<Claim>, Vec<Claim>) = list
        .iter()
        .filter(|claim| claim.by.is_none_or(|by| by.machine() == machine))
        .filter(|claim| claim.moment < completed)
        .copied()
        .partition(|claim| claim.did.is_copy());
    let is_kept =
        |claim: &&Claim| claim.ended.is_none_or(|(at, how)| completed < at || how == Ending::Lost);
    let is_in_place = |claim: &&Claim| {
        is_kept(claim) || claim.ended.is_some_and(|(_, how)| how == Ending::Lowered)
    };
    let own: Vec<Claim> = all.iter().filter(is_kept).copied().collect();
    let while_open = |claim: &&Claim| acquisition.invoked < claim.moment;
    // For a quorum lock, a claim that ended before this acquire does not count.
    let was_open = |claim: &&Claim| {
        quorum <= 1 || claim.ended.is_none_or(|(ended, _)| acquisition.invoked < ended)
    };
    if let Some(outer) = outer {
        let anew = own.iter().filter(|claim| while_open(claim) && claim.did == ClaimKind::Create);
        return decided(anew, completed, quorum).or_else(|| Some(outer.clone()));
    }
    // Prefer values that the acquire wrote, then values that it extended, then older values.
    let wrote = |claim: &&Claim| claim.did != ClaimKind::Extend;
    decided(own.iter().filter(while_open).filter(wrote), completed, quorum)
        .or_else(|| decided(own.iter().filter(while_open), completed, quorum))
        .or_else(|| {
            relied_on(all.iter().filter(while_open).filter(wrote).filter(is_in_place), quorum)
        })
        .or_else(|| decided(own.iter().filter(wrote).filter(was_open), completed, quorum))
        .or_else(|| under_several_names(acquisition, completed, claims, quorum))
        .or_else(|| first_copy(copies.iter().filter(is_kept), acquisition.invoked))
}

/// Returns the first copy of the value that the acquire set or, if there is none, of the value that
/// it found. Prefers committed copies to values of a restarted replica.
fn first_copy<'c>(copies: impl Iterator<Item = &'c Claim>, invoked: Moment) -> Option<Grant> {
    let place = |copy: &&Claim| (copy.moment < invoked, copy.did, copy.moment);
    let first = copies.min_by_key(place)?;
    Some(grant(*first, std::slice::from_ref(first)))
}

fn under_several_names(
    acquisition: &Acquisition<'_>,
    completed: Moment,
    claims: &Claims<'_>,
    quorum: u16,
) -> Option<Grant> {
    if quorum <= 1 {
        return None;
    }
    let machine = acquisition.process.machine();
    let is_own = |claim: &&Claim| {
        claim.by.is_some_and(|by| by.machine() == machine)
            && claim.did == ClaimKind::Create
            && acquisition.invoked < claim.moment
            && claim.moment < completed
            && claim.ended.is_none_or(|(ended, _)| completed < ended)
    };
    let mut own: Vec<Claim> = claims.values().flatten().filter(is_own).copied().collect();
    own.sort_by_key(|claim| claim.moment);
    decided(own.iter(), completed, quorum)
}

/// Returns the grant that completes a quorum of each server's latest claim. Counts only claims that
/// are open at `entered`, unless these are too few.
fn decided<'c>(
    claims: impl DoubleEndedIterator<Item = &'c Claim>,
    entered: Moment,
    quorum: u16,
) -> Option<Grant> {
    let all = latest_of_each(claims);
    let stands = |claim: &&Claim| claim.ended.is_none_or(|(ended, _)| entered < ended);
    let standing: Vec<Claim> = all.iter().filter(stands).copied().collect();
    let deciding = deciding(&standing, quorum).or_else(|| deciding(&all, quorum))?;
    Some(grant(deciding, &all))
}

/// Returns the grant that completes a quorum of latest claims, whether open or ended.
fn relied_on<'c>(claims: impl DoubleEndedIterator<Item = &'c Claim>, quorum: u16) -> Option<Grant> {
    let all = latest_of_each(claims);
    Some(grant(deciding(&all, quorum)?, &all))
}

fn grant(deciding: Claim, all: &[Claim]) -> Grant {
    let servers = all.iter().map(|claim| (claim.server, claim.moment)).collect();
    let created = deciding.did == ClaimKind::Create;
    Grant { moment: deciding.moment, node: deciding.server, created, servers }
}

fn deciding(claims: &[Claim], quorum: u16) -> Option<Claim> {
    match usize::from(quorum) {
        0 | 1 => claims.last().copied(),
        many => claims.get(many - 1).copied(),
    }
}

fn latest_of_each<'c>(claims: impl DoubleEndedIterator<Item = &'c Claim>) -> Vec<Claim> {
    let mut servers: Vec<Claim> = Vec::new();
    for claim in claims.rev() {
        if servers.iter().all(|known| known.server != claim.server) {
            servers.push(*claim);
        }
    }
    servers.reverse();
    servers
}
