//! Digests of the finished runs: one for each complete slice, and one for each other finished unit.

use super::sum::Sum;
use crate::studies::explore::plan::level::Level;
use fencepost_reports::sha256;
use std::collections::BTreeMap;
use std::ops::Range;

const SLICES: [usize; 4] = [1, 32, 64, 64];

pub type Units = Vec<(Level, usize)>;

/// A part of the work that a check can repeat independently.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slice {
    pub level: Level,
    /// Indexes of the units among all units of the same level.
    pub units: Range<usize>,
    pub runs: u64,
    /// SHA-256 of the digests of the slice's units, in order.
    pub digest: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unit {
    pub runs: u64,
    /// SHA-256 of the digests of the unit's histories with their verdicts, in order.
    pub digest: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DuplicateUnit {
    pub level: Level,
    pub unit: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ledger {
    units: Units,
    sum: Sum,
    parts: Vec<(Level, Range<usize>, Part)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    Loose(BTreeMap<usize, Unit>),
    Whole(Slice),
}

impl Ledger {
    pub fn new(units: Units) -> Ledger {
        let part = |(level, range)| (level, range, Part::Loose(BTreeMap::new()));
        let parts = parts(&units).into_iter().map(part).collect();
        Ledger { units, sum: Sum::default(), parts }
    }

    pub fn units(&self) -> &Units {
        &self.units
    }

    pub fn sum(&self) -> &Sum {
        &self.sum
    }

    pub fn is_whole(&self) -> bool {
        !self.parts.is_empty() && self.slices().count() == self.parts.len()
    }

    pub fn slices(&self) -> impl Iterator<Item = &Slice> {
        self.parts.iter().filter_map(|(_, _, part)| match part {
            Part::Whole(slice) => Some(slice),
            Part::Loose(_) => None,
        })
    }

    pub fn single_units(&self) -> impl Iterator<Item = (Level, usize, &Unit)> {
        self.parts.iter().flat_map(|(level, _, part)| {
            let loose = match part {
                Part::Loose(loose) => Some(loose),
                Part::Whole(_) => None,
            };
            loose.into_iter().flatten().map(|(number, unit)| (*level, *number, unit))
        })
    }

    pub fn missing(&self) -> Option<(Level, Range<usize>)> {
        self.parts.iter().find_map(|(level, range, part)| match part {
            Part::Whole(_) => None,
            Part::Loose(loose) => {
                let from = range.clone().find(|unit| !loose.contains_key(unit))?;
                let to = loose.range(from..).next().map_or(range.end, |(unit, _)| *unit);
                Some((*level, from..to))
            }
        })
    }

    pub(crate) fn has(&self, level: Level, unit: usize) -> bool {
        self.part(level, unit).is_some_and(|place| match &self.parts[place].2 {
            Part::Whole(_) => true,
            Part::Loose(loose) => loose.contains_key(&unit),
        })
    }

    #[must_use]
    pub(crate) fn enter(&mut self, level: Level, number: usize, unit: Unit) -> bool {
        let Some(place) = self.part(level, number) else { return false };
        let (_, range, part) = &mut self.parts[place];
        let Part::Loose(loose) = part else { return false };
        let is_new = loose.insert(number, unit).is_none();
        if loose.len() == range.len() {
            *part = Part::Whole(slice(level, range.clone(), loose.values()));
        }
        is_new
    }

    #[must_use]
    pub(crate) fn enter_slice(&mut self, slice: Slice) -> bool {
        let Some(place) = self.part(slice.level, slice.units.start) else { return false };
        let (_, range, part) = &mut self.parts[place];
        let is_new = *range == slice.units && *part == Part::Loose(BTreeMap::new());
        if is_new {
            *part = Part::Whole(slice);
        }
        is_new
    }

    pub(crate) fn add(&mut self, sum: &Sum) {
        self.sum.absorb(sum);
    }

    pub(crate) fn absorb(&mut self, other: &Ledger) -> Result<(), DuplicateUnit> {
        for slice in other.slices() {
            let unit = slice.units.clone().find(|unit| self.has(slice.level, *unit));
            let unit = unit.unwrap_or(slice.units.start);
            if !self.enter_slice(slice.clone()) {
                return Err(DuplicateUnit { level: slice.level, unit });
            }
        }
        for (level, number, unit) in other.single_units() {
            if !self.enter(level, number, unit.clone()) {
                return Err(DuplicateUnit { level, unit: number });
            }
        }
        self.add(&other.sum);
        Ok(())
    }

    fn part(&self, level: Level, unit: usize) -> Option<usize> {
        let is_before =
            |(own, range, _): &(Level, Range<usize>, Part)| (*own, range.end) <= (level, unit);
        let place = self.parts.partition_point(is_before);
        let (own, range, _) = self.parts.get(place)?;
        (*own == level && range.contains(&unit)).then_some(place)
    }
}

pub(crate) fn parts(units: &Units) -> Vec<(Level, Range<usize>)> {
    let of = |(level, units): &(Level, usize)| {
        let (level, most) = (*level, SLICES[level.depth().min(SLICES.len() - 1)]);
        cut(0..*units, most).into_iter().map(move |units| (level, units))
    };
    units.iter().flat_map(of).collect()
}

fn cut(units: Range<usize>, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.min(units.len());
    let edge = |part: usize| units.start + units.len() * part / parts.max(1);
    (0..parts).map(|part| edge(part)..edge(part + 1)).collect()
}

pub(crate) fn slice<'u>(
    level: Level,
    range: Range<usize>,
    units: impl Iterator<Item = &'u Unit>,
) -> Slice {
    let (mut runs, mut digests) = (0, String::new());
    for unit in units {
        runs += unit.runs;
        digests.push_str(&unit.digest);
    }
    Slice { level, units: range, runs, digest: sha256(digests.as_bytes()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Level = Level { faults: 0, delays: 0 };
    const ONE: Level = Level { faults: 1, delays: 0 };
    const TWO: Level = Level { faults: 2, delays: 0 };

    fn units() -> Units {
        vec![(NONE, 2), (ONE, 70), (TWO, 0)]
    }

    fn unit(number: usize) -> Unit {
        Unit { runs: number as u64, digest: format!("{number:064}") }
    }

    fn of(some: impl Iterator<Item = (Level, usize)>) -> Ledger {
        let mut ledger = Ledger::new(units());
        for (level, number) in some {
            assert!(ledger.enter(level, number, unit(number)));
            ledger.add(&Sum { valid: 1, ..Sum::default() });
        }
        ledger
    }

    fn all() -> impl Iterator<Item = (Level, usize)> {
        (0..2).map(|unit| (NONE, unit)).chain((0..70).map(|unit| (ONE, unit)))
    }

    #[test]
    fn the_order_of_entries_and_the_cut_into_ledgers_do_not_matter() {
        let whole = of(all());
        assert!(
            whole.is_whole() && whole.single_units().next().is_none() && whole.missing().is_none()
        );
        assert_eq!(whole.slices().count(), 33);
        let mut backwards: Vec<_> = all().collect();
        backwards.reverse();
        assert_eq!(of(backwards.into_iter()), whole);
        for edge in 0..72 {
            let (mut one, other) = (of(all().take(edge)), of(all().skip(edge)));
            assert_eq!(one.absorb(&other), Ok(()));
            assert_eq!(one, whole, "cut at {edge}");
        }
        let (mut even, odd) = (of(all().step_by(2)), of(all().skip(1).step_by(2)));
        assert_eq!(even.slices().count(), 0, "no slice is whole");
        even.absorb(&odd).unwrap();
        assert_eq!(even, whole);
    }

    #[test]
    fn what_is_missing_or_there_twice_is_named() {
        let some = |from, to| all().filter(move |(_, unit)| !(from..to).contains(unit));
        assert_eq!(of(some(40, 41)).missing(), Some((ONE, 40..41)));
        assert_eq!(of(some(2, 70)).missing(), Some((ONE, 2..4)), "of the first slice");
        assert!(!of(some(40, 41)).is_whole() && !Ledger::new(Units::new()).is_whole());
        let mut ledger = of(some(41, 70));
        assert_eq!(ledger.absorb(&of(some(0, 40))), Err(DuplicateUnit { level: ONE, unit: 40 }));
        let mut ledger = of(some(50, 51));
        assert!(ledger.absorb(&of(all())).is_err());
    }

    #[test]
    fn no_unit_is_entered_twice_and_none_that_there_is_not() {
        let mut ledger = of(all().take(10));
        assert!(!ledger.enter(NONE, 0, unit(0)), "it is in a slice that is whole");
        assert!(!ledger.enter(ONE, 7, unit(7)), "it was entered");
        assert!(!ledger.enter(ONE, 70, unit(70)) && !ledger.enter(TWO, 0, unit(0)));
        let slice = |units| Slice { level: ONE, units, runs: 1, digest: String::new() };
        assert!(!ledger.enter_slice(slice(40..41)), "the work is not cut like that");
        let range = parts(&units()).pop().unwrap().1;
        assert!(ledger.enter_slice(slice(range.clone())) && !ledger.enter_slice(slice(range)));
    }
}
