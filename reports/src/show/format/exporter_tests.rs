use super::{FORMATS, Format, HTML, Needs, format_named};
use crate::explain::order::{OrderedPair, Step};
use crate::record::story::Story;
use crate::record::trace::{Trace, WireMessage};
use crate::samples;
use crate::summary::report::{Boundary, ButFor, OnThisPlan, Report};
use fencepost_faults::{Node, SimTime};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn full(story: fn() -> Story) -> Report {
    full_of(story())
}

pub(super) fn full_of(story: Story) -> Report {
    let history = story.clone().build();
    let mut report = samples::with_history(story);
    let run = &mut report.runs[0];
    let message = |from, to, sent: u64, arrived: Option<u64>, label: &str| WireMessage {
        from,
        to,
        sent_us: SimTime(sent),
        arrived_us: arrived.map(SimTime),
        label: label.to_owned(),
    };
    let (client, redis) = (Node::Client(1), Node::Redis(1));
    run.trace = Some(Trace {
        messages: vec![
            message(client, redis, 1_991_000, Some(1_995_000), "SET lock a41f NX PX 10000"),
            message(redis, client, 1_995_000, Some(2_000_000), "OK"),
            message(client, redis, 2_005_000, None, "</script><b>&\"'"),
        ],
        left_out: 0,
    });
    if let Some(violation) = run.violations.first_mut() {
        violation.minimal_plan = Some(run.plan.clone());
        violation.but_for = vec![ButFor {
            fault: 1,
            and_fault: None,
            violation_without_it: false,
            other_cause: None,
        }];
        violation.remedies = vec![
            samples::remedy("fencing", "<at> the storage", OnThisPlan::Gone),
            samples::remedy("lease", "40s", OnThisPlan::NotComparable),
        ];
        violation.necessary_order = vec![OrderedPair {
            first: Step::of(&history, 0),
            then: Step::of(&history, 1),
            swap: run.plan.faults[0].clone(),
            violation_if_swapped: false,
        }];
        violation.boundary = Some(Boundary {
            fault: 1,
            quantity: "duration_us".to_owned(),
            enough: 10_001_000,
            not_enough: 10_000_000,
            not_enough_cause: None,
            analytic: Some(10_000_000),
        });
    }
    report
}

