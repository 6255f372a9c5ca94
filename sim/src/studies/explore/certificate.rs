//! Certificates of explorations, and the check that repeats a certificate's runs.

pub(crate) mod claim;
pub mod partial;
mod stated;

pub use stated::bounds_of;

use crate::run::verdicts::tool;
use crate::studies::explore::plan::bounds::Bounds;
use crate::studies::explore::run::ledger::{Ledger, Slice, Units};
use crate::studies::explore::run::work::{Exploration, FailedPlan, Progress};
use crate::studies::sweep::Stop;
use claim::{claim, not_covered};
use fencepost_reports::documents::certificate::{
    Certificate, FORMAT, Slice as StatedSlice, version_of,
};
use fencepost_reports::sha256;
use stated::{are_all, read_slice, stated, stated_pruned, stated_runs, stated_slice};

/// Builds the certificate of an exploration, without its checksum.
pub fn certificate(bounds: &Bounds, conditions: &[String], ledger: &Ledger) -> Certificate {
    let digests: String = ledger.slices().map(|slice| slice.digest.as_str()).collect();
    Certificate {
        format: FORMAT.to_owned(),
        version: version_of(bounds.delays),
        tool: tool(),
        checksum: None,
        claim: claim(bounds, conditions.len()),
        not_covered: not_covered(bounds),
        bounds: stated(bounds, conditions),
        runs: stated_runs(bounds, ledger.sum()),
        left_out: stated_pruned(bounds, ledger.sum()),
        digest: sha256(digests.as_bytes()),
        slices: ledger.slices().map(stated_slice).collect(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// The first slice, and up to four slices spread over the others.
    Sample,
    Whole,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Checked {
    Same {
        slices: usize,
        of: usize,
        runs: u64,
    },
    Differs(StatedSlice),
    /// The slices, the conditions or the texts do not match the certificate's bounds.
    Foreign,
    Stopped,
}

const SAMPLE: usize = 4;

pub fn chosen(certificate: &Certificate, extent: Extent) -> Vec<&StatedSlice> {
    let slices = &certificate.slices;
    let (first, others) = (slices.iter().take(1), slices.iter().skip(1));
    let step = match extent {
        Extent::Sample => slices.len().saturating_sub(1).div_ceil(SAMPLE).max(1),
        Extent::Whole => 1,
    };
    first.chain(others.step_by(step)).collect()
}

pub fn parts_of(certificate: &Certificate, extent: Extent) -> Vec<Slice> {
    chosen(certificate, extent).into_iter().map(read_slice).collect()
}

fn units(certificate: &Certificate, work: &Exploration<'_>) -> Units {
    let mut units = work.units();
    let deep = units.iter_mut().filter(|(level, _)| level.depth() > 1 && !work.has_all_firsts);
    for (level, count) in deep {
        let own = certificate.slices.iter().map(read_slice).filter(|slice| slice.level == *level);
        *count = own.map(|slice| slice.units.end).max().unwrap_or(0);
    }
    units
}

/// Repeats runs of the certificate and compares their digests. The caller must first call
/// [`Exploration::place_for`] with the slices of [`parts_of`].
pub fn check(
    certificate: &Certificate,
    bounds: &Bounds,
    work: &Exploration<'_>,
    extent: Extent,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Checked, FailedPlan> {
    if stop.is_asked() {
        return Ok(Checked::Stopped);
    }
    let is_own = are_all(&certificate.slices, &units(certificate, work))
        && certificate.bounds.conditions == work.conditions()
        && certificate.claim == claim(bounds, work.conditions().len())
        && certificate.not_covered == not_covered(bounds);
    if !is_own {
        return Ok(Checked::Foreign);
    }
    let chosen = chosen(certificate, extent);
    let mut runs = 0;
    for stated in &chosen {
        let slice = read_slice(stated);
        let again = work.recheck(&slice, progress, stop)?;
        if stop.is_asked() {
            return Ok(Checked::Stopped);
        }
        if again.as_ref() != Some(&slice) {
            return Ok(Checked::Differs((*stated).clone()));
        }
        runs += slice.runs;
    }
    Ok(Checked::Same { slices: chosen.len(), of: certificate.slices.len(), runs })
}
