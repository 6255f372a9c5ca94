use super::exporter_tests::full;
use super::{FORMATS, Format, Sweeps, compare};
use crate::documents::matrix::{self, Matrix};
use crate::documents::{boundary, certificate, load};
use crate::samples;
use crate::show::view::View;
use crate::summary::report::Report;
use crate::summary::sweep::{Comparison, Sweep};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const HOSTILE: &str = "\"><img src=x onerror=alert(1)>'</script><script>alert(2)</script></title>\
                       ]]>--><svg onload=alert(3)>`|*_&lt;%%{init}%%;#\u{202e}\x1b[2J\r\n\
                       ::error::x\n";

fn hostile<T: Serialize + DeserializeOwned>(sample: &T) -> T {
    let mut document = serde_json::to_value(sample).unwrap();
    let mut turned = 0;
    for path in paths(&document, String::new()) {
        let mut tried = document.clone();
        let place = tried.pointer_mut(&path).unwrap();
        *place = format!("{}{HOSTILE}", place.as_str().unwrap()).into();
        if serde_json::from_value::<T>(tried.clone()).is_ok() {
            turned += 1;
            document = tried;
        }
    }
    assert!(turned > 5, "{turned} strings may be anything");
    serde_json::from_value(document).unwrap()
}

fn paths(value: &Value, path: String) -> Vec<String> {
    let within = |key: String, member: &Value| paths(member, format!("{path}/{key}"));
    match value {
        Value::String(_) => vec![path],
        Value::Array(items) => (0..)
            .zip(items)
            .flat_map(|(place, item): (u32, _)| within(place.to_string(), item))
            .collect(),
        Value::Object(members) => {
            let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
            members.iter().flat_map(|(key, member)| within(escaped(key), member)).collect()
        }
        _ => Vec::new(),
    }
}

fn report() -> (Report, Report) {
    let sample = full(samples::paused_holder);
    let mut turned = hostile(&sample);
    turned.runs[0].lengths.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    (sample, turned)
}

fn sweep() -> (Sweep, Sweep) {
    let mut sample = samples::sweep(0, 9);
    sample.config["options"] = "--set x=y".into();
    let mut turned = hostile(&sample);
    let phases = turned.cells[0].phases.values().next().unwrap().clone();
    turned.cells[0].phases.insert(HOSTILE.to_owned(), phases);
    (sample, turned)
}