fn written(name: &str, report: &Report) -> String {
    let mut out = Vec::new();
    format_named(name).unwrap().write_run(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn written_sweep(name: &str) -> String {
    let mut out = Vec::new();
    let format = format_named(name).and_then(Format::of_sweeps).unwrap();
    format.write(&samples::sweep(0, 30), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

const STORIES: [fn() -> Story; 5] =
    [samples::paused_holder, samples::failover, samples::quiet, samples::lonely, samples::threads];

#[test]
fn svg_is_xml_in_which_every_reference_and_id_is_sound() {
    for story in STORIES {
        let text = written("svg", &full(story));
        let document = roxmltree::Document::parse(&text).unwrap();
        let ids: Vec<&str> =
            document.descendants().filter_map(|node| node.attribute("id")).collect();
        assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "ids are unique");
        for node in document.descendants() {
            if let Some(clip) = node.attribute("clip-path") {
                assert!(
                    ids.contains(&clip.trim_start_matches("url(#").trim_end_matches(')')),
                    "{clip}"
                );
            }
            for attribute in node.attributes() {
                assert!(!attribute.value().contains("NaN"), "{attribute:?}");
            }
        }
    }
    roxmltree::Document::parse(&written_sweep("svg")).unwrap();
}

#[test]
fn the_overlap_is_shaded_where_both_hold_and_nowhere_in_a_valid_run() {
    let shaded = |story| {
        let text = written("svg", &full(story));
        let document = roxmltree::Document::parse(&text).unwrap();
        let clashes =
            document.descendants().filter(|node| node.attribute("class") == Some("clash"));
        let spans = clashes.filter(|node| node.attribute("data-a").is_some());
        spans
            .map(|node| {
                (
                    node.attribute("data-a").unwrap().to_owned(),
                    node.attribute("data-b").unwrap().to_owned(),
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(shaded(samples::paused_holder), [("12105000".to_owned(), "14010000".to_owned())]);
    assert!(shaded(samples::quiet).is_empty());
}

#[test]
fn a_lost_message_is_drawn_as_lost_and_no_other() {
    let text = written("svg", &full(samples::paused_holder));
    let document = roxmltree::Document::parse(&text).unwrap();
    let lost = document.descendants().filter(|node| {
        node.has_tag_name(("http://www.w3.org/2000/svg", "line"))
            && node.attribute("data-a").is_some()
            && node.attribute("class").is_some_and(|class| class.contains("lost"))
    });
    assert_eq!(lost.count(), 1);
}

#[test]
fn a_page_asks_for_nothing_and_holds_its_report() {
    for story in STORIES {
        let report = full(story);
        let text = written("html", &report);
        assert!(text.len() < 1_000_000);
        let page = scraper::Html::parse_document(&text);
        assert!(page.errors.is_empty(), "{:?}", page.errors);
        let all = scraper::Selector::parse("*").unwrap();
        for element in page.select(&all) {
            assert!(element.value().attr("src").is_none());
            if element.value().name() == "link" {
                assert_eq!(element.value().attr("href"), Some("data:,"));
            }
            if let Some(target) =
                element.value().attr("href").and_then(|href| href.strip_prefix('#'))
            {
                assert!(text.contains(&format!("id=\"{target}\"")), "#{target} leads somewhere");
            }
        }
        let json = scraper::Selector::parse("#report").unwrap();
        let embedded: String = page.select(&json).next().unwrap().text().collect();
        let embedded: Report = serde_json::from_str(&embedded).unwrap();
        assert_eq!(embedded.runs[0].history_digest, report.runs[0].history_digest);
        assert_eq!(embedded.runs[0].history, report.runs[0].history);
    }
}

#[test]
fn a_page_shows_causes_boundary_and_remedies_only_if_they_were_searched() {
    let told = [
        "The smallest run without one or two of its faults",
        "Threshold in the smallest run: duration of fault",
        "<td>calculated bound</td><td>10s</td>",
        "<td>fencing &lt;at&gt; the storage</td><td>prevented</td>",
        "<td>lease 40s</td><td>not comparable</td><td>2 of 20 with it, 7 without it</td>",
        "<td>3 of 50 seeds (2-16 %, 1 unknown) with it, 22 of 50 seeds (31-58 %) \
         without it</td>",
        "Smallest reproduction of",
    ];
    let text = written("html", &full(samples::paused_holder));
    for words in told {
        assert!(text.contains(words), "{words}");
    }
    let text = written("html", &samples::report(vec![samples::paused_holder()]));
    for words in told {
        assert!(!text.contains(words), "{words}");
    }
    for words in
        ["<b>Literature:</b> ", "enters its critical section while client-1 is still in its own."]
    {
        assert!(text.contains(words), "{words}");
    }
}

#[test]
fn many_runs_still_fit_into_a_page() {
    let mut report = full(samples::paused_holder);
    let mut run = report.runs[0].clone();
    let trace = run.trace.as_mut().unwrap();
    let message = trace.messages[0].clone();
    trace.messages = vec![message; 5_000];
    report.runs = vec![run; 12];
    assert!(written("html", &report).len() < 1_000_000);
}

#[test]
fn the_page_of_a_sweep_shows_the_minimal_report_of_an_anomaly_that_was_explained() {
    let mut sweep = samples::sweep(0, 30);
    let page = |sweep: &crate::Sweep| {
        let mut out = Vec::new();
        HTML.of_sweeps().unwrap().write(sweep, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert!(!page(&sweep).contains("its minimal report</summary>"), "nothing was explained");
    let run = full(samples::paused_holder);
    let mut report = run.runs[0].violations[0].clone();
    report.minimal_plan = Some(run.runs[0].plan.clone());
    let known = sweep.cells[0]
        .fingerprints
        .iter_mut()
        .find(|known| known.kind == report.violation.kind)
        .unwrap();
    known.report = Some(Box::new(report.clone()));
    let text = page(&sweep);
    assert!(text.contains(&format!(
        "<summary>{} by {}: its minimal report</summary>",
        report.violation.kind, report.violation.cause
    )));
    assert!(text.contains("<b>Smallest reproduction:</b>"));
}

#[test]
fn the_page_of_a_sweep_links_each_cell_to_its_anomalies() {
    let text = written_sweep("html");
    let page = scraper::Html::parse_document(&text);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    let cells = scraper::Selector::parse("table.matrix a").unwrap();
    let targets: Vec<&str> =
        page.select(&cells).filter_map(|cell| cell.value().attr("href")).collect();
    assert_eq!(targets, ["#single-node.pause", "#redlock.pause", "#fencing.pause"]);
    for target in targets {
        assert!(text.contains(&format!("id=\"{}\"", &target[1..])));
    }
}

fn unsound(trace: &serde_json::Value) -> Vec<String> {
    let events = trace["traceEvents"].as_array().unwrap();
    let number = |event: &serde_json::Value, field: &str| event[field].as_u64().unwrap();
    let of = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);
    let track = |event: &serde_json::Value| (number(event, "pid"), number(event, "tid"));
    let mut found = Vec::new();
    let mut spans: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    for event in of("X") {
        let (from, length) = (number(event, "ts"), number(event, "dur"));
        spans.entry(track(event)).or_default().push((from, from + length));
    }
    for (track, spans) in &spans {
        for (index, a) in spans.iter().enumerate() {
            let crosses = |b: &&(u64, u64)| a.0 < b.0 && b.0 < a.1 && a.1 < b.1;
            let crossed = spans.iter().enumerate().filter(|(other, _)| *other != index);
            found.extend(
                crossed
                    .map(|(_, b)| b)
                    .find(crosses)
                    .map(|b| format!("{a:?} crosses {b:?} on track {track:?}")),
            );
        }
    }
    let mut ends: BTreeMap<u64, Vec<(String, u64)>> = BTreeMap::new();
    for event in of("s").chain(of("f")) {
        let at = number(event, "ts");
        let phase = event["ph"].as_str().unwrap().to_owned();
        ends.entry(number(event, "id")).or_default().push((phase, at));
        let inside = spans.get(&track(event)).into_iter().flatten();
        if !inside.clone().any(|(from, to)| (*from..*to).contains(&at)) {
            found.push(format!("an arrow ends in no span at {at}"));
        }
    }
    let is_whole = |ends: &Vec<(String, u64)>| matches!(&ends[..], [(s, from), (f, to)] if s == "s" && f == "f" && from <= to);
    found.extend(ends.values().filter(|ends| !is_whole(ends)).map(|ends| format!("{ends:?}")));
    let named: BTreeSet<(u64, u64)> =
        of("M").filter(|event| event["name"] == "thread_name").map(track).collect();
    let drawn = of("X").chain(of("i")).map(track).collect::<BTreeSet<_>>();
    found.extend(drawn.difference(&named).map(|track| format!("track {track:?} has no name")));
    found
}

fn trace_of(story: fn() -> Story) -> serde_json::Value {
    serde_json::from_str(&written("perfetto", &full(story))).unwrap()
}

#[test]
fn perfetto_nests_every_span_and_its_arrows_end_in_spans() {
    for story in STORIES {
        assert_eq!(unsound(&trace_of(story)), Vec::<String>::new());
    }
    let trace = trace_of(samples::paused_holder);
    let events = trace["traceEvents"].as_array().unwrap();
    let arrows: BTreeSet<u64> = events.iter().filter_map(|event| event["id"].as_u64()).collect();
    assert_eq!(arrows.len(), 2, "the lost message has no arrow");
    let both =
        events.iter().filter(|event| event["cat"] == "overlap").map(|event| event["dur"].as_u64());
    assert_eq!(both.collect::<Vec<_>>(), [Some(1_905_000)]);
}

#[test]
fn an_unsound_trace_is_noticed() {
    let spoilt = |spoil: fn(&mut serde_json::Value)| {
        let mut trace = trace_of(samples::paused_holder);
        trace["traceEvents"].as_array_mut().unwrap().iter_mut().for_each(spoil);
        unsound(&trace).len()
    };
    let moved = spoilt(|event| {
        if event["ph"] == "f" {
            event["ts"] = 1.into();
        }
    });
    assert!(moved > 0, "an arrow into nothing");
    let on_one_track = spoilt(|event| {
        if event["ph"] == "X" {
            event["tid"] = 1.into();
        }
    });
    assert!(on_one_track > 0, "everything on one track crosses");
    assert!(spoilt(|event| event["name"] = "other".into()) > 0, "no track has a name");
}

#[test]
fn edn_is_read_by_an_edn_reader_and_no_process_overlaps_itself() {
    for story in STORIES {
        let text = written("edn", &full(story));
        let mut open: BTreeSet<String> = BTreeSet::new();
        let mut dead: BTreeSet<String> = BTreeSet::new();
        let mut count = 0;
        for line in text.lines().filter(|line| !line.starts_with(';')) {
            let map: edn_rs::Edn = line.parse().unwrap();
            let field = |name: &str| map.get(name).unwrap().to_string();
            assert_eq!(field(":index"), count.to_string());
            count += 1;
            let process = field(":process");
            if process == ":nemesis" {
                continue;
            }
            assert!(!dead.contains(&process), "a process that does not know never comes back");
            match field(":type").as_str() {
                ":invoke" => assert!(open.insert(process), "one operation at a time"),
                ":info" => {
                    dead.insert(process);
                }
                ":ok" | ":fail" => assert!(open.remove(&process)),
                other => panic!("{other}"),
            }
        }
        assert!(count > 2);
    }
}

#[test]
fn porcupine_operations_return_after_their_call() {
    let json: serde_json::Value =
        serde_json::from_str(&written("porcupine", &full(samples::failover))).unwrap();
    let operations = json["runs"][0]["operations"].as_array().unwrap();
    assert!(operations.len() > 3);
    let field = |operation: &serde_json::Value, name: &str| operation[name].as_i64().unwrap();
    assert!(
        operations.iter().all(|operation| field(operation, "Call") <= field(operation, "Return"))
    );
    let unknown = operations.iter().filter(|operation| operation["Output"]["outcome"] == "unknown");
    assert!(unknown.into_iter().all(|operation| field(operation, "Return") == i64::MAX));
}

#[test]
fn shiviz_clocks_count_their_own_host_without_gaps() {
    for story in STORIES {
        count_without_gaps(&written("shiviz", &full(story)));
    }
}

fn count_without_gaps(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let mut ticks: BTreeMap<&str, u64> = BTreeMap::new();
    for pair in lines.chunks(2) {
        let (host, clock) = pair[1].split_once(' ').unwrap();
        let clock: BTreeMap<String, u64> = serde_json::from_str(clock).unwrap();
        let own = ticks.entry(host).or_default();
        *own += 1;
        assert_eq!(clock[host], *own);
    }
    assert!(ticks.len() > 1);
}

#[test]
fn a_process_dies_after_all_that_its_threads_did_and_they_go_on_after_its_start() {
    let text = written("shiviz", &full(samples::threads));
    let lines: Vec<&str> = text.lines().collect();
    let clock = |what: &str, host: &str| -> BTreeMap<String, u64> {
        let pair = lines
            .chunks(2)
            .rfind(|pair| pair[0].ends_with(what) && pair[1].starts_with(&format!("{host} ")));
        serde_json::from_str(pair.unwrap()[1].split_once(' ').unwrap().1).unwrap()
    };
    assert_eq!(clock("crashes", "client-1")["client-1.2"], 2);
    let (started, next) = (clock("restarts", "client-1"), clock("wants the lock", "client-1.2"));
    assert_eq!(next["client-1"], started["client-1"]);
}

#[test]
fn what_hits_a_process_is_drawn_on_the_lanes_of_all_its_threads() {
    let text = written("svg", &full(samples::threads));
    let document = roxmltree::Document::parse(&text).unwrap();
    let words = |node: &roxmltree::Node<'_, '_>| node.text().unwrap_or_default().to_owned();
    let names = document
        .descendants()
        .filter(|node| node.attribute("class").is_some_and(|one| one.contains("name")));
    let names: Vec<String> =
        names.map(|node| words(&node)).filter(|name| name.starts_with("client")).collect();
    assert_eq!(names, ["client-1", "client-1.2", "client-2"]);
    let still = document.descendants().filter(|node| node.attribute("class") == Some("still"));
    assert_eq!(
        still.filter(|node| node.attribute("data-a").is_some()).count(),
        4,
        "a pause and a crash of two threads"
    );
    let trace: serde_json::Value =
        serde_json::from_str(&written("perfetto", &full(samples::threads))).unwrap();
    let faults =
        trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["cat"] == "fault");
    assert_eq!(faults.count(), 4);
}

#[test]
fn a_mermaid_diagram_ends_no_section_that_it_did_not_begin() {
    for story in STORIES {
        let text = written("mermaid", &full(story));
        assert!(text.starts_with("sequenceDiagram\n"));
        let mut depth: BTreeMap<&str, i32> = BTreeMap::new();
        for line in text.lines().map(str::trim) {
            if let Some(node) = line.strip_prefix("activate ") {
                *depth.entry(node).or_default() += 1;
            } else if let Some(node) = line.strip_prefix("deactivate ") {
                *depth.entry(node).or_default() -= 1;
            }
            assert!(depth.values().all(|depth| *depth >= 0), "{line}");
            assert!(!line.contains(';'), "{line}");
        }
    }
}

#[test]
fn markdown_tables_have_as_many_cells_as_heads() {
    for text in [written("markdown", &full(samples::paused_holder)), written_sweep("markdown")] {
        let mut heads = None;
        for line in text.lines() {
            if !line.starts_with('|') {
                heads = None;
                continue;
            }
            let cells = line.replace("\\|", "").matches('|').count();
            assert_eq!(cells, *heads.get_or_insert(cells), "{line}");
        }
    }
}

#[test]
fn a_mermaid_diagram_of_a_paused_holder() {
    insta::assert_snapshot!(written("mermaid", &full(samples::paused_holder)));
}

#[test]
fn every_format_writes_a_report_without_history_and_a_sweep() {
    for format in FORMATS {
        let mut out = Vec::new();
        format.write_run(&samples::report(vec![samples::paused_holder()]), &mut out).unwrap();
        format.write_run(&samples::report(Vec::new()), &mut out).unwrap();
        let mut swept = Vec::new();
        let Some(of_sweeps) = format.of_sweeps() else { continue };
        of_sweeps.write(&samples::sweep(0, 20), &mut swept).unwrap();
        assert!(!swept.is_empty(), "{}", format.name());
    }
    assert!(FORMATS.iter().filter(|format| format.needs() == Needs::Wire).count() >= 3);
}
