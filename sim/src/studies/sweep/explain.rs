use super::repeat::{Inspection, repeat_runs};
use super::{FailedRun, SweepSpec};
use crate::diagnosis::{Rates, diagnose_with};
use crate::studies::seed::Ran;
use fencepost_faults::Seed;
use fencepost_reports::{Cell, RunReport, Stages, Sweep};

pub(super) fn explain(
    spec: &SweepSpec,
    sum: &mut Sweep,
    inspection: &Inspection<'_>,
) -> Result<(), FailedRun> {
    let smallest = |cell: &Cell, id: &str, seed: Seed| {
        cell.fingerprints.iter().any(|known| known.id == id && known.smallest.seed == seed)
    };
    let rates = Rates::default();
    let results = repeat_runs(spec, sum, inspection, |place, seed, scenario| {
        let ran = Ran::of(spec.draw(place, seed, scenario), spec.engine)?;
        let mut facts = ran.facts();
        facts.violations.retain(|one| smallest(&sum.cells[place], &one.id, seed));
        let diagnosis = diagnose_with(&rates, &ran.spec, &facts.violations);
        if inspection.stop.is_urgent() {
            return Ok(Vec::new());
        }
        Ok(RunReport::from(Stages { diagnosis, ..facts.into() }).violations)
    });
    for (place, _, violations) in results {
        violations?.into_iter().for_each(|violation| sum.cells[place].explain(violation));
    }
    Ok(())
}
