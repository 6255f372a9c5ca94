use super::*;

#[test]
fn the_fault_that_delays_a_late_write_is_a_step_however_many_faults_hit_the_holder_later() {
    let [holder, server] = [Node::Client(1), Node::Redis(1)];
    let story = |from: u64| {
        let story = Story::new().takes(1, 1, "a");
        let story = story.fault_began(from, 9, "delay", &[holder, Node::Storage]);
        let story = (1..=5).fold(story, |story, fault| {
            let at = 6 + u64::from(fault);
            let story = story.fault_began(at, fault, "partition", &[holder, server]);
            story.fault_ended(at, fault, "partition", holder)
        });
        let story = story.fault_ended(20, 9, "delay", holder).expires(11, "a").takes(12, 2, "b");
        let story = story.reads(13, 2, 0).late_write(15, 1, 5, 0, 1).releases(21, 1);
        steps(Kind::StaleWrite, story.releases(22, 2)).join(" ")
    };
    assert!(story(4).contains("(fault 9)"), "{}", story(4));
}

#[test]
fn further_removals_at_the_request_of_the_holder_give_way_to_other_steps() {
    let servers = 1..=5;
    let granted = |story: Story, ms, client, owner| {
        let story = servers.clone().fold(story.acquires(ms, client), |story, redis| {
            story.grants_at(ms + 1, client, redis, owner)
        });
        story.hears(ms + 2, client, owner)
    };
    let story = granted(Story::with_quorum(3), 1, 1, "a").leaves(5, 1);
    let story =
        servers.clone().fold(story, |story, redis| story.removed_at(6, redis, "a", 1)).left(7, 1);
    let story = granted(story, 8, 2, "b").reads(12, 2, 0).late_write(15, 1, 4, 0, 1);
    let told = steps(Kind::StaleWrite, story.releases(22, 2));
    assert!(told.iter().any(|text| text.contains("reads") || text.contains("read 0")), "{told:?}");
    assert!(told.iter().any(|text| text.contains("accepts client-1's write")), "{told:?}");
}

#[test]
fn a_long_wait_for_the_storage_is_two_steps() {
    let steps = |waited: u64| {
        let story = Story::new().ttl(3_000).takes(1, 1, "a");
        let story =
            story.waits_for_storage(2, 2 + waited, 1).expires(3_001, "a").takes(3_010, 2, "b");
        told(story.releases(9_000, 1).releases(9_001, 2)).join(" ")
    };
    let long = steps(5_000);
    assert!(long.contains("client-1 sends a read to the storage."), "{long}");
    assert!(
        long.contains("client-1 does not know the outcome of its read (no answer in time)."),
        "{long}"
    );
    assert!(!steps(100).contains("sends a read"), "{}", steps(100));
}

#[test]
fn a_late_write_that_was_in_transit_for_long_or_sent_after_the_loss_is_told_with_its_sending() {
    let sent = |at: u64, lands: u64| {
        let story = Story::new().takes(1, 1, "a").expires(11, "a").takes(12, 2, "b");
        let story = story.reads(13, 2, 0).late_write(lands, 1, at, 0, 1);
        let told = steps(Kind::StaleWrite, story.releases(5_000, 1).releases(5_001, 2));
        told.iter()
            .any(|text| text == "client-1 sends a write of 1 to the storage after reading 0.")
    };
    assert_eq!([sent(10, 900), sent(15, 16)], [true, false]);
}

#[test]
fn a_delay_of_the_link_to_the_storage_is_a_step_only_if_a_request_was_in_transit() {
    let link = [Node::Client(1), Node::Storage];
    let told = |asks: bool| {
        let story = Story::new().takes(1, 1, "a").fault_began(2, 1, "delay", &link);
        let story = if asks { story.waits_for_storage(3, 9, 1) } else { story };
        let story = story.fault_ended(10, 1, "delay", Node::Client(1)).expires(11, "a");
        told(story.takes(12, 2, "b").releases(20, 1).releases(21, 2)).join(" ")
    };
    assert!(told(true).contains("(fault 1)"), "{}", told(true));
    assert!(!told(false).contains("(fault 1)"), "{}", told(false));
}

#[test]
fn a_late_write_whose_process_gave_up_waiting_says_so() {
    let story = Story::new().takes(1, 1, "a").expires(11, "a").takes(12, 2, "b");
    let story = story.reads(13, 2, 0).late_write(900, 1, 10, 0, 1);
    let told = steps(Kind::StaleWrite, story.releases(5_000, 1).releases(5_001, 2)).join(" ");
    assert!(
        told.contains("client-1 does not know the outcome of its write (no answer in time)."),
        "{told}"
    );
}

#[test]
fn a_delay_hits_only_what_is_sent_while_it_lasts() {
    let link = [Node::Client(1), Node::Storage];
    let told = |from: u64| {
        let story = Story::new().takes(1, 1, "a").fault_began(from, 1, "delay", &link);
        let story = story.fault_ended(from + 2, 1, "delay", Node::Client(1));
        let story = story.expires(11, "a").takes(12, 2, "b").reads(13, 2, 0);
        let story = story.late_write(900, 1, 5, 0, 1).releases(5_000, 1).releases(5_001, 2);
        steps(Kind::StaleWrite, story).join(" ")
    };
    assert!(told(4).contains("(fault 1)"), "{}", told(4));
    assert!(!told(400).contains("(fault 1)"), "{}", told(400));
}

#[test]
fn a_delay_of_later_messages_is_no_step_of_a_late_write() {
    let link = [Node::Client(1), Node::Storage];
    let story = Story::new().takes(1, 1, "a").fault_began(4, 1, "delay", &link);
    let story = story.fault_ended(6, 1, "delay", Node::Client(1)).expires(11, "a");
    let story = story.takes(12, 2, "b").reads(13, 2, 0).fault_began(14, 2, "delay", &link);
    let story = story.fault_ended(900, 2, "delay", Node::Client(1)).late_write(901, 1, 5, 0, 1);
    let told = steps(Kind::StaleWrite, story.releases(5_000, 1).releases(5_001, 2)).join(" ");
    assert!(told.contains("(fault 1)") && !told.contains("(fault 2)"), "{told}");
}