fn written(format: &Format, report: &Report) -> String {
    let mut out = Vec::new();
    format.write_run(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn written_sweep(format: Sweeps, sweep: &Sweep) -> String {
    let mut out = Vec::new();
    format.write(sweep, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn check(name: &str, plain: &str, text: &str) {
    for sequence in ["\x1b[2J", "\r", "\u{202e}", "\n::error::x"] {
        assert!(!text.contains(sequence), "{name} lets {sequence:?} through: {text}");
    }
    let lines = |text: &str| text.lines().count();
    match name {
        "json" | "perfetto" | "porcupine" | "sarif" => {
            drop(serde_json::from_str::<Value>(text).unwrap());
        }
        "html" => page(plain, text),
        "svg" => picture(text),
        "junit" => drop(roxmltree::Document::parse(text).unwrap()),
        "markdown" => markdown(text),
        "edn" => edn(text),
        "github" => assert_eq!(lines(text), lines(plain), "{text}"),
        "mermaid" => {
            assert_eq!(lines(text), lines(plain), "{text}");
            assert!(!text.contains('<') && !text.contains("%%{"), "{text}");
        }
        "shiviz" => assert_eq!(lines(text), lines(plain), "{text}"),
        "text" => {}
        other => panic!("no claim is made of {other}"),
    }
}

fn page(plain: &str, text: &str) {
    let all = scraper::Selector::parse("*").unwrap();
    let elements = |text: &str| -> Vec<String> {
        let page = scraper::Html::parse_document(text);
        let mut names: Vec<String> =
            page.select(&all).map(|element| element.value().name().to_owned()).collect();
        names.sort();
        names.dedup();
        names
    };
    let plain = elements(plain);
    let strange: Vec<String> =
        elements(text).into_iter().filter(|name| !plain.contains(name)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    let page = scraper::Html::parse_document(text);
    let scripts = scraper::Selector::parse("script").unwrap();
    assert_eq!(page.select(&scripts).count(), 2, "its JSON and its own");
    for element in page.select(&all) {
        let handler = element.value().attrs().find(|(name, _)| name.starts_with("on"));
        assert_eq!(handler, None);
    }
    let policy = scraper::Selector::parse("meta[http-equiv=Content-Security-Policy]").unwrap();
    let policy = page.select(&policy).next().unwrap().attr("content").unwrap();
    assert!(policy.contains("default-src 'none'; script-src 'sha256-"), "{policy}");
}

fn picture(text: &str) {
    let document = roxmltree::Document::parse(text).unwrap();
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(!["script", "img"].contains(&node.tag_name().name()));
        assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")));
    }
}

fn markdown(text: &str) {
    let mut is_fenced = false;
    for line in text.lines() {
        is_fenced ^= line.starts_with("```");
        let unescaped = line.replace("\\`", "");
        let outside: String = unescaped.split('`').step_by(2).collect();
        assert!(is_fenced || !outside.contains('<'), "{line}");
        let is_even = unescaped.matches('`').count().is_multiple_of(2);
        assert!(is_fenced || line.starts_with("```") || is_even, "{line}");
    }
}

fn edn(text: &str) {
    for line in text.lines().filter(|line| !line.starts_with(';')) {
        let parsed = line.parse::<edn_rs::Edn>();
        assert!(matches!(parsed, Ok(edn_rs::Edn::Map(_))), "{line}");
    }
}

#[test]
fn no_format_lets_a_name_out_of_its_place() {
    let ((plain, turned), (plain_sweep, turned_sweep)) = (report(), sweep());
    for format in FORMATS {
        let name = format.name();
        check(name, &written(format, &plain), &written(format, &turned));
        let Some(of_sweeps) = format.of_sweeps() else { continue };
        let text = written_sweep(of_sweeps, &turned_sweep);
        check(name, &written_sweep(of_sweeps, &plain_sweep), &text);
    }
}

#[test]
fn no_matrix_lets_a_name_out_of_its_place() {
    let conditions = crate::Conditions {
        always_has_replicas: false,
        restart_loses: true,
        until_validity: false,
        outlasts_lease: false,
        storage: crate::record::history::StorageRule::Fenced,
    };
    let of = |sweep: &Sweep| Matrix::of(sweep, conditions);
    let (plain, turned) = sweep();
    let (plain, turned) = (of(&plain), of(&turned));
    for view in matrix::VIEWS {
        check(view.name, &view.write(&plain).unwrap(), &view.write(&turned).unwrap());
    }
}

#[test]
fn no_comparison_lets_a_name_out_of_its_place() {
    let (plain, turned) = sweep();
    let of = |sweep: &Sweep| {
        let name = &sweep.cells[0].client;
        Comparison::of((name, sweep), (name, sweep), samples::tool()).unwrap()
    };
    let (plain, turned) = (of(&plain), of(&turned));
    for view in compare::VIEWS {
        check(view.name, &view.write(&plain).unwrap(), &view.write(&turned).unwrap());
    }
}

#[track_caller]
fn check_views<T: Clone + Serialize + DeserializeOwned>(views: &[View<T>], plain: &T) {
    let turned = hostile(plain);
    for view in views {
        check(view.name, &view.write(plain).unwrap(), &view.write(&turned).unwrap());
    }
}

#[test]
fn no_other_document_lets_a_name_out_of_its_place() {
    check_views(boundary::VIEWS, &boundary::tests::report());
    check_views(load::VIEWS, &load::tests::report());
    check_views(certificate::VIEWS, &certificate::sample());
    check_views(certificate::unfinished::VIEWS, &certificate::unfinished::sample());
}
