use crate::answer::fencepost;
use serde_json::Value;
use std::path::PathBuf;

fn history() -> Value {
    let arguments = [
        "--seed", "7", "--client", "single-node", "--fault", "pause", "--cycles", "2", "--engine",
        "fast",
    ];
    let answer = fencepost(&[&arguments[..], &["--format", "json", "--with-history"]].concat());
    answer.json()["runs"][0]["history"].clone()
}

fn checked(name: &str, edit: impl FnOnce(&mut Vec<Value>)) -> (i32, String, Vec<String>) {
    let mut history = history();
    edit(history["events"].as_array_mut().expect("events"));
    let text = serde_json::to_string_pretty(&history).expect("JSON");
    let path: PathBuf = [env!("CARGO_TARGET_TMPDIR"), name].iter().collect();
    std::fs::write(&path, &text).expect("written");
    let answer = fencepost(&["check", path.to_str().expect("a plain path")]);
    let lines = text.lines().map(str::to_owned).collect();
    (answer.status, answer.stderr, lines)
}

fn line(message: &str) -> usize {
    let (_, rest) = message.split_once("line ").expect("a line is named");
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

#[test]
fn accepts_what_a_run_recorded() {
    let (status, message, _) = checked("untouched.json", |_| {});
    assert_ne!(status, 2, "{message}");
}

#[test]
fn rejects_time_that_goes_back_and_names_its_line() {
    let (status, message, lines) = checked("time.json", |events| events[5]["time_us"] = 0.into());
    assert_eq!(status, 2);
    assert!(message.contains("time goes back"), "{message}");
    let at = line(&message);
    assert_eq!(lines[at - 1].trim(), "{");
    assert!(lines[at].contains("\"sequence\": 5"), "{}", lines[at]);
}

#[test]
fn rejects_an_operation_that_nobody_invoked() {
    let (status, message, _) = checked("nobody.json", |events| {
        let ok = events.iter_mut().find(|event| event["event"] == "ok").expect("an ok");
        ok["operation"] = 9_999.into();
    });
    assert_eq!(status, 2);
    assert!(message.contains("without having been invoked") && line(&message) > 1, "{message}");
}

#[test]
fn rejects_an_action_that_does_not_exist_and_names_its_line() {
    let (status, message, _) = checked("action.json", |events| {
        let invoke =
            events.iter_mut().find(|event| event["event"] == "invoke").expect("an invocation");
        invoke["action"] = "steal".into();
    });
    assert_eq!(status, 2);
    assert!(message.contains("steal") && line(&message) > 1, "{message}");
}

#[test]
fn rejects_an_operation_that_begins_before_the_last_was_completed() {
    let (status, message, _) = checked("open.json", |events| {
        let place = events
            .iter()
            .position(|event| event["event"] == "ok" || event["event"] == "fail")
            .expect("an end");
        events.remove(place);
        for (sequence, event) in events.iter_mut().enumerate() {
            event["sequence"] = sequence.into();
        }
    });
    assert_eq!(status, 2);
    assert!(line(&message) > 1, "{message}");
}
