use super::{FORMAT, Finding, Findings, Header, VERSION};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadLine {
    line: usize,
    what: String,
}

impl Findings {
    pub fn read(text: &str) -> Result<Findings, BadLine> {
        let mut lines = (1..).zip(text.split_inclusive('\n'));
        let (line, first) = lines.next().unwrap_or((1, ""));
        let header = header(first).map_err(|what| BadLine { line, what })?;
        let mut all: BTreeMap<String, Finding> = BTreeMap::new();
        for (line, text) in lines {
            let wrong = |what: String| BadLine { line, what };
            let finding = finding(text).map_err(wrong)?;
            let id = finding.id.clone();
            if all.insert(id.clone(), finding).is_some() {
                return Err(wrong(format!(
                    "finding {id} is listed twice: expected one line per finding"
                )));
            }
        }
        Ok(Findings { next_seed: header.next_seed, all })
    }

    pub fn lines(&self) -> serde_json::Result<String> {
        let header =
            Header { format: FORMAT.to_owned(), version: VERSION, next_seed: self.next_seed };
        let mut text = serde_json::to_string(&header)? + "\n";
        for finding in self.all.values() {
            let mut value = serde_json::to_value(finding)?;
            omit_options(&mut value);
            text += &serde_json::to_string(&value)?;
            text += "\n";
        }
        Ok(text)
    }
}

fn header(line: &str) -> Result<Header, String> {
    let expected = || format!("expected the header of a {FORMAT} file");
    let value: Value = serde_json::from_str(line).map_err(|_| expected())?;
    if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(expected());
    }
    match value.get("version").and_then(Value::as_u64) {
        Some(version) if version == u64::from(VERSION) => {}
        Some(version) if version > u64::from(VERSION) => {
            return Err(format!("version {version} is newer than {VERSION}: use a newer build"));
        }
        _ => return Err(format!("expected version {VERSION}")),
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn finding(line: &str) -> Result<Finding, String> {
    if !line.ends_with('\n') {
        return Err("the line is cut short: expected a line break at its end".to_owned());
    }
    let words = |error: serde_json::Error| {
        let words = error.to_string();
        words.split(" at line ").next().unwrap_or_default().to_owned()
    };
    let mut value: Value = serde_json::from_str(line).map_err(words)?;
    state_options(&mut value);
    let finding: Finding = serde_json::from_value(value).map_err(words)?;
    let is_id = finding.id.len() == 12 && finding.id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_id {
        return Err(format!("id '{}': expected twelve hex digits", finding.id));
    }
    let days = [&finding.first_seen, &finding.last_seen].into_iter().chain(&finding.fixed_on);
    for day in days {
        if !is_day(day) {
            return Err(format!("day '{day}': expected YYYY-MM-DD"));
        }
    }
    Ok(finding)
}

/// Adds the finding's options to each of its runs that states no options.
fn state_options(finding: &mut Value) {
    let options = finding.get("options").cloned();
    let runs = finding.get_mut("shown_by").and_then(Value::as_array_mut);
    for run in runs.into_iter().flatten().filter_map(Value::as_object_mut) {
        if let (Some(options), false) = (&options, run.contains_key("options")) {
            run.insert("options".to_owned(), options.clone());
        }
    }
}

/// Removes the options of each run whose options equal those of the finding.
fn omit_options(finding: &mut Value) {
    let options = finding.get("options").cloned();
    let runs = finding.get_mut("shown_by").and_then(Value::as_array_mut);
    for run in runs.into_iter().flatten().filter_map(Value::as_object_mut) {
        if run.get("options") == options.as_ref() {
            run.shift_remove("options");
        }
    }
}

fn is_day(text: &str) -> bool {
    let is_digit = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(is_digit)
}
