use super::rerun::safeguard;
use crate::judge::finding::Kind;
use crate::record::listed::listed;
use crate::summary::report::{OnThisPlan, Remedy, ViolationReport};
use crate::summary::sweep::Rate;

pub(crate) fn render(lead: &ViolationReport, others: &[&ViolationReport]) -> Option<String> {
    let first = lead.remedies.first()?;
    let mut parts: Vec<String> = on_other_seeds(lead, others).into_iter().collect();
    parts.push(in_this_run(lead));
    parts.extend(scaled_faults(lead));
    parts.extend(differing_effects(lead, others, Unknown::of(first, lead, others)));
    Some(parts.join(" "))
}

pub(crate) fn on_other_seeds(
    lead: &ViolationReport,
    others: &[&ViolationReport],
) -> Option<String> {
    let first = lead.remedies.first().filter(|first| first.seeds > 0)?;
    Some(seeds_sentence(lead, first, Unknown::of(first, lead, others)))
}

#[derive(Clone, Copy)]
enum Unknown {
    Always(u64),
    Varies,
}

impl Unknown {
    fn of(first: &Remedy, lead: &ViolationReport, others: &[&ViolationReport]) -> Unknown {
        let everyone = std::iter::once(lead).chain(others.iter().copied());
        let mut all = everyone.flat_map(|one| &one.remedies);
        match all.all(|one| one.unknown_with == first.unknown_without) {
            true => Unknown::Always(first.unknown_without),
            false => Unknown::Varies,
        }
    }

    fn seeds(self, all: u64) -> String {
        match self {
            Unknown::Always(some) if some > 0 => {
                format!("{all} other seeds ({some} with an unknown verdict)")
            }
            _ => format!("{all} other seeds"),
        }
    }

    fn count(self, count: u64, unknown: u64) -> String {
        match (self, unknown) {
            (Unknown::Varies, 1..) => format!("{count} (plus {unknown} unknown)"),
            _ => count.to_string(),
        }
    }

    fn count_in_parentheses(self, count: u64, unknown: u64) -> String {
        match (self, unknown) {
            (Unknown::Varies, 1..) => format!("({count}, plus {unknown} unknown)"),
            _ => format!("({count})"),
        }
    }
}

fn seeds_sentence(lead: &ViolationReport, first: &Remedy, unknown: Unknown) -> String {
    let without = unknown.count(first.broken_without, first.unknown_without);
    let show = if first.broken_without == 1 { "shows" } else { "show" };
    let (seeds, what) = (unknown.seeds(first.seeds), plural(lead.violation.kind));
    let mut shares = vec![format!("{without} {show} {what} without a safeguard")];
    let with = |one: &Remedy| {
        let there = unknown.count(one.broken_with, one.unknown_with);
        format!("{there} with {}", quoted(one))
    };
    for effect in [Effect::Fewer, Effect::More] {
        shares.extend(of_effect(lead, effect).into_iter().map(with));
    }
    let shares = listed(&shares, "and");
    let alike = of_effect(lead, Effect::Unclear).into_iter().map(|one| {
        let there = unknown.count_in_parentheses(one.broken_with, one.unknown_with);
        format!("{} {there}", quoted(one))
    });
    let alike: Vec<String> = alike.collect();
    let alike = match alike.len() {
        0 => String::new(),
        1 => format!("; {} makes no significant difference", alike[0]),
        _ => format!("; {} make no significant difference", listed(&alike, "and")),
    };
    format!("Of {seeds}, {shares}{alike}.")
}

/// Returns the safeguard's name, quoted if it contains a space, or `a lease of TTL`.
fn quoted(remedy: &Remedy) -> String {
    if remedy.name == LEASE {
        return format!("a lease of {}", remedy.setting);
    }
    let name = safeguard(remedy);
    if name.contains(' ') { format!("'{name}'") } else { name }
}

fn of_effect(lead: &ViolationReport, effect: Effect) -> Vec<&Remedy> {
    let mut of_it: Vec<&Remedy> =
        lead.remedies.iter().filter(|one| Effect::of(one) == effect).collect();
    of_it.sort_by_key(|one| one.broken_with);
    of_it
}

