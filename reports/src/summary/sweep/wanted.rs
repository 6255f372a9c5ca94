use super::Cell;
use crate::judge::finding::Kind;
use crate::summary::expectation::Expectation;
use crate::summary::facts::RunFacts;
use crate::summary::verdict::Verdict;
use fencepost_faults::Seed;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// No run breaks a rule, and at least one run exercises the lock.
    Safe,
    Violated,
    /// The runs break all rules of `must`. `may` and `accepts` allow other violations.
    Kinds {
        must: BTreeSet<Kind>,
        /// Rules that the runs may break.
        may: BTreeSet<Kind>,
        /// Fingerprints of anomalies that may occur, regardless of the rule that they break.
        accepts: BTreeSet<String>,
    },
}

struct Found {
    kinds: BTreeMap<Kind, (u64, Option<Seed>)>,
    anomalies: Vec<FoundAnomaly>,
    runs: u64,
    exercised: u64,
}

struct FoundAnomaly {
    id: String,
    kind: Kind,
    runs: u64,
    example: Seed,
}

impl Wanted {
    pub fn hold(&self, cell: &Cell) -> Expectation {
        let kinds = cell.violations_by_kind.iter();
        let found = kinds
            .map(|(kind, runs)| (*kind, (*runs, cell.first_seed.get(kind).copied())))
            .collect();
        let anomalies = cell.fingerprints.iter().map(|one| FoundAnomaly {
            id: one.id.clone(),
            kind: one.kind,
            runs: one.runs,
            example: one.smallest.seed,
        });
        self.compare_found(&Found {
            kinds: found,
            anomalies: anomalies.collect(),
            runs: cell.runs,
            exercised: cell.valid + cell.violated,
        })
    }

    pub fn compare_run(&self, run: &RunFacts, seed: Seed) -> Expectation {
        let kinds =
            run.violations.iter().map(|violation| (violation.kind, (1, Some(seed)))).collect();
        let exercised = u64::from(!matches!(run.verdict, Verdict::Unknown { .. }));
        let anomalies = run.violations.iter();
        let anomalies = anomalies
            .map(|one| FoundAnomaly { id: one.id.clone(), kind: one.kind, runs: 1, example: seed })
            .collect();
        self.compare_found(&Found { kinds, anomalies, runs: 1, exercised })
    }

    fn compare_found(&self, found: &Found) -> Expectation {
        let none = BTreeSet::new();
        let mut deviations = Vec::new();
        let runs = |count: u64| format!("{count} run{}", if count == 1 { "" } else { "s" });
        if found.exercised == 0 {
            deviations.push(format!("unknown in {}", runs(found.runs)));
        }
        let (must, allowed) = match self {
            Wanted::Safe => (&none, Some(BTreeSet::new())),
            Wanted::Violated => (&none, None),
            Wanted::Kinds { must, may, .. } => (must, Some(must | may)),
        };
        if *self == Wanted::Violated && found.kinds.is_empty() {
            deviations.push(format!("no violation in {}", runs(found.runs)));
        }
        for kind in must.iter().filter(|kind| !found.kinds.contains_key(kind)) {
            deviations.push(format!("no {kind} in {}", runs(found.runs)));
        }
        let mut unexpected = Vec::new();
        for (kind, (count, seed)) in &found.kinds {
            let new = self.new_anomalies(*kind, found);
            if allowed.as_ref().is_none_or(|allowed| allowed.contains(kind)) || new.is_empty() {
                continue;
            }
            unexpected.extend(new.iter().map(|one| one.id.clone()));
            if self.accepts().is_empty() {
                let first = seed.map_or(String::new(), |seed| format!(", first in seed {seed}"));
                deviations.push(format!("{kind} in {count} of {}{first}", runs(found.runs)));
            } else {
                deviations.extend(new.iter().map(
                    |FoundAnomaly { id, runs: count, example, .. }| {
                        let runs = runs(found.runs);
                        format!("{kind} [{id}] in {count} of {runs}, for example in seed {example}")
                    },
                ));
            }
        }
        Expectation { expected: self.to_string(), deviations, unexpected }
    }

