use super::{Bound, BoundaryReport, Found, Worse};

pub fn explanation(report: &BoundaryReport) -> String {
    let mut said = vec![match &report.found {
        Some(found) => with_boundary(report, *found),
        None => without_boundary(report),
    }];
    if !report.monotone {
        said.push(
            "The assumption does not hold: some value that is worse than a violated value shows no \
             violation."
                .to_owned(),
        );
    }
    said.join(" ")
}

fn with_boundary(report: &BoundaryReport, found: Found) -> String {
    let quantity = &report.quantity;
    let (violated, quiet) = (quantity.show(found.violated), quantity.show(found.quiet));
    let so_far = match quantity.worse {
        Worse::More => format!("Violations begin between {quiet} and {violated}."),
        Worse::Less => format!("Violations end between {violated} and {quiet}."),
    };
    let Some(bound) = report.bounds.first() else {
        return format!("{so_far} No bound is known for comparison.");
    };
    let at = quantity.show(bound.value);
    let apart = quantity.show(bound.value.abs_diff(found.violated));
    let beside = match report.bounds.get(1) {
        Some(wider) => {
            format!(" The wider bound {} holds because {}.", quantity.show(wider.value), wider.rule)
        }
        None => String::new(),
    };
    let compared = if is_beyond(report, bound, found) {
        format!(
            "The threshold is milder than the bound {at} ({}) by {apart}. Replay a violated seed: its \
             run does not meet the condition of the bound, or breaks the lock for another reason.",
            bound.rule
        )
    } else if bound.value.abs_diff(found.violated) <= report.step {
        format!(
            "The threshold matches the bound {at} within the step of the search: {}.",
            bound.rule
        )
    } else {
        format!(
            "According to the bound, values milder than {at} do not break the rule: {}. The seeds \
             come within {apart} of the bound: {}.",
            bound.rule, bound.slack
        )
    };
    format!("{so_far} {compared}{beside}")
}

fn is_beyond(report: &BoundaryReport, bound: &Bound, found: Found) -> bool {
    report.quantity.is_worse(bound.value, found.violated)
        && bound.value.abs_diff(found.violated) > report.step
}

fn without_boundary(report: &BoundaryReport) -> String {
    let exercised = report.probes.iter().map(|probe| probe.exercised).min().unwrap_or(0);
    if exercised == 0 {
        return "At some value no run exercised the lock, so its result is unknown.".to_owned();
    }
    let violated = report.probes.iter().any(|probe| probe.violated > 0);
    let bound = report.bounds.first().map(|bound| {
        format!(
            " Calculated bound {}: {}; {}.",
            report.quantity.show(bound.value),
            bound.rule,
            bound.slack
        )
    });
    let said = if violated {
        "Even the mildest value tried breaks the rule: the threshold, if there is one, is outside \
         the range."
    } else {
        "No value tried shows a violation."
    };
    format!("{said}{}", bound.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{probe, quantity};
    use super::super::{FORMAT, VERSION, found, is_monotone};
    use super::*;
    use crate::summary::report::Tool;
    use crate::summary::sweep::SeedRange;
    use fencepost_faults::Seed;

    fn report(worse: Worse, values: &[(u64, u64)], bound: Option<u64>) -> BoundaryReport {
        let (quantity, probes): (_, Vec<_>) =
            (quantity(worse), values.iter().map(|(at, n)| probe(*at, *n)).collect());
        let bound =
            bound.map(|value| Bound { value, rule: "RULE".to_owned(), slack: "SLACK".to_owned() });
        BoundaryReport {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: Tool { name: "fencepost".to_owned(), version: "0".to_owned() },
            config: serde_json::Value::Null,
            client: "redlock".to_owned(),
            fault: "restart".to_owned(),
            kind: None,
            seeds: SeedRange { from: Seed(0), to: Seed(10) },
            found: found(&quantity, &probes),
            monotone: is_monotone(&quantity, &probes),
            quantity,
            step: 1_000,
            probes,
            bounds: bound.into_iter().collect(),
            explanation: String::new(),
        }
    }

    #[test]
    fn seeds_that_stop_short_of_the_bound_say_why() {
        let said =
            explanation(&report(Worse::Less, &[(1_000, 9), (5_000, 1), (6_000, 0)], Some(9_000)));
        assert_eq!(
            said,
            "Violations end between 5ms and 6ms. According to the bound, values milder than 9ms \
             do not break the rule: RULE. The seeds come within 4ms of the bound: SLACK."
        );
    }

    #[test]
    fn a_bound_within_the_step_is_confirmed_and_one_that_is_passed_is_contradicted() {
        let near = explanation(&report(Worse::More, &[(4_000, 0), (5_000, 1)], Some(4_500)));
        assert!(near.contains("within the step"), "{near}");
        let passed = explanation(&report(Worse::More, &[(1_000, 0), (2_000, 1)], Some(9_000)));
        assert!(passed.contains("milder than the bound 9ms (RULE) by 7ms"), "{passed}");
    }

    #[test]
    fn no_boundary_is_said_to_be_none() {
        assert!(explanation(&report(Worse::More, &[(1, 0), (2, 0)], None)).starts_with("No value"));
        assert!(
            explanation(&report(Worse::More, &[(1, 2), (2, 2)], None))
                .starts_with("Even the mildest")
        );
        let gap = explanation(&report(Worse::More, &[(1, 0), (2, 2), (3, 0)], None));
        assert!(gap.ends_with("shows no violation."), "{gap}");
    }
}
