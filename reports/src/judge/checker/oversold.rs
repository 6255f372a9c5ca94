//! Checks a flash sale: sales do not exceed the stock, and the stock is never negative. A write
//! sells the difference between the value that its process read and the value that it writes. Two
//! sales that both turn 10 into 9 sell two items.

use super::Checker;
use crate::judge::finding::{Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{StorageRequest, Timeline};
use crate::record::history::Workload;
use fencepost_faults::{Micros, SimTime};

pub(super) const CHECKER: Checker = Checker { name: "oversold", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "Two holders both saw the last item. This is a lost update in the seckill workload.",
    helps: "Let the storage check and decrement in one statement. The lock is then needed only to \
            save work.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    if timeline.history.header.workload != Workload::Seckill {
        return Vec::new();
    }
    let Some(stock) = timeline.storage.first().map(|request| i128::from(request.before)) else {
        return Vec::new();
    };
    let mut sold = 0_i128;
    let mut findings = Vec::new();
    for write in timeline.storage.iter().filter(|request| request.is_accepted_write()) {
        sold += i128::from(write.based_on.unwrap_or(write.before)) - i128::from(write.after);
        if sold > stock || write.after < 0 {
            findings.push(finding(timeline, write, sold, stock));
        }
    }
    findings
}

fn finding(timeline: &Timeline<'_>, write: &StorageRequest, sold: i128, stock: i128) -> Finding {
    let what = format!("With {}'s sale, {sold} of {stock} items were sold.", write.process);
    let lost = super::lost_update::CHECKER;
    let cause = (lost.check)(timeline).into_iter().rev().find(|lost| lost.at <= write.moment.time);
    let lost = cause.iter().flat_map(|lost| lost.witness.clone());
    let witness = super::sorted(lost.chain([write.moment.index]).collect());
    let at: SimTime = write.moment.time;
    let clash = cause.and_then(|lost| lost.clash);
    let processes = vec![write.process];
    Finding { kind: Kind::Oversold, at, duration: Micros::ZERO, processes, what, witness, clash }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn oversold(story: Story) -> Vec<Finding> {
        check(&Timeline::new(&story.build()))
    }

    #[test]
    fn accepts_a_sale_down_to_nothing() {
        let story =
            Story::of_workload("seckill").takes(1, 1, "a").writes(2, 1, 2, 1).releases(3, 1);
        assert_eq!(oversold(story.takes(4, 2, "b").writes(5, 2, 1, 0)), []);
    }

    #[test]
    fn accepts_values_below_zero_in_another_workload() {
        let story = Story::of_workload("register").takes(1, 1, "a").writes(2, 1, 0, -1);
        assert_eq!(oversold(story), []);
    }

    #[test]
    fn rejects_a_piece_that_was_sold_twice() {
        let story = Story::of_workload("seckill")
            .takes(1, 1, "a")
            .reads(2, 1, 1)
            .takes(3, 2, "b")
            .reads(4, 2, 1);
        let found = oversold(story.writes(5, 1, 1, 0).writes(6, 2, 1, 0));
        assert_eq!(found.len(), 1);
        assert!(found[0].clash.is_some(), "the lost update that sold it is named");
    }

    #[test]
    fn rejects_a_stock_below_zero() {
        assert_eq!(
            oversold(Story::of_workload("seckill").takes(1, 1, "a").writes(2, 1, 0, -1)).len(),
            1
        );
    }
}
