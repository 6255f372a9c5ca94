use crate::answer::fencepost;

fn attempts(screen: &str) -> Vec<&str> {
    let is_attempt = |line: &&str| {
        line.contains(" wants the lock")
            || line.ends_with(" does not get the lock: held by another")
    };
    screen.lines().filter(is_attempt).collect()
}

#[test]
fn a_lock_that_is_asked_for_in_vain_is_told_by_the_first_attempts_and_the_last() {
    let run = ["--seed", "1", "--fault", "client-crash", "--client", "setnx", "--no-shrink"];
    let screen = fencepost(&run).stdout;
    let all = fencepost(&[&run[..], &["--verbose"]].concat()).stdout;
    let (shown, all) = (attempts(&screen), attempts(&all));
    assert!(all.len() > 40, "this lock was asked for often: {}", all.len());
    assert!((3..=12).contains(&shown.len()), "{screen}");
    assert!(screen.contains("probe wants the lock: STUCK"), "{screen}");
    let seconds = |word: &str| word.strip_suffix('s')?.parse::<f64>().ok();
    let time = |line: &&str| line.split_whitespace().find_map(seconds);
    assert_eq!(shown.last().and_then(time), all.last().and_then(time), "how it ends: {screen}");
}
