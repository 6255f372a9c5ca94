use super::*;
use crate::record::history::StorageRule;

pub(crate) fn cell(client: &str, fault: &str, violated: u64) -> MatrixCell {
    let mut sum = Cell::new(client, fault);
    (sum.runs, sum.valid, sum.violated, sum.rate) =
        (100, 100 - violated, violated, Rate::of(violated, 100));
    if violated > 0 {
        sum.violations_by_kind.insert(Kind::Overlap, violated);
        sum.first_seed.insert(Kind::Overlap, Seed(17));
    } else {
        sum.quiet_bound = Some(0.03);
        let began = [("holding".to_owned(), 41), ("idle".to_owned(), 7)];
        sum.phases.insert("pause".to_owned(), began.into());
    }
    MatrixCell::of(
        &sum,
        Conditions {
            always_has_replicas: false,
            restart_loses: true,
            until_validity: false,
            outlasts_lease: false,
            storage: StorageRule::Fenced,
        },
    )
}

pub(crate) fn matrix(cells: Vec<MatrixCell>) -> Matrix {
    Matrix {
        format: FORMAT.to_owned(),
        version: VERSION,
        tool: Tool { name: "fencepost".to_owned(), version: "0".to_owned() },
        config: serde_json::json!({}),
        seeds: SeedRange { from: Seed(0), to: Seed(100) },
        kind: None,
        cells,
    }
}

#[test]
fn what_was_found_is_held_against_the_literature() {
    let of = |client: &str, fault: &str, violated| cell(client, fault, violated).agreement;
    assert_eq!(of("redlock", "none", 0), Agreement::Agrees);
    assert_eq!(of("redlock", "none", 1), Agreement::Contradicts);
    assert_eq!(of("redlock", "pause", 4), Agreement::Agrees);
    assert_eq!(of("redlock", "pause", 0), Agreement::NotSeen);
    assert_eq!(of("redlock", "failover", 3), Agreement::Silent);
    assert_eq!(cell("redlock", "pause", 4).verdict, CellVerdict::Violated);
}

#[test]
fn more_than_the_literature_names_is_told() {
    let pause = cell("fencing", "pause", 5).expected.unwrap();
    let kinds = BTreeMap::from([(Kind::Overlap, 5), (Kind::Stuck, 1)]);
    let unavailable = BTreeMap::from([(Kind::Unavailable, 1)]);
    let of_bound = agreement(CellVerdict::Violated, &unavailable, Some(&pause));
    assert_eq!(of_bound, Agreement::Silent, "a bound of one's own is no news");
    assert_eq!(agreement(CellVerdict::Violated, &kinds, Some(&pause)), Agreement::More);
    assert_eq!(
        agreement(CellVerdict::Unknown, &BTreeMap::new(), Some(&pause)),
        Agreement::NotExercised
    );
}

#[test]
fn of_several_kinds_of_faults_each_is_told_with_its_phases() {
    let mut quiet = cell("redlock", "pause", 0);
    let one = "faults began: before-acquire 0, acquiring 0, holding 41, guarded-write 0, \
               releasing 0, idle 7";
    assert_eq!(findings(&quiet), one);
    quiet.phases.insert("crash".to_owned(), [("acquiring".to_owned(), 2)].into());
    let both = "faults began: before-acquire 0, acquiring 2, holding 41, guarded-write 0, \
                releasing 0, idle 7 (crash acquiring 2; pause holding 41, idle 7)";
    assert_eq!(findings(&quiet), both);
}

#[test]
fn of_one_rule_only_the_runs_that_broke_it_count() {
    let mut sum = Cell::new("redlock", "pause");
    (sum.runs, sum.valid, sum.violated, sum.unknown) = (100, 50, 40, 10);
    sum.violations_by_kind = [(Kind::Overlap, 38), (Kind::Unavailable, 9)].into();
    sum.first_seed = [(Kind::Overlap, Seed(3)), (Kind::Unavailable, Seed(5))].into();
    let of_it = MatrixCell::of_kind(&sum, Kind::Unavailable);
    assert_eq!((of_it.violated, of_it.exercised, of_it.rate.point), (9, 90, 0.1));
    assert_eq!(of_it.first_seed, [(Kind::Unavailable, Seed(5))].into());
    let other = MatrixCell::of_kind(&sum, Kind::Stuck);
    assert_eq!((other.verdict, other.violated), (CellVerdict::Quiet, 0));
    assert_eq!(other.quiet_bound, Some(quiet_bound(90)));
    assert_eq!(MatrixCell::of_kind(&Cell::new("a", "none"), Kind::Stuck).verdict.name(), "unknown");
}

#[test]
fn the_page_of_one_rule_says_which_and_lists_where_it_was_broken() {
    let mut of_it = matrix(vec![cell("redlock", "pause", 40), cell("redlock", "none", 0)]);
    of_it.kind = Some(Kind::Overlap);
    let page = markdown::markdown(&of_it);
    assert!(page.starts_with("# Every lock under every fault: overlap\n"), "{page}");
    assert!(page.contains("| redlock | pause | 40 of 100 | 40 % (31 % to 50 %) | 17 |"), "{page}");
    assert!(!page.contains("literature") && !page.contains("| redlock | none |"), "{page}");
    assert!(text::text(&of_it).contains("runs that broke overlap among those exercised"));
    assert!(html::html(&of_it).contains("<code>overlap</code>"));
    of_it.kind = Some(Kind::Unavailable);
    of_it.config = serde_json::json!({ "scenario": { "availability": "5s" } });
    for said in [markdown::markdown(&of_it), text::text(&of_it), html::html(&of_it)] {
        assert!(said.contains("unavailable, bound 5s"), "{said}");
    }
}

#[test]
fn every_exporter_names_every_cell() {
    let matrix = matrix(vec![
        cell("redlock", "none", 0),
        cell("redlock", "pause", 40),
        cell("a<b|c", "failover", 2),
    ]);
    let (text, markdown, html) =
        (text::text(&matrix), markdown::markdown(&matrix), html::html(&matrix));
    for page in [&text, &markdown, &html] {
        assert!(
            page.contains("40 %") && page.contains("pause") && page.contains("failover"),
            "{page}"
        );
    }
    assert!(markdown.contains("a&lt;b\\|c") && html.contains("a&lt;b|c") && !html.contains("a<b"));
    let counts = "faults began: before-acquire 0, acquiring 0, holding 41, guarded-write 0, \
                  releasing 0, idle 7";
    assert!(markdown.contains(counts) && html.contains(counts), "{markdown}");
    let phases: Vec<bool> = matrix.cells.iter().map(|cell| cell.phases.is_empty()).collect();
    assert_eq!(phases, [false, true, true], "of quiet cells only");
    assert!(text.contains("1 cell agrees") || text.contains("agrees"), "{text}");
}
