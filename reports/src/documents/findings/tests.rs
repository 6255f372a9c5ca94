use super::*;
use crate::samples;

fn sweep() -> Sweep {
    let sweep = samples::sweep(0, 10);
    assert!(sweep.cells.iter().any(|cell| !cell.fingerprints.is_empty()));
    sweep
}

fn states(findings: &Findings) -> BTreeSet<FindingState> {
    findings.all.values().map(|one| one.state).collect()
}

/// Records a retest of the findings `ids` with these options.
fn retest(
    findings: &mut Findings,
    (ids, is_shown, options): (&BTreeSet<String>, bool, &str),
    (seen, day): (&BTreeSet<String>, &str),
) {
    let shown = ids.iter().map(|id| (id.clone(), is_shown)).collect();
    findings.enter_retest(&Retest { options, shown: &shown }, seen, day);
}

#[test]
fn a_finding_is_new_once_and_known_ever_after() {
    let mut findings = Findings::default();
    let seen = findings.add(&sweep(), "2026-01-02");
    assert_eq!(states(&findings), [FindingState::New].into());
    assert_eq!(findings.next_seed(), Seed(10));
    findings.add(&sweep(), "2026-01-03");
    assert_eq!(states(&findings), [FindingState::Known].into());
    let one = findings.get(seen.first().unwrap()).unwrap();
    assert_eq!((one.first_seen.as_str(), one.last_seen.as_str()), ("2026-01-02", "2026-01-03"));
    assert!(one.shown_by.is_sorted() && one.shown_by.len() <= SHOWN_MAX);
    assert!(one.replay.starts_with("fencepost --seed "), "{}", one.replay);
}

#[test]
fn a_finding_that_no_seed_shows_is_fixed_and_new_when_it_returns() {
    let mut findings = Findings::default();
    let seen = findings.add(&sweep(), "2026-01-02");
    retest(&mut findings, (&seen, false, ""), (&seen, "2026-01-02"));
    assert_eq!(states(&findings), [FindingState::New].into(), "new seeds have shown it");
    retest(&mut findings, (&seen, false, ""), (&BTreeSet::new(), "2026-01-03"));
    assert_eq!(states(&findings), [FindingState::Fixed].into());
    retest(&mut findings, (&seen, true, ""), (&BTreeSet::new(), "2026-01-04"));
    assert_eq!(states(&findings), [FindingState::New].into());
    retest(&mut findings, (&seen, false, ""), (&BTreeSet::new(), "2026-01-05"));
    let mut moved = findings.clone();
    moved.add(&sweep(), "2026-01-05");
    assert_eq!(states(&moved), [FindingState::Known].into(), "other seeds show it the same day");
    findings.add(&sweep(), "2026-01-06");
    assert_eq!(states(&findings), [FindingState::New].into());
}

#[test]
fn an_accepted_finding_stays_accepted_and_fails_no_sweep() {
    let mut findings = Findings::default();
    let seen = findings.add(&sweep(), "2026-01-02");
    assert!(!findings.accept("000000000000", None));
    for id in &seen {
        assert!(findings.accept(id, Some("the storage checks tokens")));
    }
    retest(&mut findings, (&seen, false, ""), (&BTreeSet::new(), "2026-01-03"));
    findings.add(&sweep(), "2026-01-04");
    assert_eq!(states(&findings), [FindingState::Accepted].into());
    let mut marked = sweep();
    assert!(marked.cells.iter().any(Cell::has_open_finding));
    findings.mark(&mut marked);
    assert!(!marked.cells.iter().any(Cell::has_open_finding));
}

#[test]
fn an_accepted_finding_that_was_fixed_has_no_fixed_date() {
    let mut findings = Findings::default();
    let seen = findings.add(&sweep(), "2026-01-02");
    retest(&mut findings, (&seen, false, ""), (&BTreeSet::new(), "2026-01-03"));
    assert!(findings.all.values().all(|one| one.fixed_on.is_some()));
    for id in &seen {
        assert!(findings.accept(id, None));
    }
    assert!(findings.all.values().all(|one| one.fixed_on.is_none()));
}

fn with_ttl(from: u64, to: u64) -> Sweep {
    let mut other = samples::sweep(from, to);
    other.config["options"] = TTL.into();
    other
}

const TTL: &str = "--set ttl=9s";

