use crate::answer::fencepost;
use serde_json::Value;

#[track_caller]
pub(crate) fn satisfies(name: &str, value: &Value) {
    let schema = fencepost(&["schema", name]).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new(), "{name}");
    assert!(!validator.is_valid(&serde_json::json!({ "format": 7 })), "{name}");
}
