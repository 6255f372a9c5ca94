//! Writes SARIF 2.1.0 (OASIS standard, 2020), which code hosts show as alerts.

use crate::explain::cause::Cause;
use crate::judge::finding::{Kind, Severity};
use crate::record::visible::visible_json;
use crate::show::format::{Format, Needs, Page, Sweeps};
use crate::show::view::View;
use crate::summary::report::Report;
use crate::summary::sweep::{FindingState, Sweep};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(crate) const FORMAT: Format = Format {
    about: "SARIF, for code scanning: a result for each finding",
    needs: Needs::Findings,
    runs: View::escaping("sarif", write_report),
    sweeps: Some(Sweeps { view: SWEEPS, has_baselines: false }),
};

const SWEEPS: View<Sweep> = View::escaping("sarif", write_sweep);

struct Found<'f> {
    id: &'f str,
    client: &'f str,
    kind: Kind,
    cause: Cause,
    said: String,
    is_accepted: bool,
}

fn write_report(_: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let all = report.runs.iter().flat_map(|run| run.violations.iter().map(move |one| (run, one)));
    let found = all.map(|(run, one)| Found {
        id: &one.violation.id,
        client: &run.client,
        kind: one.violation.kind,
        cause: one.violation.cause,
        said: format!("{}\nReplay: {}", one.violation.summary, one.replay),
        is_accepted: false,
    });
    write(&report.tool.version, &report.config, found, out)
}

fn write_sweep(_: Page, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    let all =
        sweep.cells.iter().flat_map(|cell| cell.fingerprints.iter().map(move |one| (cell, one)));
    let found = all.map(|(cell, one)| Found {
        id: &one.id,
        client: &cell.client,
        kind: one.kind,
        cause: one.cause,
        said: format!(
            "{} under {}: {} by {} in {} of {} runs.\nReplay: {}",
            cell.client,
            cell.fault,
            one.kind,
            one.cause,
            one.runs,
            cell.runs,
            sweep.replay(cell, one.smallest.seed)
        ),
        is_accepted: one.state == Some(FindingState::Accepted),
    });
    write(&sweep.tool.version, &sweep.config, found, out)
}

/// Merges entries with the same id, from several runs or cells.
fn one_each<'f>(all: impl Iterator<Item = Found<'f>>) -> Vec<Found<'f>> {
    let mut found: Vec<Found<'f>> = Vec::new();
    for one in all {
        match found.iter_mut().find(|known| known.id == one.id) {
            Some(known) => known.said += &format!("\n{}", one.said),
            None => found.push(one),
        }
    }
    found
}

fn write<'f>(
    version: &str,
    config: &Value,
    all: impl Iterator<Item = Found<'f>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let found = one_each(all);
    let kinds: BTreeSet<Kind> = found.iter().map(|one| one.kind).collect();
    let rules: Vec<Value> = kinds.iter().map(|kind| rule(*kind)).collect();
    let results: Vec<Value> = found.iter().map(|one| result(one, config)).collect();
    let driver = json!({ "name": "fencepost", "version": version, "rules": rules });
    let run = json!({ "tool": { "driver": driver }, "results": results });
    let document = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    writeln!(out, "{}", visible_json(&serde_json::to_string_pretty(&document)?))
}

fn rule(kind: Kind) -> Value {
    json!({
        "id": kind.name(),
        "shortDescription": { "text": format!("{} ({})", kind.name(), kind.severity()) },
    })
}

fn result(found: &Found<'_>, config: &Value) -> Value {
    let level = match found.kind.severity() {
        Severity::Harm => "error",
        Severity::Hazard => "warning",
    };
    let suppressions = match found.is_accepted {
        true => vec![json!({ "kind": "external" })],
        false => Vec::new(),
    };
    json!({
        "ruleId": found.kind.name(),
        "level": level,
        "message": { "text": format!("{} by {}: {}", found.kind, found.cause, found.said) },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(file_of(found.client, config)) },
                "region": { "startLine": 1 },
            },
            "logicalLocations": [{ "name": found.client }],
        }],
        // GitHub uses only this fingerprint. Without it, GitHub would use the line's text, which is
        // the same for all findings of a file.
        "partialFingerprints": { "fencepost/v1": found.id, "primaryLocationLineHash": found.id },
        "suppressions": suppressions,
    })
}

/// Returns the lock's Lua file, or else `fencepost.toml`. Code hosts require a file for each alert.
fn file_of<'c>(client: &str, config: &'c Value) -> &'c str {
    let scripts = config.pointer("/scenario/scripts").and_then(Value::as_array);
    let text = |script: &'c Value, key: &str| script.get(key).and_then(Value::as_str);
    let mut scripts = scripts.into_iter().flatten();
    let own = scripts.find(|script| text(script, "name") == Some(client));
    own.and_then(|script| text(script, "file")).unwrap_or("fencepost.toml")
}

fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let one = |byte: u8| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    path.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn sarif(sweep: &Sweep) -> Value {
        let mut out = Vec::new();
        write_sweep(Page::default(), sweep, &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn a_result_has_a_rule_a_place_and_a_fingerprint() {
        let mut sweep = samples::sweep(0, 10);
        let client = sweep.cells[0].client.clone();
        sweep.config["scenario"] =
            json!({ "scripts": [{ "name": client, "file": "locks/my lock.lua", "text": "" }] });
        let document = sarif(&sweep);
        let result = &document["runs"][0]["results"][0];
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(place, "locks/my%20lock.lua");
        assert_eq!(
            result["partialFingerprints"]["fencepost/v1"],
            sweep.cells[0].fingerprints[0].id
        );
        assert_eq!(
            result["partialFingerprints"]["primaryLocationLineHash"],
            sweep.cells[0].fingerprints[0].id
        );
        let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]));
        assert!(result["message"]["text"].as_str().unwrap().contains("Replay: fencepost --seed"));
        assert_eq!(result["suppressions"], json!([]));
    }

    #[test]
    fn a_finding_in_two_cells_is_one_result_with_both_commands() {
        let mut sweep = samples::sweep(0, 10);
        let before = sarif(&sweep)["runs"][0]["results"].as_array().unwrap().len();
        let mut again = sweep.cells[0].clone();
        again.fault = "failover".to_owned();
        sweep.cells.push(again);
        let document = sarif(&sweep);
        let results = document["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), before);
        let text = results[0]["message"]["text"].as_str().unwrap();
        assert_eq!(text.matches("Replay: ").count(), 2, "{text}");
        assert!(text.contains("--fault failover"), "{text}");
    }

    #[test]
    fn an_accepted_finding_is_suppressed() {
        let mut sweep = samples::sweep(0, 10);
        sweep.cells[0].fingerprints[0].state = Some(FindingState::Accepted);
        let document = sarif(&sweep);
        assert_eq!(document["runs"][0]["results"][0]["suppressions"][0]["kind"], "external");
    }
}
