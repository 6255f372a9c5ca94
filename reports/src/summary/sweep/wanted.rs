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
    anomalies: Vec<(String, Kind)>,
    runs: u64,
    exercised: u64,
}

impl Wanted {
    pub fn hold(&self, cell: &Cell) -> Expectation {
        let kinds = cell.violations_by_kind.iter();
        let found = kinds
            .map(|(kind, runs)| (*kind, (*runs, cell.first_seed.get(kind).copied())))
            .collect();
        let anomalies = cell.fingerprints.iter().map(|one| (one.id.clone(), one.kind)).collect();
        self.compare_found(&Found {
            kinds: found,
            anomalies,
            runs: cell.runs,
            exercised: cell.valid + cell.violated,
        })
    }

    pub fn compare_run(&self, run: &RunFacts, seed: Seed) -> Expectation {
        let kinds =
            run.violations.iter().map(|violation| (violation.kind, (1, Some(seed)))).collect();
        let exercised = u64::from(!matches!(run.verdict, Verdict::Unknown { .. }));
        let anomalies = run.violations.iter().map(|one| (one.id.clone(), one.kind)).collect();
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
        for (kind, (count, seed)) in &found.kinds {
            let news = self.new_anomalies(*kind, found);
            if allowed.as_ref().is_some_and(|allowed| !allowed.contains(kind)) && !news.is_empty() {
                let first = seed.map_or(String::new(), |seed| format!(", first in seed {seed}"));
                let ids = match self {
                    Wanted::Kinds { accepts, .. } if !accepts.is_empty() => {
                        format!(" [{}]", news.join(", "))
                    }
                    _ => String::new(),
                };
                deviations.push(format!("{kind}{ids} in {count} of {}{first}", runs(found.runs)));
            }
        }
        Expectation { expected: self.to_string(), deviations }
    }

    fn new_anomalies<'f>(&self, kind: Kind, found: &'f Found) -> Vec<&'f str> {
        let of_kind = found.anomalies.iter().filter(|(_, one)| *one == kind);
        let ids = of_kind.map(|(id, _)| id.as_str());
        match self {
            Wanted::Kinds { accepts, .. } => ids.filter(|id| !accepts.contains(*id)).collect(),
            Wanted::Safe | Wanted::Violated => ids.collect(),
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
            Wanted::Kinds { must, may, accepts } => match (must.is_empty(), may.is_empty()) {
                (true, true) if !accepts.is_empty() => {
                    let ids: Vec<&str> = accepts.iter().map(String::as_str).collect();
                    write!(f, "no violation except {}", ids.join(", "))
                }
                (true, _) => write!(f, "at most {}", names(may)),
                (false, true) => f.write_str(&names(must)),
                (false, false) => write!(f, "{}, optionally {}", names(must), names(may)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

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