#[test]
fn runs_of_other_settings_are_kept() {
    let mut findings = Findings::default();
    let seen = findings.add(&sweep(), "2026-01-02");
    findings.add(&with_ttl(0, 40), "2026-01-03");
    let one = findings.get(seen.first().unwrap()).unwrap();
    let (built_in, other) = (one.runs_with("").count(), one.runs_with(TTL).count());
    assert_eq!((built_in, other), (3, SHOWN_MAX), "{:?}", one.shown_by);
    assert_eq!(one.options, "", "{}", one.replay);
    assert!(!one.replay.contains("ttl") && one.shown_by.is_sorted(), "{}", one.replay);
}

#[test]
fn only_runs_with_the_same_settings_fix_a_finding() {
    let mut findings = Findings::default();
    let none = BTreeSet::new();
    let seen = findings.add(&sweep(), "2026-01-02");
    findings.add(&with_ttl(10, 20), "2026-01-02");
    retest(&mut findings, (&seen, false, TTL), (&none, "2026-01-03"));
    assert_eq!(states(&findings), [FindingState::Known].into());
    let text = findings.lines().unwrap();
    let mut findings = Findings::read(&text).unwrap();
    let mut back = findings.clone();
    retest(&mut findings, (&seen, false, ""), (&none, "2026-01-04"));
    assert_eq!(states(&findings), [FindingState::Fixed].into());
    back.add(&with_ttl(10, 20), "2026-01-04");
    retest(&mut back, (&seen, false, ""), (&none, "2026-01-04"));
    assert_eq!(states(&back), [FindingState::Known].into(), "the other settings show it again");
    retest(&mut findings, (&seen, true, ""), (&none, "2026-01-05"));
    retest(&mut findings, (&seen, false, ""), (&none, "2026-01-06"));
    assert_eq!(states(&findings), [FindingState::Fixed].into(), "the others were gone before");
}

#[test]
fn runs_do_not_repeat_the_options_of_their_finding() {
    let mut findings = Findings::default();
    findings.add(&with_ttl(0, 10), "2026-01-02");
    let text = findings.lines().unwrap();
    let of_a_run = format!(",\"options\":\"{TTL}\"}}");
    assert!(!text.contains(&of_a_run), "{text}");
    let repeated = text.replace("\"}]", &format!("\"{of_a_run}]"));
    assert_ne!(repeated, text);
    for text in [text, repeated] {
        assert_eq!(Findings::read(&text), Ok(findings.clone()));
    }
}

#[test]
fn a_stopped_sweep_advances_to_the_first_seed_that_it_did_not_run() {
    let whole = SeedRange { from: Seed(0), to: Seed(40) };
    let range = |from, to| SeedRange { from: Seed(from), to: Seed(to) };
    let stopped = |gaps: Vec<SeedRange>| {
        let sweep = Sweep { gaps, complete: false, whole: Some(whole), ..samples::sweep(0, 18) };
        let mut findings = Findings::default();
        findings.add(&sweep, "2026-01-02");
        findings.next_seed()
    };
    assert_eq!(stopped(vec![range(2, 16)]), Seed(2));
    assert_eq!(stopped(Vec::new()), Seed(18));
}

#[test]
fn a_run_counts_once_under_each_fault_and_setting() {
    let mut findings = Findings::default();
    let runs = |findings: &Findings| findings.all.values().map(|one| one.runs).collect::<Vec<_>>();
    findings.add(&sweep(), "2026-01-02");
    let once = runs(&findings);
    findings.add(&sweep(), "2026-01-03");
    let text = findings.lines().unwrap();
    let mut findings = Findings::read(&text).unwrap();
    findings.add(&sweep(), "2026-01-04");
    assert_eq!(runs(&findings), once);
    findings.add(&with_ttl(0, 10), "2026-01-05");
    findings.add(&sweep(), "2026-01-06");
    assert_eq!(runs(&findings), once.iter().map(|runs| 2 * runs).collect::<Vec<_>>());
}

#[test]
fn a_slice_does_not_advance_the_next_seed() {
    let mut findings = Findings::default();
    let slice = Sweep { shard: Shard { index: 1, count: 2 }, ..sweep() };
    findings.add(&slice, "2026-01-02");
    assert_eq!(findings.next_seed(), Seed(0));
    findings.add(&sweep(), "2026-01-02");
    assert_eq!(findings.next_seed(), Seed(10));
}

#[test]
fn earlier_fixes_are_left_out() {
    let mut findings = Findings::default();
    let seen = findings.add(&sweep(), "2026-01-02");
    retest(&mut findings, (&seen, false, ""), (&BTreeSet::new(), "2026-01-03"));
    assert_eq!(findings.clone().leave_out_fixed_before("2026-01-03"), 0);
    assert_eq!(findings.leave_out_fixed_before("2026-01-04"), seen.len());
    assert!(findings.all.is_empty());
}