fn in_this_run(lead: &ViolationReport) -> String {
    let is_prevented = lead.remedies.iter().any(|one| one.on_this_plan == OnThisPlan::Gone);
    let not_prevented = match is_prevented {
        true => ("does not prevent it", "do not prevent it"),
        false => ("does not prevent the violation", "do not prevent the violation"),
    };
    let effects = [
        (OnThisPlan::Gone, "prevents the violation", "prevent the violation"),
        (OnThisPlan::StillThere, not_prevented.0, not_prevented.1),
        (
            OnThisPlan::NotComparable,
            "changes the timing, so this run cannot show whether it helps",
            "change the timing, so this run cannot show whether they help",
        ),
    ];
    let told = effects.iter().filter_map(|(effect, one, several)| {
        let of_it = lead.remedies.iter().filter(|remedy| remedy.on_this_plan == *effect);
        match &of_it.map(quoted).collect::<Vec<_>>()[..] {
            [] => None,
            [name] => Some(format!("{name} {one}")),
            [names @ .., last] => Some(format!("{} and {last} {several}", names.join(", "))),
        }
    });
    format!("In this run, {}.", told.collect::<Vec<_>>().join("; "))
}

/// If a longer lease helped, warns that a run with `--ttl` may have longer faults, because it draws
/// a new plan and families scale faults with the ttl.
pub(crate) fn scaled_faults(lead: &ViolationReport) -> Option<String> {
    let is_promised = |one: &&Remedy| {
        one.name == LEASE
            && one.seeds > 0
            && (one.on_this_plan == OnThisPlan::Gone || Effect::of(one) == Effect::Fewer)
    };
    let ttl = &lead.remedies.iter().find(is_promised)?.setting;
    Some(format!(
        "The runs with a lease of {ttl} use the same faults as the runs without it. With --ttl \
         {ttl}, fencepost draws a different plan, whose faults can last longer."
    ))
}

const LEASE: &str = "lease";

/// Describes the effects of safeguards on other violations, if they differ from the effects on the
/// lead. Violations on which a safeguard has the same effect share a description.
fn differing_effects(
    lead: &ViolationReport,
    others: &[&ViolationReport],
    unknown: Unknown,
) -> Vec<String> {
    let mut groups: Vec<Vec<(Kind, &Remedy)>> = Vec::new();
    for other in others {
        for remedy in other.remedies.iter().filter(|one| differs(lead, one)) {
            let kind = other.violation.kind;
            match groups.iter_mut().find(|group| is_alike(group[0].1, remedy)) {
                Some(group) => group.push((kind, remedy)),
                None => groups.push(vec![(kind, remedy)]),
            }
        }
    }
    groups.iter().map(|group| effect_on(group, unknown)).collect()
}

/// Returns `true` if the safeguard affects this violation in another way than the lead violation.
/// `Gone` and `NotComparable` count as the same effect, because neither run shows the violation.
fn differs(lead: &ViolationReport, one: &Remedy) -> bool {
    let is_absent = |one: &Remedy| one.on_this_plan != OnThisPlan::StillThere;
    lead.remedies.iter().all(|lead| {
        (&lead.name, &lead.setting) != (&one.name, &one.setting)
            || lead.on_this_plan != one.on_this_plan && !(is_absent(lead) && is_absent(one))
    })
}

fn is_alike(one: &Remedy, other: &Remedy) -> bool {
    let of = |remedy: &Remedy| {
        (remedy.name.clone(), remedy.setting.clone(), remedy.on_this_plan, remedy.seeds)
    };
    of(one) == of(other)
}

fn effect_on(group: &[(Kind, &Remedy)], unknown: Unknown) -> String {
    let first = group[0].1;
    let kinds: Vec<String> = group.iter().map(|(kind, _)| plural(*kind).to_owned()).collect();
    let (with_it, what) = (quoted(first), listed(&kinds, "and"));
    let effect = match first.on_this_plan {
        OnThisPlan::Gone => format!("In this run, {with_it} prevents the {what}"),
        OnThisPlan::StillThere => format!("In this run, {with_it} does not prevent the {what}"),
        OnThisPlan::NotComparable => {
            format!("This run cannot show whether {with_it} prevents the {what}")
        }
    };
    if first.seeds == 0 {
        return format!("{effect}.");
    }
    let counts = group.iter().map(|(kind, one)| {
        let with = unknown.count(one.broken_with, one.unknown_with);
        let without = unknown.count(one.broken_without, one.unknown_without);
        let show = if one.broken_with == 1 { "shows" } else { "show" };
        format!("{with} {show} {} with {with_it} and {without} without it", plural(*kind))
    });
    format!("{effect}. Of the other seeds, {}.", counts.collect::<Vec<_>>().join("; "))
}

fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::Overlap => "overlaps",
        Kind::StaleWrite => "stale writes",
        Kind::LostUpdate => "lost updates",
        Kind::Oversold => "oversold items",
        Kind::DuplicateNumber => "duplicate numbers",
        Kind::NumberRegression => "number regressions",
        Kind::RepeatedJob => "repeated jobs",
        Kind::TokenRegression => "token regressions",
        Kind::TokenMissing => "missing tokens",
        Kind::FencedOut => "fenced-out holders",
        Kind::ForeignRelease => "foreign releases",
        Kind::WrongAnswer => "wrong answers",
        Kind::Stuck => "stuck locks",
        Kind::Deadlock => "deadlocks",
        Kind::Starved => "starved processes",
        Kind::HeldForever => "locks held forever",
        Kind::Unavailable => "unavailable locks",
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Fewer,
    Unclear,
    More,
}

impl Effect {
    /// Compares the two 95 % intervals. If the intervals overlap, the effect is unclear.
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
        let what = plural(lead.violation.kind);
        assert_eq!(
            render(lead, &[]).unwrap(),
            format!(
                "Of 50 other seeds, 26 show {what} without a safeguard, 0 with 'wait 1', 3 with a \
                 lease of 1 and 49 with 'slower 1'; 'chance 1' (23) makes no significant \
                 difference. In this run, a lease of 1 prevents the violation; 'slower 1' and \
                 'chance 1' do not prevent it; 'wait 1' changes the timing, so this run cannot \
                 show whether it helps. The runs with a lease of 1 use the same faults as the runs \
                 without it. With --ttl 1, fencepost draws a different plan, whose faults can last \
                 longer."
            )
        );
        lead.remedies.push(remedy("also", 24, OnThisPlan::StillThere));
        let said = render(lead, &[]).unwrap();
        let several = "; 'chance 1' (23) and 'also 1' (24) make no significant difference.";
        assert!(said.contains(several), "{said}");
    }

    #[test]
    fn a_run_without_other_seeds_says_only_what_happens_in_it() {
        let mut report = samples::report(vec![samples::paused_holder()]);
        let lead = &mut report.runs[0].violations[0];
        lead.remedies = ["client=fencing", "40s"]
            .map(|setting| Remedy {
                seeds: 0,
                ..samples::remedy(
                    if setting == "40s" { LEASE } else { "fencing" },
                    setting,
                    OnThisPlan::Gone,
                )
            })
            .to_vec();
        assert_eq!(
            render(lead, &[]).as_deref(),
            Some("In this run, fencing and a lease of 40s prevent the violation.")
        );
    }

    #[test]
    fn a_different_effect_on_another_violation_has_its_own_sentences() {
        let mut lead =
            samples::report(vec![samples::paused_holder()]).runs[0].violations[0].clone();
        lead.remedies = vec![samples::remedy("fencing", "client=fencing", OnThisPlan::StillThere)];
        let mut other = lead.clone();
        other.violation.kind = Kind::StaleWrite;
        let remedy = &mut other.remedies[0];
        remedy.on_this_plan = OnThisPlan::NotComparable;
        (remedy.broken_with, remedy.unknown_with) = (1, 0);
        assert_eq!(
            differing_effects(&lead, &[&other], Unknown::Varies).join(" "),
            "This run cannot show whether fencing prevents the stale writes. Of the other seeds, 1 \
             shows stale writes with fencing and 22 without it."
        );
        let lost = {
            let mut lost = other.clone();
            lost.violation.kind = Kind::LostUpdate;
            lost
        };
        assert_eq!(
            differing_effects(&lead, &[&other, &lost], Unknown::Varies).join(" "),
            "This run cannot show whether fencing prevents the stale writes and lost updates. Of \
             the other seeds, 1 shows stale writes with fencing and 22 without it; 1 shows lost \
             updates with fencing and 22 without it."
        );
        assert!(differing_effects(&lead, &[&lead], Unknown::Varies).is_empty());
        let mut told = |first, second| {
            lead.remedies[0].on_this_plan = first;
            other.remedies[0].on_this_plan = second;
            !differing_effects(&lead, &[&other], Unknown::Varies).is_empty()
        };
        let (gone, unclear) = (OnThisPlan::Gone, OnThisPlan::NotComparable);
        assert!(!told(gone, unclear) && !told(unclear, gone), "the violation is absent in both");
        assert!(told(OnThisPlan::StillThere, gone) && told(gone, OnThisPlan::StillThere));
    }
}
