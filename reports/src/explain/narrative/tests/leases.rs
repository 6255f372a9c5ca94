use super::*;

#[test]
fn a_holder_that_notices_its_loss_has_not_left_by_a_release() {
    let story = Story::new().takes(1, 1, "a").expires(11, "a").takes(12, 2, "b");
    let lost = told(story.clone().loses(14, 1).releases(15, 1).releases(16, 2));
    let notices = "client-1 notices that it lost the lock, 3ms after its lease had expired.";
    assert!(lost.iter().any(|text| text == notices), "{lost:?}");
    let left = told(story.releases(14, 1).releases(16, 2));
    let leaves = "client-1 leaves its critical section, 3ms after its lease had expired.";
    assert!(left.iter().any(|text| text == leaves), "{left:?}");
}

fn leaving(story: Story) -> String {
    let judgement = judge(&story.build());
    let overlap = judgement.violations.iter().find(|one| one.kind == Kind::Overlap).unwrap();
    let mut lines = overlap.narrative.iter().map(|line| line.text.clone());
    lines.find(|text| text.starts_with("client-1 leaves its critical section")).unwrap()
}

#[test]
fn the_end_of_a_lease_is_not_counted_after_the_process_set_another() {
    let story = |again: bool| {
        let story = Story::new().takes(1, 1, "a").expires(11, "a").takes(12, 2, "b");
        let story = story.releases(13, 2).removed(13, "b", 2);
        let by = Some(Node::Client(1));
        let story = if again { story.server(14, 1, Change::Granted, "a", by) } else { story };
        leaving(story.releases(20, 1))
    };
    assert_eq!(
        story(false),
        "client-1 leaves its critical section, 9ms after its lease had expired."
    );
    assert_eq!(story(true), "client-1 leaves its critical section.");
}

#[test]
fn a_recorded_expiry_ends_a_lease_before_its_length_is_over() {
    let story = Story::new().takes(1, 1, "a").expires(8, "a").takes(8, 2, "b");
    let said = leaving(story.releases(20, 1).releases(21, 2));
    assert_eq!(said, "client-1 leaves its critical section, 12ms after its lease had expired.");
}

#[test]
fn a_lease_that_is_the_difference_of_two_clocks_is_not_told_if_one_was_wrong() {
    let first = |stepped: bool| {
        let story = Story::kept_as(Keeping::RowByClients).ttl(10_000);
        let server = Node::Redis(1);
        let story = match stepped {
            true => story.fault_began(0, 1, "clock-jump", &[server]),
            false => story,
        };
        let story = story.takes(1, 1, "a").expires(5, "a").takes(6, 2, "b");
        let story = story.with_recorded_leases_of(Micros(1_964_000));
        let judgement = judge(&story.releases(7, 1).releases(8, 2).build());
        let mut lines = judgement.violations[0].narrative.iter().map(|line| line.text.clone());
        lines.find(|text| text.contains("grants the lock to client-1")).unwrap()
    };
    assert_eq!(first(false), "redis-1 grants the lock to client-1 for 1.964s.");
    assert_eq!(first(true), "redis-1 grants the lock to client-1.");
}

#[test]
fn a_lock_that_was_removed_before_its_lease_was_over_did_not_expire() {
    let story = |change| {
        let by = (change == Change::Removed).then_some(Node::Client(2));
        let story = Story::new().takes(1, 1, "a").server(5, 1, change, "a", by);
        leaving(story.takes(6, 2, "b").releases(20, 1).releases(21, 2))
    };
    assert_eq!(story(Change::Removed), "client-1 leaves its critical section.");
    assert_eq!(
        story(Change::Expired),
        "client-1 leaves its critical section, 15ms after its lease had expired."
    );
}

#[test]
fn the_recorded_expiry_counts_if_the_clock_of_the_server_was_stepped_back() {
    let story = |expires: bool| {
        let story = Story::new().takes(1, 1, "a");
        let story = story.fault_began(3, 1, "clock-jump", &[Node::Redis(1)]);
        let story = if expires { story.expires(15, "a") } else { story };
        leaving(story.takes(16, 2, "b").releases(20, 1).releases(21, 2))
    };
    let counted = "client-1 leaves its critical section, 5ms after its lease had expired.";
    assert_eq!(story(true), counted);
    assert_eq!(story(false), "client-1 leaves its critical section.");
}

#[test]
fn a_lease_that_a_time_in_the_value_ends_has_no_length() {
    let first = |owner: &str| {
        let story = Story::new().ttl(10_000).takes(1, 1, owner);
        let told = told(story.removed(3, owner, 2).takes(4, 2, "b").releases(8, 1).releases(9, 2));
        told.into_iter().next().unwrap()
    };
    let ends = "redis-1 grants the lock to client-1, with a Unix time in the value and no expiry \
                at the server.";
    assert_eq!(first("1767225653"), ends);
    assert_eq!(first("1767225653:client-1"), ends);
    assert_eq!(first("a"), "redis-1 grants the lock to client-1 for 10s.");
}

#[test]
fn a_member_has_its_lock_until_its_lease_or_its_membership_ends() {
    let first = |lease: bool| {
        let story = Story::kept_as(Keeping::Membership).ttl(10_000).takes(1, 1, "a");
        let story = story.removed(3, "a", 2).takes(4, 2, "b").releases(8, 1).releases(9, 2);
        let story =
            if lease { story.with_recorded_leases_of(Micros::from_secs(120)) } else { story };
        told(story).into_iter().next().unwrap()
    };
    let both = "redis-1 grants the lock to client-1 for 120s, or until its membership ends.";
    assert_eq!(first(true), both);
    assert!(first(false).ends_with("for as long as its membership lasts."), "{}", first(false));
}

#[test]
fn a_lease_that_a_wrong_clock_made_look_short_has_the_length_that_the_lock_asked_for() {
    let said = |drifts: bool| {
        let story = Story::kept_as(Keeping::RowByClients).ttl(10_000).acquires(2, 1);
        let story = match drifts {
            true => story.fault_began(1, 2, "clock-drift", &[Node::Client(2)]),
            false => story,
        };
        let story = story.takes(700, 1, "a").with_recorded_leases_of(Micros(9_400_000));
        let story =
            story.faulted(2_000..15_000, 1, "pause", &[Node::Client(1)]).takes(10_900, 2, "b");
        let history = story.releases(15_100, 1).releases(15_200, 2).at_servers().build();
        let judgement = judge(&history);
        let found = judgement.violations.iter().find(|one| one.kind == Kind::Overlap);
        found.expect("an overlap").summary.clone()
    };
    assert!(said(false).contains("its 9.4s lease"), "{}", said(false));
    assert!(said(true).contains("its 10s lease"), "{}", said(true));
}
