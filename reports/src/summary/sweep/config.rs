use crate::record::visible::one_line;
use serde_json::{Map, Value};

const VALUE_MAX: usize = 60;

/// Values of the config that follow from other values.
const DERIVED: [&str; 2] = ["config.options", "config.scenario.keeps"];

/// A value in which the configs of two sweeps differ.
struct DifferingValue<'v> {
    path: String,
    a: &'v Value,
    b: &'v Value,
}

/// Names the values in which two configs differ, such as `cycles: 10, not 11`; `None` if they are
/// equal.
pub fn differing(a: &Value, b: &Value) -> Option<String> {
    let mut all = Vec::new();
    differences("config".to_owned(), a, b, &mut all);
    let is_derived = |one: &DifferingValue<'_>| DERIVED.contains(&one.path.as_str());
    if !all.iter().all(is_derived) {
        all.retain(|one| !is_derived(one));
    }
    let words: Vec<String> = all.iter().map(DifferingValue::in_words).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

fn differences<'v>(path: String, a: &'v Value, b: &'v Value, all: &mut Vec<DifferingValue<'v>>) {
    static NULL: Value = Value::Null;
    match (a, b) {
        (Value::Object(left), Value::Object(right)) => {
            let value = |map: &'v Map<String, Value>, key: &str| map.get(key).unwrap_or(&NULL);
            let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
            for key in keys {
                differences(format!("{path}.{key}"), value(left, key), value(right, key), all);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (place, (a, b)) in left.iter().zip(right).enumerate() {
                differences(format!("{path}.{place}"), a, b, all);
            }
        }
        _ if a == b => {}
        _ => all.push(DifferingValue { path, a, b }),
    }
}

impl DifferingValue<'_> {
    fn in_words(&self) -> String {
        let path = self.path.strip_prefix("config.").unwrap_or(&self.path);
        let path = path.strip_prefix("scenario.").unwrap_or(path);
        match path {
            "explains" => "--no-shrink".to_owned(),
            // A report omits the strategy `uniform`.
            "strategy" => {
                let [a, b] = [self.a, self.b].map(|value| value.as_str().unwrap_or("uniform"));
                format!("strategy: {a}, not {b}")
            }
            _ => format!("{path}: {}, not {}", words(self.a), words(self.b)),
        }
    }
}

fn words(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Null => "unset".to_owned(),
        _ if text.is_empty() => "empty".to_owned(),
        _ => one_line(&text, VALUE_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::differing;
    use serde_json::{Value, json};

    fn config(cycles: u32, options: &str) -> Value {
        json!({ "engine": "fast", "options": options, "scenario": { "cycles": cycles, "ttl": "9s" } })
    }

    #[test]
    fn the_setting_is_named_with_both_values() {
        let (ten, eleven) = (config(10, "--set cycles=10"), config(11, "--set cycles=11"));
        assert_eq!(differing(&ten, &ten), None);
        assert_eq!(differing(&ten, &eleven), Some("cycles: 10, not 11".to_owned()));
        let mut other = eleven;
        other["engine"] = "turmoil".into();
        other["scenario"].as_object_mut().unwrap().remove("ttl");
        let said = differing(&ten, &other).unwrap();
        assert_eq!(said, "engine: fast, not turmoil; cycles: 10, not 11; ttl: 9s, not unset");
    }

    #[test]
    fn options_are_named_if_nothing_else_differs() {
        let said = differing(&config(10, ""), &config(10, "--no-config")).unwrap();
        assert_eq!(said, "options: empty, not --no-config");
    }

    #[test]
    fn a_long_value_is_cut() {
        let of = |text: &str| json!({ "scenario": { "scripts": [{ "text": text }] } });
        let said = differing(&of("a"), &of(&"b".repeat(5_000))).unwrap();
        assert!(said.starts_with("scripts.0.text: a, not bbb") && said.len() < 200, "{said}");
    }
}