    fn new_anomalies<'f>(&self, kind: Kind, found: &'f Found) -> Vec<&'f FoundAnomaly> {
        let of_kind = found.anomalies.iter().filter(|one| one.kind == kind);
        of_kind.filter(|one| !self.accepts().contains(&one.id)).collect()
    }

    fn accepts(&self) -> &BTreeSet<String> {
        static NONE: BTreeSet<String> = BTreeSet::new();
        match self {
            Wanted::Kinds { accepts, .. } => accepts,
            Wanted::Safe | Wanted::Violated => &NONE,
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |kinds: &BTreeSet<Kind>| {
            kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
        };
        match self {
            Wanted::Safe => f.write_str("safe"),
            Wanted::Violated => f.write_str("violated"),
            Wanted::Kinds { must, may, accepts } => {
                match (must.is_empty(), may.is_empty()) {
                    (true, true) => f.write_str("no violation")?,
                    (true, false) => write!(f, "at most {}", names(may))?,
                    (false, true) => f.write_str(&names(must))?,
                    (false, false) => write!(f, "{}, optionally {}", names(must), names(may))?,
                }
                let ids: Vec<&str> = accepts.iter().map(String::as_str).collect();
                match (ids.is_empty(), must.is_empty() && may.is_empty()) {
                    (true, _) => Ok(()),
                    (false, true) => write!(f, " except {}", ids.join(", ")),
                    (false, false) => write!(f, ", accepting {}", ids.join(", ")),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::summary::sweep::{Fingerprint, Smallest};

    fn deviations(wanted: &Wanted, place: usize) -> Vec<String> {
        wanted.hold(&samples::sweep(0, 9).cells[place]).deviations
    }

    fn kinds(must: &[Kind], may: &[Kind]) -> Wanted {
        let accepts = BTreeSet::new();
        let (must, may) = (must.iter().copied().collect(), may.iter().copied().collect());
        Wanted::Kinds { must, may, accepts }
    }

    fn accepting(ids: &[&str]) -> Wanted {
        let accepts = ids.iter().map(|id| (*id).to_owned()).collect();
        Wanted::Kinds { must: BTreeSet::new(), may: BTreeSet::new(), accepts }
    }

    #[test]
    fn accepts_known_anomalies_by_fingerprint_and_rejects_news() {
        let cell = &samples::sweep(0, 9).cells[0];
        let ids: Vec<&str> = cell.fingerprints.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(deviations(&accepting(&ids), 0), Vec::<String>::new());
        let (news, known) = (ids[0], &ids[1..]);
        let said = deviations(&accepting(known), 0);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains(news) && said[0].contains("in 3 of 9 runs"), "{said:?}");
        assert_eq!(deviations(&accepting(&["000000000000"]), 1), Vec::<String>::new());
    }

    /// Returns the sample's cell of ten runs with one more overlap, `news`, which a larger run of
    /// seed 5 shows.
    fn with_a_larger_anomaly(news: &str) -> Cell {
        let mut cell = samples::sweep(0, 10).cells.remove(0);
        let known = cell.fingerprints.iter().find(|one| one.kind == Kind::Overlap).unwrap();
        let mut other = Fingerprint { id: news.to_owned(), runs: 1, ..known.clone() };
        other.smallest = Smallest { faults: 9, seed: Seed(5), ..known.smallest };
        other.others.clear();
        cell.fingerprints.push(other);
        cell
    }

    #[test]
    fn the_seed_to_show_is_one_of_a_deviation() {
        let news = "ffffffffffff";
        let mut cell = with_a_larger_anomaly(news);
        assert_eq!(cell.seed_to_show(), Some(Seed(2)), "the smallest run");
        let ids = cell.fingerprints.iter().map(|one| one.id.as_str());
        let ids: Vec<&str> = ids.filter(|id| *id != news).collect();
        let held = accepting(&ids).hold(&cell);
        assert_eq!(
            held.deviations,
            ["overlap [ffffffffffff] in 1 of 10 runs, for example in seed 5"]
        );
        assert_eq!((held.unexpected.as_slice(), ids.len()), (&[news.to_owned()][..], 3));
        assert_eq!(held.expected, format!("no violation except {}", sorted(&ids).join(", ")));
        let rules = Wanted::Kinds {
            must: BTreeSet::new(),
            may: [Kind::Stuck].into(),
            accepts: [ids[0].to_owned()].into(),
        };
        assert_eq!(rules.to_string(), format!("at most stuck, accepting {}", ids[0]));
        cell.expectation = Some(held);
        assert_eq!(cell.seed_to_show(), Some(Seed(5)));
    }

    #[test]
    fn the_seed_of_an_expected_rule_is_not_shown() {
        let mut cell = with_a_larger_anomaly("ffffffffffff");
        let news = cell.fingerprints.last_mut().unwrap();
        news.kind = Kind::Stuck;
        cell.violations_by_kind.insert(Kind::Stuck, 1);
        cell.first_seed.insert(Kind::Stuck, Seed(5));
        cell.expectation = Some(kinds(ALL, &[]).hold(&cell));
        assert_eq!(
            cell.in_words(),
            "expected overlap, stale-write, lost-update, got stuck in 1 of 10 runs, first in seed 5"
        );
        assert_eq!(cell.seed_to_show(), Some(Seed(5)));
    }

    fn sorted<'s>(ids: &[&'s str]) -> Vec<&'s str> {
        ids.iter().copied().collect::<BTreeSet<&str>>().into_iter().collect()
    }

    const ALL: &[Kind] = &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate];

    #[test]
    fn accepts_what_was_expected() {
        assert_eq!(deviations(&Wanted::Violated, 0), Vec::<String>::new());
        assert_eq!(deviations(&kinds(ALL, &[]), 0), Vec::<String>::new());
        assert_eq!(deviations(&kinds(&ALL[..1], ALL), 0), Vec::<String>::new());
        assert_eq!(deviations(&Wanted::Safe, 1), Vec::<String>::new());
        assert_eq!(deviations(&kinds(&[], ALL), 1), Vec::<String>::new());
    }

    #[test]
    fn rejects_what_was_not_expected_by_name() {
        let found = deviations(&Wanted::Safe, 0);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0], "overlap in 3 of 9 runs, first in seed 2");
        assert_eq!(
            deviations(&kinds(&ALL[..2], &[]), 0),
            ["lost-update in 3 of 9 runs, first in seed 2"]
        );
        assert_eq!(deviations(&kinds(&[Kind::Stuck], ALL), 0), ["no stuck in 9 runs"]);
        assert_eq!(deviations(&Wanted::Violated, 1), ["no violation in 9 runs"]);
    }

    #[test]
    fn rejects_a_quiet_cell_that_exercised_nothing() {
        assert_eq!(deviations(&Wanted::Safe, 2), ["unknown in 9 runs"]);
    }

    #[test]
    fn a_single_run_is_held_to_the_same() {
        let quiet = samples::facts(samples::quiet());
        assert!(Wanted::Safe.compare_run(&quiet, Seed(7)).is_met());
        let violated = samples::facts(samples::paused_holder());
        let said = Wanted::Safe.compare_run(&violated, Seed(7)).deviations;
        assert_eq!(said[0], "overlap in 1 of 1 run, first in seed 7");
    }
}
