use crate::summary::report::RunReport;

pub(crate) struct Focus {
    pub(crate) name: String,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) witness: Vec<u64>,
}

pub(super) fn all(run: &RunReport, end: u64) -> Vec<Focus> {
    let mut focuses: Vec<Focus> = run
        .violations
        .iter()
        .map(|report| {
            let violation = &report.violation;
            let times = || violation.witness.iter().map(|event| event.time_us.0);
            let at = violation.at_us.0;
            let first = times().min().unwrap_or(at).min(at);
            let last = times().max().unwrap_or(at).max(at + violation.duration_us.0);
            let room = ((last - first) / 8).max(2_000);
            Focus {
                name: violation.kind.to_string(),
                from: first.saturating_sub(room),
                to: (last + room).min(end.max(last)),
                witness: violation.witness.iter().map(|event| event.sequence).collect(),
            }
        })
        .collect();
    focuses.push(Focus { name: "whole run".to_owned(), from: 0, to: end, witness: Vec::new() });
    focuses
}
