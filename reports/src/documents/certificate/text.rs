use super::{Certificate, Runs, StatedBounds};
use fencepost_faults::{Families, Family};

const WIDTH: usize = 96;

pub(super) fn text(certificate: &Certificate) -> String {
    let (tool, bounds) = (&certificate.tool, &certificate.bounds);
    let mut text = format!(
        "{} {}, certificate: {} under {}, {}\n\n",
        tool.name,
        tool.version,
        bounds.client,
        bounds.fault,
        size(bounds)
    );
    wrapped(&certificate.claim, &mut text);
    text.push('\n');
    wrapped(&certificate.not_covered, &mut text);
    if let Some(limit) = never_cut_off(bounds) {
        wrapped(limit, &mut text);
    }
    text.push('\n');
    let (runs, out) = (&certificate.runs, &certificate.left_out);
    let [none, one, two] = runs.by_faults;
    let by_delays = runs.by_delays.map(|[none, one, two]| {
        format!("{none} of them without a delayed message, {one} with one, {two} with two")
    });
    let same_order = out.same_order_plans.map(|plans| {
        format!("{plans} plans not extended, because another plan has the same order of messages")
    });
    let lines = [
        format!("{} runs: {none} without a fault, {one} with one, {two} with two", runs.all),
        format!("{} valid, {} unknown, {} violated", runs.valid, runs.unknown, runs.violated),
        format!(
            "{} in {} runs; at least two processes acquired the lock in {}",
            fired(runs),
            runs.fired,
            runs.contended
        ),
        format!(
            "left out: {} equivalent start times, {} plans whose last fault has no effect, {} \
             impossible plans",
            out.gap_places, out.idle_plans, out.colliding_plans
        ),
    ];
    let [counts, verdicts, fired, left_out] = lines;
    let digest = format!("digest {}", certificate.digest);
    let all = [Some(counts), by_delays, Some(verdicts), Some(fired), Some(left_out), same_order];
    for line in all.into_iter().flatten().chain([digest]) {
        wrapped(&line, &mut text);
    }
    text.push_str("\nconditions\n");
    for condition in &bounds.conditions {
        wrapped(&format!("- {condition}"), &mut text);
    }
    text
}

fn never_cut_off(bounds: &StatedBounds) -> Option<&'static str> {
    let families: Families = bounds.fault.parse().ok()?;
    let has_cuts = families.chosen().any(|family| family == Family::Partition);
    let reaches_storage = bounds.scenario["cut-off"] == "storage";
    match has_cuts {
        true if reaches_storage => Some("No partition cuts a process off from a server."),
        true => Some("No partition cuts a process off from the storage."),
        false => None,
    }
}

/// Returns the largest size of a plan, such as `at most 1 fault and 2 delayed messages`.
pub(super) fn size(bounds: &StatedBounds) -> String {
    let counted = |count, noun: &str| match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        count => Some(format!("{count} {noun}s")),
    };
    let parts = [counted(bounds.faults, "fault"), counted(bounds.delays, "delayed message")];
    match parts.into_iter().flatten().collect::<Vec<_>>() {
        none if none.is_empty() => "no faults".to_owned(),
        some => format!("at most {}", some.join(" and ")),
    }
}

pub(super) fn fired(runs: &Runs) -> &'static str {
    match runs.by_delays {
        None => "a fault began",
        Some(_) => "a fault began or a message was late",
    }
}

fn wrapped(paragraph: &str, out: &mut String) {
    let mut column = 0;
    for word in paragraph.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > WIDTH {
            out.push('\n');
            column = 0;
        }
        if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out.push('\n');
}
