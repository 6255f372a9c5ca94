use super::entry::{Entry, Need};
use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::record::listed::listed;
use fencepost_faults::{FaultKind, Impact};

pub(super) static ENTRY: Entry = Entry {
    how: "The connection broke between the command and its answer; the client sent the command \
          again or gave up.",
    helps: "Make commands safe to repeat: a process that finds its own value holds the lock.",
    needs: &[
        Need::DeadServer,
        Need::DeadProcess,
        Need::Fault(FaultKind::Partition),
        Need::Impact(Impact::LosesReply),
        Need::Impact(Impact::LosesRequest),
        Need::Impact(Impact::Kills),
        Need::Impact(Impact::Freezes),
        Need::Impact(Impact::IsOperated),
    ],
    between: Some(between),
    alone: Some(alone),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let holder = scene.holder.process;
    let Some(gone) = scene.removed_by_holder() else {
        return format!("A reply to {holder} was lost, and {holder} then removed its own lock.");
    };
    let server = scene.timeline.history.events[gone.index].node;
    format!(
        "A reply to {holder} was lost, and {server} then removed the lock of {holder} at {} at the \
         request of {holder}.",
        gone.time
    )
}

fn alone(case: &Case<'_, '_>) -> String {
    let said = match case.finding.kind {
        Kind::WrongAnswer if case.grant().is_some() => {
            "A message was lost while that answer was in transit, and the lock did not check how \
             long it had waited."
        }
        Kind::WrongAnswer if case.kept_by_count().is_some() => return left(case),
        Kind::WrongAnswer => {
            "A server had executed the process's command, but the lock gave the process a result \
             that does not match the server's answer. A fault was active meanwhile."
        }
        _ => return left(case),
    };
    said.to_owned()
}

fn left(case: &Case<'_, '_>) -> String {
    if let Some((server, process)) = case.has_lost_request() {
        return format!(
            "A command of {process} to {server} was lost in transit, and an earlier change by \
             {process} remained there."
        );
    }
    if let Some((server, process)) = case.has_no_expiry() {
        return format!(
            "{server} granted the lock to {process} without an expiry, and no later command set \
             one. {process} does not know the outcome of that acquire, so it did not release the \
             lock."
        );
    }
    counted(case).unwrap_or_else(|| {
        "A server had executed a command, but its reply never reached the sender, and the lock \
         remained there."
            .to_owned()
    })
}

pub(super) fn counted(case: &Case<'_, '_>) -> Option<String> {
    let (servers, process) = case.kept_by_count()?;
    Some(format!(
        "{} still counted an earlier acquire of {process}. A release only lowers the count by one, \
         so the lock remained there.",
        listed(&servers, "and")
    ))
}
