use crate::documents::boundary::BoundaryReport;
use crate::documents::certificate::Certificate;
use crate::documents::certificate::unfinished::Unfinished;
use crate::documents::findings::Line;
use crate::documents::load::LoadReport;
use crate::documents::matrix::Matrix;
use crate::documents::reality::Reality;
use crate::record::history::History;
use crate::summary::report::Report;
use crate::summary::sweep::{Comparison, Sweep};
use fencepost_faults::FaultPlan;
use serde_json::Value;

pub const NAMES: [&str; 12] = [
    "plan", "history", "report", "sweep", "boundary", "matrix", "load", "compare", "certificate",
    "exploration", "reality", "findings",
];

/// Returns the JSON Schema (version 2020-12) of a format; `None` if `name` is not in [`NAMES`].
pub fn schema(name: &str) -> Option<Value> {
    let schema = match name {
        "plan" => schemars::schema_for!(FaultPlan),
        "history" => schemars::schema_for!(History),
        "report" => schemars::schema_for!(Report),
        "sweep" => schemars::schema_for!(Sweep),
        "boundary" => schemars::schema_for!(BoundaryReport),
        "matrix" => schemars::schema_for!(Matrix),
        "load" => schemars::schema_for!(LoadReport),
        "compare" => schemars::schema_for!(Comparison),
        "certificate" => schemars::schema_for!(Certificate),
        "reality" => schemars::schema_for!(Reality),
        "exploration" => schemars::schema_for!(Unfinished),
        "findings" => schemars::schema_for!(Line),
        _ => return None,
    };
    Some(schema.to_value())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use serde::Serialize;
    use serde_json::json;

    fn accepts(name: &str, value: &impl Serialize) {
        let validator = jsonschema::validator_for(&schema(name).unwrap()).unwrap();
        let value = serde_json::to_value(value).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new());
    }

    fn rejects(name: &str, value: &impl Serialize, edit: impl FnOnce(&mut Value)) {
        let validator = jsonschema::validator_for(&schema(name).unwrap()).unwrap();
        let mut value = serde_json::to_value(value).unwrap();
        assert!(validator.is_valid(&value), "the value is valid before the edit");
        edit(&mut value);
        assert!(!validator.is_valid(&value), "{value:#}");
    }

    #[test]
    fn accepts_what_runs_produce() {
        for story in
            [samples::paused_holder(), samples::failover(), samples::quiet(), samples::lonely()]
        {
            accepts("history", &story.clone().build());
            accepts("report", &samples::report(vec![story.clone()]));
            let whole = samples::with_history(story);
            accepts("plan", &whole.runs[0].plan);
            accepts("report", &whole);
        }
        accepts("sweep", &samples::sweep(0, 10));
    }

    #[test]
    fn rejects_a_history_that_is_not_one() {
        let history = samples::paused_holder().build();
        rejects("history", &history, |value| value["version"] = json!(3));
        rejects("history", &history, |value| value["format"] = json!("fencepost.report"));
        rejects("history", &history, |value| value["events"][0]["node"] = json!("redis-0"));
        rejects("history", &history, |value| value["events"][0]["event"] = json!("guessed"));
        rejects("history", &history, |value| value["events"][0]["time_us"] = json!(-1));
        rejects("history", &history, |value| {
            drop(value["header"].as_object_mut().unwrap().remove("quorum"))
        });
    }

    #[test]
    fn rejects_a_report_that_is_not_one() {
        let report = samples::report(vec![samples::paused_holder()]);
        rejects("report", &report, |value| value["seed"] = json!(7));
        rejects("report", &report, |value| value["runs"][0]["verdict"] = json!("fine"));
        rejects("report", &report, |value| {
            value["runs"][0]["violations"][0]["kind"] = json!("bad-luck")
        });
        rejects("report", &report, |value| {
            value["runs"][0]["violations"][0]["cause"] = json!("gremlins")
        });
        rejects("report", &report, |value| {
            value["runs"][0]["timeline"][0]["process"] = json!("nobody")
        });
        rejects("report", &report, |value| drop(value.as_object_mut().unwrap().remove("runs")));
    }

    #[test]
    fn an_unknown_verdict_states_its_reason() {
        let report = samples::report(vec![samples::lonely()]);
        rejects("report", &report, |value| {
            drop(value["runs"][0].as_object_mut().unwrap().remove("reason"))
        });
    }

    #[test]
    fn rejects_a_sweep_or_a_plan_that_is_not_one() {
        let sweep = samples::sweep(0, 10);
        rejects("sweep", &sweep, |value| value["seeds"]["from"] = json!(0));
        rejects("sweep", &sweep, |value| {
            value["cells"][0]["violations_by_kind"] = json!({ "overlap": "many" })
        });
        rejects("sweep", &sweep, |value| value["cells"][0]["rate"]["low"] = json!(null));
        let plan = samples::report(vec![samples::failover()]).runs[0].plan.clone();
        rejects("plan", &plan, |value| value["faults"][0]["fault"]["kind"] = json!("earthquake"));
    }

    #[test]
    fn a_name_that_has_no_schema_has_none() {
        assert!(NAMES.iter().all(|name| schema(name).is_some()));
        assert_eq!(schema("verdict"), None);
    }
}
