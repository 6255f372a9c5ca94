//! Family `all`: swarm testing (Groce, Zhang, Eide, Chen and Regehr, ISSTA 2012). Each seed enables
//! a random subset of families with reduced ranges, so that one family hides another less often.

use super::{Drawing, FAMILIES, Family};
use crate::draw::{chance, uniform};
use crate::seed::{Seed, Stream};
use crate::setting::Setting;
use crate::time::Micros;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Swarmed {
    pub family: Family,
    /// Share of the ranges that the family uses, in thousandths, from 250 to 1000.
    pub hardness_per_mille: u64,
}

/// Enables about half of the accidents ([`Family::is_accident`]) except `all`, but at least one.
pub fn swarm(seed: Seed) -> Vec<Swarmed> {
    let mut rng = seed.stream(Stream::Swarm);
    let fallback = uniform(&mut rng, 0..=u64::from(u16::MAX)) as usize;
    let candidates = FAMILIES
        .iter()
        .copied()
        .filter(|family| family.is_accident() && matches!(family.drawing(), Drawing::Own(_)));
    let drawn: Vec<(bool, Swarmed)> = candidates
        .map(|family| {
            let on = chance(&mut rng, 500);
            (on, Swarmed { family, hardness_per_mille: uniform(&mut rng, 250..=1_000) })
        })
        .collect();
    let on: Vec<Swarmed> =
        drawn.iter().filter(|(on, _)| *on).map(|(_, swarmed)| *swarmed).collect();
    if on.is_empty() { vec![drawn[fallback % drawn.len()].1] } else { on }
}

impl Swarmed {
    /// Lowers the ranges' upper bounds, except the restart delay's, which an operator guarantees.
    pub(crate) fn soften(&self, setting: &Setting) -> Setting {
        let part = |min: u64, max: u64| {
            min + (max - min.min(max)).saturating_mul(self.hardness_per_mille) / 1_000
        };
        let mut setting = setting.clone();
        let knobs = &mut setting.knobs;
        knobs.counts.max = part(u64::from(knobs.counts.min), u64::from(knobs.counts.max)) as u16;
        knobs.drift_ppm = part(0, u64::from(knobs.drift_ppm)) as u32;
        let ranges = [
            &mut knobs.pause, &mut knobs.replication_lag, &mut knobs.clock_jump,
            &mut knobs.latency, &mut knobs.partition, &mut knobs.lost_reply,
            &mut knobs.storage_delay, &mut knobs.service, &mut knobs.client_down, &mut knobs.spell,
        ];
        for range in ranges {
            range.max_us = Micros(part(range.min_us.as_micros(), range.max_us.as_micros()));
        }
        setting
    }
}
