use super::{Certificate, Slice};
use serde_json::Value;

pub fn diff(a: &Certificate, b: &Certificate) -> Vec<String> {
    let mut lines = Vec::new();
    let bounds = (serde_json::json!(a.bounds), serde_json::json!(b.bounds));
    for (path, a, b) in [
        ("tool", serde_json::json!(a.tool), serde_json::json!(b.tool)),
        ("bounds", bounds.0.clone(), bounds.1.clone()),
        ("runs", serde_json::json!(a.runs), serde_json::json!(b.runs)),
        ("left_out", serde_json::json!(a.left_out), serde_json::json!(b.left_out)),
        ("claim", serde_json::json!(a.claim), serde_json::json!(b.claim)),
        ("not_covered", serde_json::json!(a.not_covered), serde_json::json!(b.not_covered)),
    ] {
        values(path, &a, &b, &mut lines);
    }
    if a.digest != b.digest || a.slices != b.slices {
        let is_one_by_one = bounds.0 == bounds.1;
        lines.extend(slices(&a.slices, &b.slices, is_one_by_one));
        lines.push(format!("digest: {} -> {}", a.digest, b.digest));
    }
    lines
}

pub fn changed_values(path: &str, a: &Value, b: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    values(path, a, b, &mut lines);
    lines
}

fn values(path: &str, a: &Value, b: &Value, lines: &mut Vec<String>) {
    if a == b {
        return;
    }
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let added = b.keys().filter(|key| !a.contains_key(*key));
            for key in a.keys().chain(added) {
                let none = &Value::Null;
                let (a, b) = (a.get(key).unwrap_or(none), b.get(key).unwrap_or(none));
                values(&format!("{path}.{key}"), a, b, lines);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.iter().chain(b).all(Value::is_string) => {
            let only = |these: &[Value], others: &[Value], which: &str| -> Vec<String> {
                let own = these.iter().filter(|value| !others.contains(value));
                own.map(|value| format!("{path}: only in {which}: {}", plain(value))).collect()
            };
            let told = [only(a, b, "A"), only(b, a, "B")].concat();
            match told.is_empty() {
                true => lines.push(format!("{path}: same entries in a different order")),
                false => lines.extend(told),
            }
        }
        _ => lines.push(format!("{path}: {} -> {}", plain(a), plain(b))),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Counts the slices that both lists contain. If `is_one_by_one`, first describes each difference.
fn slices(a: &[Slice], b: &[Slice], is_one_by_one: bool) -> Vec<String> {
    let same = a.iter().filter(|slice| b.contains(slice)).count();
    let mut lines = Vec::new();
    if is_one_by_one {
        let cut = |slice: &Slice| (slice.faults, slice.delays, slice.from, slice.to);
        for slice in a {
            match b.iter().find(|other| cut(other) == cut(slice)) {
                Some(other) if other == slice => {}
                Some(other) if other.runs == slice.runs => {
                    lines.push(format!("{}: different histories or verdicts", named(slice)));
                }
                Some(other) => {
                    lines.push(format!("{}: {} -> {} runs", named(slice), slice.runs, other.runs));
                }
                None => lines.push(format!("{}: only in A", named(slice))),
            }
        }
        let added = b.iter().filter(|slice| !a.iter().any(|other| cut(other) == cut(slice)));
        lines.extend(added.map(|slice| format!("{}: only in B", named(slice))));
    }
    lines.push(format!("slices: {same} of {} in A and {} in B are the same", a.len(), b.len()));
    lines
}

fn named(slice: &Slice) -> String {
    let faults = match slice.faults {
        0 => "no fault".to_owned(),
        1 => "1 fault".to_owned(),
        count => format!("{count} faults"),
    };
    let delays = match slice.delays {
        0 => String::new(),
        1 => " and 1 delayed message".to_owned(),
        count => format!(" and {count} delayed messages"),
    };
    format!("slice of plans with {faults}{delays}, units {}..{}", slice.from, slice.to)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_certificate_does_not_differ_from_itself() {
        assert_eq!(diff(&sample(), &sample()), Vec::<String>::new());
    }

    #[test]
    fn every_kind_of_change_has_a_line() {
        let a = sample();
        let mut b = sample();
        b.tool.version = "0.2.0".to_owned();
        b.runs.valid -= 1;
        b.runs.unknown += 1;
        b.left_out.idle_plans = 9;
        b.claim.push_str(" None.");
        b.not_covered.push_str(" Nor that.");
        b.slices[1].digest = "1".repeat(64);
        b.digest = "2".repeat(64);
        assert_eq!(
            diff(&a, &b),
            [
                "tool.version: 0.1.0 -> 0.2.0".to_owned(),
                "runs.valid: 6 -> 5".to_owned(),
                "runs.unknown: 2 -> 3".to_owned(),
                "left_out.idle_plans: 2 -> 9".to_owned(),
                "claim: No plan breaks a rule. -> No plan breaks a rule. None.".to_owned(),
                "not_covered: Not covered: the rest. -> Not covered: the rest. Nor that."
                    .to_owned(),
                "slice of plans with 1 fault, units 0..1: different histories or verdicts"
                    .to_owned(),
                "slices: 1 of 2 in A and 2 in B are the same".to_owned(),
                format!("digest: {} -> {}", "0".repeat(64), "2".repeat(64)),
            ]
        );
    }

    #[test]
    fn bounds_are_compared_member_by_member_and_their_lists_by_what_only_one_has() {
        let (a, mut b) = (sample(), sample());
        b.bounds.faults = 2;
        b.bounds.scenario = serde_json::json!({ "processes": 3, "ttl": "4s" });
        b.bounds.rules.pop();
        b.bounds.conditions.push("every message takes 2ms; all start at once".to_owned());
        assert_eq!(
            diff(&a, &b),
            [
                "bounds.faults: 1 -> 2",
                "bounds.rules: only in A: idle",
                "bounds.conditions: only in B: every message takes 2ms; all start at once",
                "bounds.scenario.processes: 2 -> 3",
                "bounds.scenario.ttl: null -> 4s",
            ]
        );
        let mut other_way = sample();
        other_way.bounds.rules.reverse();
        assert_eq!(diff(&a, &other_way), ["bounds.rules: same entries in a different order"]);
    }

    #[test]
    fn slices_that_are_cut_otherwise_are_named() {
        let (a, mut b) = (sample(), sample());
        b.slices[1].to = 2;
        b.slices[0].runs = 2;
        assert_eq!(
            diff(&a, &b)[..3],
            [
                "slice of plans with no fault, units 0..1: 1 -> 2 runs",
                "slice of plans with 1 fault, units 0..1: only in A",
                "slice of plans with 1 fault, units 0..2: only in B",
            ]
        );
    }
}
