use fencepost_faults::draw::{any, chance, log_uniform, pick, subset, uniform};
use fencepost_faults::{Seed, Stream};
use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};
use rand_chacha::ChaCha8Rng;
use rand_core::TryRng;
use std::convert::Infallible;

fn rng(seed: u64) -> ChaCha8Rng {
    Seed(seed).stream(Stream::Swarm)
}

struct Word(u64);

impl TryRng for Word {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0 as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(0);
        Ok(())
    }
}

proptest! {
    #[test]
    fn uniform_stays_in_its_range(seed: u64, a: u64, b: u64) {
        let (low, high) = (a.min(b), a.max(b));
        prop_assert!((low..=high).contains(&uniform(&mut rng(seed), low..=high)));
    }

    #[test]
    fn log_uniform_stays_in_its_range(seed: u64, a in 1_u64.., b in 1_u64..) {
        let (low, high) = (a.min(b), a.max(b));
        prop_assert!((low..=high).contains(&log_uniform(&mut rng(seed), low..=high)));
    }

    #[test]
    fn log_uniform_grows_with_the_word_drawn(words: (u64, u64), a in 1_u64.., b in 1_u64..) {
        let range = a.min(b)..=a.max(b);
        let less = log_uniform(&mut Word(words.0.min(words.1)), range.clone());
        let more = log_uniform(&mut Word(words.0.max(words.1)), range);
        prop_assert!(less <= more);
    }

    #[test]
    fn subset_keeps_order_and_has_the_size_asked_for(
        seed: u64,
        count in 0_usize..12,
        items in 0_u32..10,
    ) {
        let items: Vec<u32> = (0..items).collect();
        let chosen = subset(&mut rng(seed), &items, count);
        prop_assert_eq!(chosen.len(), count.min(items.len()));
        prop_assert!(chosen.is_sorted_by(|a, b| a < b));
        prop_assert!(chosen.iter().all(|item| items.contains(item)));
    }

    #[test]
    fn pick_and_any_agree(seed: u64, items in prop::collection::vec(0_u8.., 1..9)) {
        let picked = *pick(&mut rng(seed), &items);
        prop_assert_eq!(any(&mut rng(seed), &items), Some(picked));
    }
}

#[test]
fn uniform_reaches_both_ends_and_everything_between() {
    let mut rng = rng(1);
    let drawn: std::collections::BTreeSet<u64> =
        (0..1_000).map(|_| uniform(&mut rng, 7..=16)).collect();
    assert_eq!(drawn, (7..=16).collect());
}

#[test]
fn uniform_reaches_the_ends_of_all_integers() {
    assert_eq!(uniform(&mut Word(0), 0..=u64::MAX), 0);
    assert_eq!(uniform(&mut Word(u64::MAX), 0..=u64::MAX), u64::MAX);
    assert_eq!(log_uniform(&mut Word(u64::MAX), 1..=1 << 63), 1 << 63);
    assert_eq!(log_uniform(&mut Word(0), 77..=1 << 63), 77);
}

#[test]
fn log_uniform_gives_each_octave_its_share() {
    let mut rng = rng(2);
    let mut octaves = [0_u32; 16];
    for _ in 0..160_000 {
        let drawn = log_uniform(&mut rng, 1_024..=(1_024 << 16) - 1);
        octaves[(drawn / 1_024).ilog2() as usize] += 1;
    }
    // The expected count of each octave is 10,000, with a standard deviation of about 97.
    assert!(octaves.iter().all(|count| (9_500..=10_500).contains(count)), "{octaves:?}");
}

#[test]
fn chance_is_never_at_zero_always_at_a_thousand_and_fair_between() {
    let mut rng = rng(3);
    assert!((0..1_000).all(|_| !chance(&mut rng, 0)));
    assert!((0..1_000).all(|_| chance(&mut rng, 1_000)));
    let hits = (0..10_000).filter(|_| chance(&mut rng, 250)).count();
    assert!((2_300..=2_700).contains(&hits), "{hits}");
}

#[test]
fn nothing_is_drawn_from_no_items() {
    let mut untouched = rng(4);
    let mut used = rng(4);
    assert_eq!(any::<u8>(&mut used, &[]), None);
    assert_eq!(uniform(&mut used, 0..=u64::MAX), uniform(&mut untouched, 0..=u64::MAX));
}
