use crate::show::format::{Format, Needs, Page, Sweeps};
use crate::show::view::View;
use crate::summary::report::{Report, RunReport};
use crate::summary::sweep::{Cell, Standing, Sweep};
use crate::summary::verdict::Verdict;
use quick_junit::{NonSuccessKind, Property, Report as Xml, TestCase, TestCaseStatus, TestSuite};
use std::io::{self, Write};

pub(crate) const FORMAT: Format = Format {
    about: "JUnit XML for CI: one test case per lock and fault, with the replay command in each \
            failure",
    needs: Needs::Findings,
    runs: View::written("junit", write_report),
    sweeps: Some(Sweeps { view: SWEEPS, has_baselines: false }),
};

const SWEEPS: View<Sweep> = View::written("junit", write_sweep);

fn write_report(_: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut suite = TestSuite::new(format!("seed {}", report.seed));
    suite.add_property(Property::new("engine", report.engine.as_str()));
    suite.add_test_cases(report.runs.iter().map(case_of_run));
    write(suite, &report.tool.name, out)
}

fn write_sweep(_: Page, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    let mut suite = TestSuite::new(format!("seeds {}", sweep.seeds));
    suite.add_property(Property::new("complete", sweep.complete.to_string()));
    suite.add_test_cases(sweep.cells.iter().map(|cell| case_of_cell(sweep, cell)));
    write(suite, &sweep.tool.name, out)
}

fn write(suite: TestSuite, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut xml = Xml::new(name);
    xml.add_test_suite(suite);
    let text = xml.to_string().map_err(io::Error::other)?;
    writeln!(out, "{}", text.trim_end())
}

fn case_of_cell(sweep: &Sweep, cell: &Cell) -> TestCase {
    let said = cell.in_words();
    let details: Vec<String> =
        cell.seed_to_show().iter().map(|seed| sweep.replay(cell, *seed)).collect();
    let mut case = case((&cell.client, &cell.fault), cell.standing(), &said, &details);
    let counts = [
        ("runs", cell.runs),
        ("valid", cell.valid),
        ("violated", cell.violated),
        ("unknown", cell.unknown),
    ];
    for (name, count) in counts {
        case.add_property(Property::new(name, count.to_string()));
    }
    case
}

fn case_of_run(run: &RunReport) -> TestCase {
    let deviations = run.expectation.as_ref().map(|held| match held.is_met() {
        true => String::new(),
        false => format!("expected {}, got {}", held.expected, held.deviations.join("; ")),
    });
    let standing = match (&run.verdict, &deviations) {
        (_, Some(deviations)) if !deviations.is_empty() => Standing::Failed,
        (_, Some(_)) | (Verdict::Valid, None) => Standing::Passed,
        (Verdict::Violated, None) => Standing::Failed,
        (Verdict::Unknown { .. }, None) => Standing::Unknown,
    };
    let found = run.violations.iter().map(|report| &report.violation);
    let kinds: Vec<String> = found.clone().map(|violation| violation.kind.to_string()).collect();
    let said = match (&run.verdict, deviations) {
        (_, Some(deviations)) if !deviations.is_empty() => deviations,
        (Verdict::Unknown { reason }, _) => reason.clone(),
        _ => kinds.join(", "),
    };
    let mut details: Vec<String> = found.map(|violation| violation.summary.clone()).collect();
    details.extend(run.replay_of_deviation().map(str::to_owned));
    case((&run.client, &run.fault), standing, &said, &details)
}

