use super::{Certificate, Runs, StatedBounds};
use fencepost_faults::{Families, Family};

const WIDTH: usize = 96;

pub(super) fn text(certificate: &Certificate) -> String {
    let (tool, bounds) = (&certificate.tool, &certificate.bounds);
    let mut text = format!(
        "{} {}, certificate: {} under {}, at most {}\n\n",
        tool.name,
        tool.version,
        bounds.client,
        bounds.fault,
        at_most(bounds)
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

pub(super) fn at_most(bounds: &StatedBounds) -> String {
    let faults =
        format!("{} {}", bounds.faults, if bounds.faults == 1 { "fault" } else { "faults" });
    match bounds.delays {
        0 => faults,
        1 => format!("{faults} and 1 delayed message"),
        count => format!("{faults} and {count} delayed messages"),
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
