use super::exporter_tests::full_of;
use super::{Detail, FORMATS, Format, HTML, Page, TEXT, format_named};
use crate::record::story::random::stories;
use crate::summary::report::Report;
use crate::summary::verdict::Verdict;
use proptest::prelude::*;
use serde_json::Value;

fn written(format: &Format, report: &Report) -> String {
    let mut out = Vec::new();
    format.write_run(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn too_wide(report: &Report, page: Page) -> Vec<String> {
    let mut out = Vec::new();
    TEXT.write_run_in(page, report, &mut out).unwrap();
    let text = super::tests::plain(&String::from_utf8(out).unwrap());
    let wide = text.lines().filter(|line| line.chars().count() > page.width);
    wide.map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_format_writes_any_history(story in stories()) {
        let report = full_of(story);
        for format in FORMATS {
            let text = written(format, &report);
            let has_history = report.runs[0].history.iter().any(|one| !one.events.is_empty());
            let is_silent = format.name() == "github" && report.runs[0].verdict == Verdict::Valid;
            let says = has_history && !is_silent;
            prop_assert!(!text.is_empty() || !says, "{}", format.name());
            prop_assert!(text.is_empty() || !is_silent, "{text}");
            prop_assert!(!text.contains("NaN"), "{}", format.name());
            prop_assert_eq!(&written(format, &report), &text, "{} says it twice", format.name());
        }
    }

    #[test]
    fn no_text_is_wider_than_its_page(story in stories(), width in Page::WIDTHS) {
        let report = full_of(story);
        let wide = too_wide(&report, Page { width, detail: Detail::Brief });
        prop_assert!(wide.is_empty(), "{width}: {wide:#?}");
    }

    #[test]
    fn what_has_a_grammar_keeps_to_it(story in stories()) {
        let report = full_of(story);
        let of = |name: &str| written(format_named(name).unwrap(), &report);
        for name in ["json", "perfetto", "porcupine", "sarif"] {
            let read: Result<Value, _> = serde_json::from_str(&of(name));
            prop_assert!(read.is_ok(), "{name}: {read:?}");
        }
        for name in ["svg", "junit"] {
            let text = of(name);
            let read = roxmltree::Document::parse(&text);
            prop_assert!(read.is_ok(), "{name}: {read:?}");
        }
        for line in of("edn").lines().filter(|line| !line.starts_with(';')) {
            prop_assert!(line.parse::<edn_rs::Edn>().is_ok(), "{line}");
        }
    }

    #[test]
    fn json_is_read_back_as_it_was(story in stories()) {
        let report = full_of(story);
        let read: Report = serde_json::from_str(&written(&super::JSON, &report)).unwrap();
        prop_assert_eq!(read, report);
    }

    #[test]
    fn a_page_escapes_every_name(story in stories(), name in "[a-z]{6,12}") {
        let markup = format!("<{name} onload=x>&{name};");
        let report = full_of(story.client(&markup));
        let page = written(&HTML, &report);
        prop_assert!(!page.contains(&format!("<{name}")), "{name} is an element");
        let document = scraper::Html::parse_document(&page);
        prop_assert!(document.root_element().text().any(|text| text.contains(&markup)));
    }
}
