//! Describes in a sentence how each safeguard affects a violation, the most helpful first.

use super::rerun;
use crate::summary::report::{OnThisPlan, Remedy, ViolationReport};
use crate::summary::sweep::Rate;

pub(crate) fn render(
    lead: &ViolationReport,
    others: &[&ViolationReport],
    here_too: bool,
) -> Option<String> {
    let first = lead.remedies.first()?;
    let everyone = std::iter::once(lead).chain(others.iter().copied());
    let mut all = everyone.flat_map(|one| &one.remedies);
    let unknown = match all.all(|one| one.unknown_with == first.unknown_without) {
        true => Unknown::Always(first.unknown_without),
        false => Unknown::Varies,
    };
    let mut parts = vec![elsewhere(lead, first, unknown)];
    if !here_too {
        return parts.pop();
    }
    parts.push(here(lead));
    parts.extend(others.iter().filter_map(|other| differently(lead, other, unknown)));
    Some(parts.join(" "))
}

#[derive(Clone, Copy)]
enum Unknown {
    Always(u64),
    Varies,
}

impl Unknown {
    fn seeds(self, all: u64) -> String {
        match self {
            Unknown::Always(some) if some > 0 => format!("{all} other seeds ({some} unknown)"),
            _ => format!("{all} other seeds"),
        }
    }

    fn count(self, count: u64, unknown: u64) -> String {
        match (self, unknown) {
            (Unknown::Varies, 1..) => format!("{count} ({unknown} unknown)"),
            _ => count.to_string(),
        }
    }
}

fn elsewhere(lead: &ViolationReport, first: &Remedy, unknown: Unknown) -> String {
    let kind = name(lead);
    let without = unknown.count(first.broken_without, first.unknown_without);
    let seeds = unknown.seeds(first.seeds);
    let mut text = format!("on {seeds}: {kind} in {without} without a safeguard");
    for effect in [Effect::Fewer, Effect::More, Effect::Unclear] {
        let mut of_it: Vec<&Remedy> =
            lead.remedies.iter().filter(|one| Effect::of(one) == effect).collect();
        of_it.sort_by_key(|one| one.broken_with);
        let told = of_it.iter().map(|one| with(one, effect, unknown));
        let told: Vec<String> = told.collect();
        match effect {
            _ if told.is_empty() => {}
            Effect::Fewer | Effect::More => text += &format!(", {}", told.join(", ")),
            Effect::Unclear => {
                text += &format!("; no significant difference: {}", told.join(", "));
            }
        }
    }
    text + "."
}

fn with(remedy: &Remedy, effect: Effect, unknown: Unknown) -> String {
    let there = unknown.count(remedy.broken_with, remedy.unknown_with);
    match effect {
        Effect::Fewer | Effect::More => format!("{there} with {}", rerun::safeguard(remedy)),
        Effect::Unclear => format!("{} in {there}", rerun::safeguard(remedy)),
    }
}

fn here(lead: &ViolationReport) -> String {
    let effects = [
        (OnThisPlan::Gone, "prevents it", "prevent it"),
        (OnThisPlan::StillThere, "does not prevent it", "do not prevent it"),
        (
            OnThisPlan::NotComparable,
            "changes the timing, so it is not comparable",
            "change the timing, so they are not comparable",
        ),
    ];
    let told = effects.iter().filter_map(|(effect, one, several)| {
        let of_it = lead.remedies.iter().filter(|remedy| remedy.on_this_plan == *effect);
        match &of_it.map(rerun::safeguard).collect::<Vec<_>>()[..] {
            [] => None,
            [name] => Some(format!("{name} {one}")),
            [names @ .., last] => Some(format!("{} and {last} {several}", names.join(", "))),
        }
    });
    format!("In this run, {}.", told.collect::<Vec<_>>().join("; "))
}

fn differently(
    lead: &ViolationReport,
    other: &ViolationReport,
    unknown: Unknown,
) -> Option<String> {
    let differs = |one: &&Remedy| {
        lead.remedies.iter().any(|lead| {
            (&lead.name, &lead.setting) == (&one.name, &one.setting)
                && lead.on_this_plan != one.on_this_plan
        })
    };
    let told = other.remedies.iter().filter(differs).map(|one| {
        let effect = match one.on_this_plan {
            OnThisPlan::Gone => "prevents it",
            OnThisPlan::StillThere => "does not prevent it",
            OnThisPlan::NotComparable => "is not comparable",
        };
        let [with, without] = [
            unknown.count(one.broken_with, one.unknown_with),
            unknown.count(one.broken_without, one.unknown_without),
        ];
        let safeguard = rerun::safeguard(one);
        format!("{safeguard} {effect}: {with} other seeds break with it, {without} without it")
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("For the {}, {}.", name(other), told.join("; ")))
}

fn name(report: &ViolationReport) -> String {
    report.violation.kind.name().replace('-', " ")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Fewer,
    Unclear,
    More,
}

impl Effect {
    /// Compares the 95 % intervals with and without the remedy. If they overlap, nothing is clear.
    fn of(remedy: &Remedy) -> Effect {
        let with = Rate::of(remedy.broken_with, remedy.seeds);
        let without = Rate::of(remedy.broken_without, remedy.seeds);
        if with.high < without.low {
            Effect::Fewer
        } else if without.high < with.low {
            Effect::More
        } else {
            Effect::Unclear
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn what_clearly_helps_comes_first_and_chance_is_no_effect() {
        let remedy = |name: &str, with: u64, here| {
            let mut remedy = samples::remedy(name, "1", here);
            (remedy.seeds, remedy.unknown_with, remedy.unknown_without) = (50, 0, 0);
            (remedy.broken_with, remedy.broken_without) = (with, 26);
            remedy
        };
        let mut report = samples::report(vec![samples::paused_holder()]);
        let lead = &mut report.runs[0].violations[0];
        lead.remedies = vec![
            remedy("slower", 49, OnThisPlan::StillThere),
            remedy("chance", 23, OnThisPlan::StillThere),
            remedy("lease", 3, OnThisPlan::Gone),
            remedy("wait", 0, OnThisPlan::NotComparable),
        ];
        let kind = name(lead);
        assert_eq!(
            render(lead, &[], true).unwrap(),
            format!(
                "on 50 other seeds: {kind} in 26 without a safeguard, 0 with wait 1, 3 with lease \
                 1, 49 with slower 1; no significant difference: chance 1 in 23. In this run, \
                 lease 1 prevents it; slower 1 and chance 1 do not prevent it; wait 1 changes the \
                 timing, so it is not comparable."
            )
        );
    }
}
