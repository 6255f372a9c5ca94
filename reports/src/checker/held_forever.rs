//! Nobody keeps the lock beyond the stated bound. Demanded only of runs whose header states one. Must never know what the holder does.

use super::Checker;
use crate::finding::{Finding, Kind};
use crate::timeline::{Section, Timeline};
use fencepost_faults::Micros;

pub(super) const CHECKER: Checker =
    Checker { name: "held-forever", about: "no live holder keeps the lock beyond the stated bound", check };

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let Some(bound) = timeline.history.header.held_bound_us else { return Vec::new() };
    let held = |section: &Section| section.ends(timeline.end).since(section.from.time);
    let too_long = timeline.sections.iter().filter(|section| held(section) > bound);
    too_long.map(|section| finding(section, held(section), bound)).collect()
}

fn finding(section: &Section, held: Micros, bound: Micros) -> Finding {
    Finding {
        kind: Kind::HeldForever,
        at: section.from.time + bound,
        duration: held - bound,
        processes: vec![section.process],
        what: format!("{} held the lock for {held}, longer than the bound of {bound}.", section.process),
        witness: std::iter::once(section.from).chain(section.to).map(|moment| moment.index).collect(),
        clash: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::Story;

    fn held_forever(story: Story) -> Vec<Finding> {
        check(&Timeline::new(&story.build()))
    }

    #[test]
    fn accepts_a_section_of_just_the_bound() {
        assert_eq!(held_forever(Story::new().held_bound(10).takes(1, 1, "a").releases(11, 1)), []);
    }

    #[test]
    fn accepts_any_section_when_no_bound_is_stated() {
        assert_eq!(held_forever(Story::new().takes(1, 1, "a").releases(9_999, 1)), []);
    }

    #[test]
    fn accepts_a_holder_who_died() {
        assert_eq!(held_forever(Story::new().held_bound(10).takes(1, 1, "a").crashes(5, 1).loses(99, 2)), []);
    }

    #[test]
    fn rejects_a_section_beyond_the_bound() {
        let found = held_forever(Story::new().held_bound(10).takes(1, 1, "a").releases(12, 1));
        assert_eq!((found[0].at.0, found[0].duration.0), (11_000, 1_000));
    }

    #[test]
    fn rejects_a_section_that_is_never_left() {
        assert_eq!(held_forever(Story::new().held_bound(10).takes(1, 1, "a").loses(99, 2)).len(), 1);
    }
}