fn case(
    (client, fault): (&str, &str),
    standing: Standing,
    said: &str,
    details: &[String],
) -> TestCase {
    let mut status = match standing {
        Standing::Passed => TestCaseStatus::success(),
        Standing::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Standing::Unknown => TestCaseStatus::skipped(),
    };
    if standing != Standing::Passed {
        status.set_message(said);
    }
    if standing == Standing::Failed {
        status.set_type("violation");
        status.set_description(details.join("\n"));
    }
    let mut case = TestCase::new(fault, status);
    case.set_classname(client);
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::summary::sweep::Wanted;

    fn xml_of(sweep: &Sweep) -> String {
        let mut out = Vec::new();
        SWEEPS.write_in(Page::default(), sweep, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn cases(xml: &str) -> Vec<String> {
        let document =
            roxmltree::Document::parse(xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
        let of = |node: roxmltree::Node<'_, '_>| {
            let outcome = node
                .children()
                .find(|child| matches!(child.tag_name().name(), "failure" | "skipped"));
            let attribute = |name: &str| node.attribute(name).unwrap_or_default().to_owned();
            let outcome = outcome.map_or("passed".to_owned(), |outcome| {
                format!(
                    "{}: {}",
                    outcome.tag_name().name(),
                    outcome.attribute("message").unwrap_or_default()
                )
            });
            format!("{} {} {outcome}", attribute("classname"), attribute("name"))
        };
        document.descendants().filter(|node| node.has_tag_name("testcase")).map(of).collect()
    }

    #[test]
    fn every_cell_is_a_test_case() {
        let xml = xml_of(&samples::sweep(0, 9));
        assert_eq!(
            cases(&xml),
            [
                "single-node pause failure: 3 of 9 runs violated: overlap in 3, stale-write in 3, \
                 lost-update in 3",
                "redlock pause passed",
                "fencing pause skipped: all of 9 runs unknown: in seed 0, only client-1 acquired \
                 the lock; at least two processes must compete: use more processes (--processes), \
                 more cycles (--cycles) or a longer run (--max-time)",
            ]
        );
        let document = roxmltree::Document::parse(&xml).unwrap();
        let root = document.root_element();
        assert_eq!((root.attribute("tests"), root.attribute("failures")), (Some("3"), Some("1")));
        let failure = document.descendants().find(|node| node.has_tag_name("failure")).unwrap();
        assert_eq!(failure.text(), Some("fencepost --seed 2 --client single-node --fault pause"));
    }

    #[test]
    fn what_is_as_expected_passes_and_what_is_not_fails() {
        let mut sweep = samples::sweep(0, 9);
        sweep.cells[0].expectation = Some(Wanted::Violated.hold(&sweep.cells[0]));
        sweep.cells[1].expectation = Some(Wanted::Violated.hold(&sweep.cells[1]));
        assert_eq!(
            cases(&xml_of(&sweep))[..2],
            [
                "single-node pause passed",
                "redlock pause failure: expected violated, got no violation in 9 runs",
            ]
        );
    }

    #[test]
    fn a_deviation_of_a_run_says_what_was_expected() {
        let mut out = Vec::new();
        FORMAT.write_run(&samples::unexpected_report(), &mut out).unwrap();
        let cases = cases(&String::from_utf8(out).unwrap());
        let said = "single-node pause failure: expected safe, got overlap in 1 of 1 run, ";
        assert!(cases[0].starts_with(said), "{cases:?}");
        assert_eq!(
            cases[1],
            "single-node pause failure: expected an entry in the expectations file, got none"
        );
    }

    #[test]
    fn a_run_says_what_happened_and_how_to_see_it_again() {
        let mut out = Vec::new();
        FORMAT
            .write_run(
                &samples::report(vec![samples::paused_holder(), samples::lonely()]),
                &mut out,
            )
            .unwrap();
        let xml = String::from_utf8(out).unwrap();
        let cases = cases(&xml);
        assert!(cases[0].starts_with("single-node pause failure: "), "{cases:?}");
        assert!(cases[1].starts_with("fencing pause skipped: "), "{cases:?}");
        let document = roxmltree::Document::parse(&xml).unwrap();
        let failure = document.descendants().find(|node| node.has_tag_name("failure")).unwrap();
        assert!(failure.text().unwrap().ends_with("fencepost replay out/single-node-pause-7.json"));
    }
}
