//! What each safeguard does to a story, in a sentence: those that clearly help first.

use super::rerun;
use crate::summary::report::{OnThisPlan, Remedy, ViolationReport};
use crate::summary::sweep::Rate;

/// Every safeguard of the lead: in how many other seeds its rule is still broken, and what became
/// of it in this run. Of the `others`, the safeguards that treat them differently. Intervals are
/// behind `--verbose`.
pub(super) fn told(lead: &ViolationReport, others: &[&ViolationReport]) -> Option<String> {
    let first = lead.remedies.first()?;
    let kind = lead.violation.kind.name();
    let everyone = std::iter::once(lead).chain(others.iter().copied());
    let mut all = everyone.flat_map(|one| &one.remedies);
    let always = all.all(|one| one.unknown_with == first.unknown_without);
    let seeds = match first.unknown_without {
        some if always && some > 0 => format!("{} other seeds ({some} unknown)", first.seeds),
        _ => format!("{} other seeds", first.seeds),
    };
    let count = |count: u64, unknown: u64| of_seeds(count, if always { 0 } else { unknown });
    let without = count(first.broken_without, first.unknown_without);
    let mut parts = vec![format!("without one, {kind} in {without} of {seeds}")];
    for effect in [Effect::Fewer, Effect::Unclear, Effect::More] {
        let mut of_it: Vec<&Remedy> =
            lead.remedies.iter().filter(|one| Effect::of(one) == effect).collect();
        of_it.sort_by_key(|one| one.broken_with);
        let of_it: Vec<String> = of_it.iter().map(|one| remedy(one, always)).collect();
        if !of_it.is_empty() {
            parts.push(format!("{}: {}", effect.words(), of_it.join(", ")));
        }
    }
    for other in others {
        let differs = |one: &&Remedy| {
            lead.remedies.iter().any(|lead| {
                (&lead.name, &lead.setting) == (&one.name, &one.setting)
                    && lead.on_this_plan != one.on_this_plan
            })
        };
        let kind = other.violation.kind.name();
        for one in other.remedies.iter().filter(differs) {
            let without = count(one.broken_without, one.unknown_without);
            parts.push(format!("{kind}, {without} without one: {}", remedy(one, always)));
        }
    }
    Some(parts.join("; "))
}

/// Whether a safeguard changes how often the rule is broken in other seeds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Fewer,
    Unclear,
    More,
}

impl Effect {
    /// Clear is what the 95 % intervals of both rates do not leave open.
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

    fn words(self) -> &'static str {
        match self {
            Effect::Fewer => "fewer with",
            Effect::Unclear => "no clear change with",
            Effect::More => "more with",
        }
    }
}

/// What became of the violation, elsewhere and here. How many seeds are unknown is left out if it
/// is `always` the same.
fn remedy(remedy: &Remedy, always: bool) -> String {
    let here = match remedy.on_this_plan {
        OnThisPlan::Gone => "gone here",
        OnThisPlan::StillThere => "still here",
        OnThisPlan::NotComparable => "this run is not comparable",
    };
    let unknown = if always { 0 } else { remedy.unknown_with };
    let there = of_seeds(remedy.broken_with, unknown);
    format!("{} in {there} ({here})", rerun::safeguard(remedy))
}

/// A number of seeds, and of how many nothing is known.
fn of_seeds(count: u64, unknown: u64) -> String {
    match unknown {
        0 => count.to_string(),
        unknown => format!("{count} and {unknown} unknown"),
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
        let kind = lead.violation.kind.name();
        assert_eq!(
            told(lead, &[]).unwrap(),
            format!(
                "without one, {kind} in 26 of 50 other seeds; fewer with: wait 1 in 0 (this run is \
                 not comparable), lease 1 in 3 (gone here); no clear change with: chance 1 in 23 \
                 (still here); more with: slower 1 in 49 (still here)"
            )
        );
    }
}