#[test]
fn one_run_on_one_day_is_listed_in_the_singular() {
    let mut findings = Findings::default();
    let seen = findings.add(&sweep(), "2026-01-02");
    let mut one = findings.all.remove(seen.first().unwrap()).unwrap();
    one.runs = 1;
    findings.all = [(one.id.clone(), one)].into();
    assert!(VIEWS[0].write(&findings).unwrap().contains("; 1 run on 2026-01-02\n"));
    assert!(VIEWS[2].write(&findings).unwrap().contains("| 1 run on 2026-01-02 |"));
    findings.add(&sweep(), "2026-01-03");
    assert!(VIEWS[0].write(&findings).unwrap().contains(" from 2026-01-02 to 2026-01-03\n"));
}

#[test]
fn what_is_written_is_read() {
    let mut findings = Findings::default();
    findings.add(&sweep(), "2026-01-02");
    let text = findings.lines().unwrap();
    assert_eq!(Findings::read(&text), Ok(findings.clone()));
    let empty = Findings::default();
    assert_eq!(Findings::read(&empty.lines().unwrap()), Ok(empty));
    assert!(VIEWS[0].write(&findings).unwrap().starts_with("new       "));
    assert!(VIEWS[2].write(&findings).unwrap().contains("| **new** | `"));
}

#[test]
fn a_damaged_line_is_named() {
    let mut findings = Findings::default();
    findings.add(&sweep(), "2026-01-02");
    let text = findings.lines().unwrap();
    let refused = |text: &str, part: &str| {
        let said = Findings::read(text).unwrap_err().to_string();
        assert!(said.contains(part), "{said:?} does not say {part:?}");
    };
    refused("", "line 1: expected the header of a fencepost.findings file");
    refused("{\"format\":\"fencepost.sweep\"}\n", "line 1: expected the header");
    refused(&text.replacen("\"version\":1", "\"version\":2", 1), "line 1: version 2 is newer");
    refused(&text[..text.len() - 1], "cut short");
    refused(&text[..text.len() - 9], "cut short");
    refused(&text.replacen("\"state\":\"new\"", "\"state\":\"old\"", 1), "line 2: unknown variant");
    refused(&text.replacen("2026-01-02", "yesterday", 1), "line 2: day 'yesterday'");
    refused(&text.replacen("\"id\":\"", "\"id\":\"x", 1), "line 2: id 'x");
    refused(&text.replacen("\"runs\":", "\"walks\":", 1), "line 2: unknown field `walks`");
    let twice = format!("{text}{}\n", text.lines().nth(1).unwrap());
    refused(&twice, "is listed twice");
}

#[test]
fn a_sweep_without_a_minimal_plan_keeps_the_plan_of_an_earlier_sweep() {
    let plain = sweep();
    let mut planned = sweep();
    let found = &mut planned.cells[0].fingerprints[0];
    let mut report = samples::run(samples::paused_holder()).violations[0].clone();
    report.minimal_plan = Some(fencepost_faults::FaultPlan::default());
    found.report = Some(Box::new(report));
    let id = found.id.clone();
    let has_plan = |sweeps: [&Sweep; 2]| {
        let mut findings = Findings::default();
        sweeps.into_iter().for_each(|sweep| drop(findings.add(sweep, "2026-01-02")));
        findings.get(&id).unwrap().plan.is_some()
    };
    assert!(has_plan([&plain, &planned]) && has_plan([&planned, &plain]));
    assert!(!has_plan([&plain, &plain]));
    let mut other = plain.clone();
    other.config["options"] = "--set cycles=9".into();
    for cell in &mut other.cells {
        cell.fingerprints.iter_mut().for_each(|found| found.smallest.seed = Seed(900));
    }
    assert!(has_plan([&planned, &other]), "a sweep with other settings and no smaller run");
}

#[test]
fn a_long_command_is_listed_whole() {
    let mut findings = Findings::default();
    let mut sweep = sweep();
    sweep.config["options"] = "--set latency=300us..3ms ".repeat(20).trim().into();
    findings.add(&sweep, "2026-01-02");
    let command = findings.by_urgency()[0].replay.clone();
    assert!(command.len() > 400, "{command}");
    let markdown = VIEWS.iter().find(|view| view.name == "markdown").unwrap();
    let text = markdown.write(&findings).unwrap();
    assert!(text.contains(&command), "{text}");
}
