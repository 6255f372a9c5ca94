use super::Expect;
use fencepost_faults::Seed;
use fencepost_reports::{Cause, Cell, Kind};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Unexpected {
    /// `seed` is the lowest seed that breaks a forbidden rule.
    Violated {
        seed: Seed,
        kind: Kind,
        runs: u64,
    },
    Missing(Kind, u64),
    OtherCause(Kind, Cause, u64),
    Unexercised,
}

pub(super) fn unexpected(cell: &Cell, expect: &Expect) -> Option<Unexpected> {
    let forbidden: Vec<Kind> = match expect {
        Expect::Safe => Kind::ALL.to_vec(),
        Expect::Never(kinds) => kinds.clone(),
        Expect::Violates(kinds) => {
            let missing = kinds.iter().find(|kind| !cell.violations_by_kind.contains_key(kind));
            return missing.map(|kind| Unexpected::Missing(*kind, cell.runs));
        }
        Expect::ViolatesBy(pairs) => {
            let shown = |(kind, cause): &&(Kind, Cause)| {
                cell.fingerprints.iter().any(|one| (one.kind, one.cause) == (*kind, *cause))
            };
            let missing = pairs.iter().find(|pair| !shown(pair));
            return missing.map(|(kind, cause)| Unexpected::OtherCause(*kind, *cause, cell.runs));
        }
    };
    let first =
        forbidden.iter().filter_map(|kind| Some((*cell.first_seed.get(kind)?, *kind))).min();
    if let Some((seed, kind)) = first {
        let runs = forbidden.iter().filter_map(|kind| cell.violations_by_kind.get(kind)).max();
        return Some(Unexpected::Violated { seed, kind, runs: runs.copied().unwrap_or(1) });
    }
    (cell.valid + cell.violated == 0).then_some(Unexpected::Unexercised)
}

pub(super) fn unmet(cell: &Cell) -> Option<String> {
    let phases = cell.phases_without_faults();
    (!phases.is_empty()).then(|| {
        format!(
            "{} x {}: none of {} runs was violated, but no fault began in these phases: {}. More \
             seeds may meet them.",
            cell.client,
            cell.fault,
            cell.runs,
            phases.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_cell_names_the_phases_that_no_fault_met() {
        let mut quiet = cell(&[]);
        assert_eq!(unmet(&quiet), None, "no fault at all");
        let mut count = |phase: &str| {
            quiet.phases.entry("pause".to_owned()).or_default().insert(phase.to_owned(), 3);
            unmet(&quiet)
        };
        let told = count("holding").unwrap_or_default();
        assert!(told.contains("phases: acquiring, guarded-write, releasing, idle."), "{told}");
        for phase in ["acquiring", "guarded-write", "releasing"] {
            assert!(count(phase).is_some(), "{phase}");
        }
        assert_eq!(count("idle"), None);
    }

    fn cell(kinds: &[(Kind, u64)]) -> Cell {
        let mut cell = Cell::new("mine", "pause");
        (cell.runs, cell.valid) = (10, 5);
        for (kind, seed) in kinds {
            cell.violated = 5;
            cell.violations_by_kind.insert(*kind, 5);
            cell.first_seed.insert(*kind, Seed(*seed));
        }
        cell
    }

    #[test]
    fn accepts_what_is_expected() {
        assert_eq!(unexpected(&cell(&[]), &Expect::Safe), None);
        assert_eq!(
            unexpected(&cell(&[(Kind::Overlap, 3)]), &Expect::Never(vec![Kind::Stuck])),
            None
        );
        assert_eq!(
            unexpected(&cell(&[(Kind::Overlap, 3)]), &Expect::Violates(vec![Kind::Overlap])),
            None
        );
    }

    #[test]
    fn rejects_a_violation_with_its_lowest_seed() {
        let found = unexpected(&cell(&[(Kind::Overlap, 7), (Kind::LostUpdate, 3)]), &Expect::Safe);
        assert_eq!(
            found,
            Some(Unexpected::Violated { seed: Seed(3), kind: Kind::LostUpdate, runs: 5 })
        );
        let found = unexpected(
            &cell(&[(Kind::Overlap, 7), (Kind::LostUpdate, 3)]),
            &Expect::Never(vec![Kind::Overlap]),
        );
        assert_eq!(
            found,
            Some(Unexpected::Violated { seed: Seed(7), kind: Kind::Overlap, runs: 5 })
        );
    }

    #[test]
    fn rejects_what_shows_nothing() {
        let missing = unexpected(&cell(&[]), &Expect::Violates(vec![Kind::Overlap]));
        assert_eq!(missing, Some(Unexpected::Missing(Kind::Overlap, 10)));
        assert_eq!(
            unexpected(&Cell::new("mine", "pause"), &Expect::Safe),
            Some(Unexpected::Unexercised)
        );
    }
}
