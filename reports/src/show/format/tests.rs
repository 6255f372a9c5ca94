use super::{Detail, FORMATS, Format, Page, TEXT, format_named};
use crate::explain::narrative::Line;
use crate::samples;
use crate::summary::report::Report;
use crate::summary::sweep::Sweep;
use fencepost_faults::{Fault, Micros, Node, SimTime, TimedFault};

fn written(name: &str, report: &Report) -> String {
    let mut out = Vec::new();
    format_named(name).unwrap().write_run(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn written_sweep(name: &str, sweep: &Sweep) -> String {
    let mut out = Vec::new();
    format_named(name).and_then(Format::of_sweeps).unwrap().write(sweep, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub(super) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut parts = text.split('\x1b');
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        plain.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    plain
}

fn text(report: &Report) -> String {
    plain(&written("text", report))
}

#[test]
fn a_violated_run_by_a_paused_holder() {
    insta::assert_snapshot!(text(&samples::report(vec![samples::paused_holder()])));
}

#[test]
fn a_violated_run_by_failover() {
    insta::assert_snapshot!(text(&samples::report(vec![samples::failover()])));
}

#[test]
fn a_violated_run_by_two_threads_of_one_process() {
    insta::assert_snapshot!(text(&samples::report(vec![samples::threads()])));
}

#[test]
fn a_valid_run() {
    insta::assert_snapshot!(text(&samples::report(vec![samples::quiet()])));
}

#[test]
fn an_unknown_run() {
    insta::assert_snapshot!(text(&samples::report(vec![samples::lonely()])));
}

fn in_page(width: usize, detail: Detail, report: &Report) -> String {
    let mut out = Vec::new();
    let page = Page { width, detail };
    TEXT.write_run_in(page, report, &mut out).unwrap();
    plain(&String::from_utf8(out).unwrap())
}

#[test]
fn the_first_screen_shows_the_decisive_one_of_many_faults() {
    let mut report = samples::report(vec![samples::paused_holder()]);
    let run = &mut report.runs[0];
    let decisive = run.plan.clone();
    let later = (2..8).map(|id| {
        let at_us = SimTime(9_000_000 + u64::from(id) * 100_000);
        TimedFault { id, at_us, ..decisive.faults[0].clone() }
    });
    let later: Vec<TimedFault> = later.collect();
    run.plan.faults.extend(later.clone());
    assert!(!text(&report).contains("other faults"), "none of the others began");
    report.runs[0].faults_began.extend(later.iter().map(|timed| timed.id));
    let shown = "      2.020s  client-1 is paused for 11.98s";
    assert!(text(&report).contains(shown), "a step names it: {}", text(&report));
    let mut named = report.clone();
    let pause_of = |report: &mut Report, client| {
        for timed in &mut report.runs[0].plan.faults[1..] {
            timed.fault = Fault::Pause { node: Node::Client(client), duration_us: Micros(1) };
        }
    };
    for violation in &mut named.runs[0].violations {
        let event = violation.violation.narrative[0].event;
        let step = |timed: &TimedFault| Line { text: format!("(fault {})", timed.id), event };
        violation.violation.narrative.extend(later.iter().map(step));
    }
    assert!(!text(&named).contains(shown), "later steps stop the holder, too: {}", text(&named));
    pause_of(&mut named, 9);
    assert!(text(&named).contains(shown), "it stops the holder: {}", text(&named));
    pause_of(&mut named, 1);
    for violation in &mut named.runs[0].violations {
        violation.violation.summary = "An overlap (fault 1).".to_owned();
        violation.violation.processes.clear();
    }
    assert!(text(&named).contains(shown), "the summary names it: {}", text(&named));
    for violation in &mut report.runs[0].violations {
        violation.violation.narrative.clear();
    }
    assert!(!text(&report).contains(shown), "{}", text(&report));
    for violation in &mut report.runs[0].violations {
        violation.minimal_plan = Some(decisive.clone());
    }
    let screen = text(&report);
    assert!(screen.contains(shown) && screen.contains("6 other faults"), "{screen}");
}

#[test]
fn three_clients_begin_with_a_table() {
    let all =
        text(&samples::report(vec![samples::paused_holder(), samples::quiet(), samples::lonely()]));
    let table: Vec<&str> = all.lines().skip(2).take(4).collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn everything_about_a_violated_run() {
    let report = samples::report(vec![samples::paused_holder()]);
    insta::assert_snapshot!(in_page(100, Detail::Full, &report));
}

#[test]
fn no_line_is_wider_than_the_page_that_was_asked_for() {
    let stories = || [samples::paused_holder(), samples::failover(), samples::threads()];
    for width in [60, 80, 100] {
        for story in stories() {
            let text = in_page(width, Detail::Brief, &samples::report(vec![story]));
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width), "{widest:?} of {width}:\n{text}");
        }
    }
}

#[test]
fn what_broke_another_lock_in_the_same_way_is_told_once() {
    let mut report = samples::report(vec![samples::failover(), samples::failover()]);
    "another".clone_into(&mut report.runs[1].client);
    let like = |report: &Report| text(report).matches("same as    the ").count();
    assert_eq!(like(&report), 0, "nobody looked for the smallest faults");
    for run in &mut report.runs {
        run.violations.iter_mut().for_each(|one| one.minimal_plan = Some(run.plan.clone()));
    }
    assert!(like(&report) > 0);
    let told = text(&report);
    let (first, second) = told.split_once("another: ").unwrap();
    assert!(first.contains(" enters: BOTH") && !second.contains(" enters"));
    for one in &mut report.runs[1].violations {
        one.minimal_plan.as_mut().unwrap().faults.clear();
    }
    assert_eq!(like(&report), 0, "other faults are another story");
}

#[test]
fn a_sweep() {
    insta::assert_snapshot!(plain(&written_sweep("text", &samples::sweep(0, 1_000))));
}

#[test]
fn colour_only_repeats_what_the_words_say() {
    let report =
        samples::report(vec![samples::paused_holder(), samples::quiet(), samples::lonely()]);
    let coloured = written("text", &report);
    assert!(coloured.contains("\x1b["), "there is colour");
    let plain = plain(&coloured);
    for word in ["VIOLATED", "valid", "unknown", "overlap", "STALE WRITE"] {
        assert!(plain.contains(word), "{word}");
    }
}

#[test]
fn no_line_ends_in_blanks() {
    let stories =
        [samples::paused_holder(), samples::failover(), samples::quiet(), samples::lonely()];
    for report in stories.into_iter().chain([samples::threads()]) {
        let text = text(&samples::report(vec![report]));
        assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
    }
    let sweep = plain(&written_sweep("text", &samples::sweep(0, 10)));
    assert!(sweep.lines().all(|line| line == line.trim_end()), "{sweep}");
}

#[test]
fn json_is_the_value_itself() {
    let report = samples::report(vec![samples::paused_holder()]);
    assert_eq!(crate::documents::read::read_report(&written("json", &report)).unwrap(), report);
    let sweep = samples::sweep(0, 10);
    let sealed = sweep.sealed().unwrap();
    assert_eq!(crate::documents::read::read_sweep(&written_sweep("json", &sweep)).unwrap(), sealed);
}

#[test]
fn json_has_the_fields_of_the_contract_in_its_order() {
    let json: serde_json::Value =
        serde_json::from_str(&written("json", &samples::report(vec![samples::paused_holder()])))
            .unwrap();
    let keys = |value: &serde_json::Value| {
        value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(keys(&json), "format version tool seed faults engine config runs");
    let run = &json["runs"][0];
    assert_eq!(
        keys(run),
        "client fault verdict expected history_digest virtual_time_us operations acquisitions \
         messages faults_fired faults_began \
         plan latency_us storage violations timeline"
    );
    assert_eq!(
        keys(&run["violations"][0]),
        "id kind severity resource at_us duration_us occurrences at_events total_duration_us processes \
         cause summary witness \
         narrative minimal_plan boundary but_for remedies replay"
    );
    assert!(keys(&run["timeline"][0]).starts_with("sequence time_us process event"));
    assert_eq!(json["seed"], "7", "a u64 does not survive as a JSON number");
}

#[test]
fn names_of_formats_are_unique() {
    for format in FORMATS {
        assert_eq!(FORMATS.iter().filter(|other| other.name() == format.name()).count(), 1);
        assert!(!format.about().is_empty());
    }
    assert!(format_named("yaml").is_none());
}
