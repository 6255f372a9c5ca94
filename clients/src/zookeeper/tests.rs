use crate::lock::{Acquisition, Release};
use crate::testing::{
    Answer, Call, TestWorld, both, ensemble, granted, normal, settings, three_keepers,
};
use std::time::Duration;

const RESOURCE: &str = "lock";

const LOCKS: [&str; 11] = [
    "zookeeper-naive", "zookeeper-herd", "zookeeper-lost-watch", "curator-mutex",
    "curator-suspended", "curator-fencing", "curator-unprotected", "curator-any-session",
    "curator-unguaranteed", "kazoo-lock", "zookeeper-semaphore",
];

#[test]
fn each_lock_is_taken_waited_for_and_given_back() {
    for name in LOCKS {
        let (world, mut one) = three_keepers(name, normal);
        let mut other = world.lock(name, &ensemble(), &settings());
        let lease = granted(world.run(one.acquire(RESOURCE)));
        let env = world.env();
        let gives_back = async {
            env.sleep(Duration::from_millis(300)).await;
            one.release(lease).await
        };
        let (released, next) = world.run(both(gives_back, other.acquire(RESOURCE)));
        assert_eq!(released, Release::Released, "{name}");
        let next = granted(next);
        assert_eq!(world.run(other.release(next)), Release::Released, "{name}");
        let left = ["/lock", "/lock/locks", "/lock/leases"].map(|path| world.children(path));
        let nodes: Vec<_> =
            left.iter().flatten().filter(|it| it.ends_with(char::is_numeric)).collect();
        assert!(nodes.is_empty(), "{name}: {nodes:?}");
    }
}

#[test]
fn who_holds_curators_mutex_enters_again_and_who_holds_another_lock_waits_for_itself() {
    for name in LOCKS {
        let (world, mut lock) = three_keepers(name, normal);
        let first = granted(world.run(lock.acquire(RESOURCE)));
        let env = world.env();
        // `zookeeper-lost-watch` would wait forever for its own node.
        let again = world.run(env.timeout(Duration::from_secs(60), lock.acquire(RESOURCE)));
        let is_reentrant = name.starts_with("curator-");
        let enters = matches!(again, Some(Acquisition::Granted(_)));
        assert_eq!(enters, is_reentrant, "{name}: {again:?}");
        if name == "zookeeper-lost-watch" {
            continue;
        }
        assert_eq!(world.run(lock.release(first)), Release::Released, "{name}");
        let mut other = world.lock(name, &ensemble(), &settings());
        let next = world.run(other.acquire(RESOURCE));
        assert_eq!(matches!(next, Acquisition::Granted(_)), !is_reentrant, "{name}: {next:?}");
    }
}

#[test]
fn the_queue_is_waited_for_by_watching_the_predecessor() {
    let (world, mut one) = three_keepers("zookeeper-naive", normal);
    let mut other = world.lock("zookeeper-naive", &ensemble(), &settings());
    let lease = granted(world.run(one.acquire(RESOURCE)));
    let env = world.env();
    let gives_back = async {
        env.sleep(Duration::from_millis(50)).await;
        one.release(lease).await
    };
    world.run(both(gives_back, other.acquire(RESOURCE)));
    insta::assert_snapshot!(world.trace(), @r"
     0.000 zk1 #1 connect
     0.000 zk2 #2 connect
     1.000 zk1 #1 < SESSION 0
     1.000 zk2 #2 < SESSION 0
     2.000 zk1 #1 > session 1 for 10000 ms
     2.000 zk1 #1 < create-sequential /lock/node-
     2.000 zk2 #2 > session 2 for 10000 ms
     3.000 zk1 #1 > 1 error -101
     3.000 zk1 #1 < create /lock > 2 ok
     4.000 zk1 #1 < create-sequential /lock/node- > 3 ok
     5.000 zk1 #1 < getChildren /lock > 4 ok
     6.000 zk2 #2 < create-sequential /lock/node- > 1 ok
     7.000 zk2 #2 < getChildren /lock > 2 ok
     8.000 zk2 #2 < exists /lock/node-0000000000 watch > 3 ok
    56.000 zk1 #1 < delete /lock/node-0000000000 > 5 ok
    57.000 zk2 #2 > deleted /lock/node-0000000000
    57.000 zk2 #2 < getChildren /lock > 4 ok
    ");
}

#[test]
fn a_connection_that_breaks_is_replaced_and_its_watches_set_again() {
    let (world, mut one) = three_keepers("zookeeper-naive", normal);
    let mut other = world.lock("zookeeper-naive", &ensemble(), &settings());
    granted(world.run(one.acquire(RESOURCE)));
    world.trace();
    let (_, refused) = world.run(both(break_all(&world, 100), other.acquire(RESOURCE)));
    assert!(matches!(refused, Acquisition::Refused(_)), "{refused:?}");
    insta::assert_snapshot!(world.trace(), @r"
       6.000 zk2 #2 < create-sequential /lock/node- > 1 ok
       7.000 zk2 #2 < getChildren /lock > 2 ok
       8.000 zk2 #2 < exists /lock/node-0000000000 watch > 3 ok
     106.500 zk1 #1 close
     106.500 zk2 #2 close
     550.320 zk3 #3 connect
     551.320 zk3 #3 < SESSION 1 > session 1 for 10000 ms
     868.632 zk1 #4 connect
     869.632 zk1 #4 < SESSION 2 > session 2 for 10000 ms
     870.632 zk1 #4 < setWatches /lock/node-0000000000
     870.632 zk1 #4 < getChildren /lock > 4 ok
     871.632 zk1 #4 > 5 ok
     871.632 zk1 #4 < exists /lock/node-0000000000 watch > 6 ok
     872.632 zk1 #4 < getChildren /lock > 7 ok
     873.632 zk1 #4 < exists /lock/node-0000000000 watch > 8 ok
    1006.000 zk1 #4 < getChildren /lock > 9 ok
    1007.000 zk1 #4 < delete /lock/node-0000000001 > 10 ok
    ");
}

#[test]
fn a_client_that_is_idle_pings_and_leaves_a_server_that_is_silent() {
    let mut pings = 0;
    let silent = move |call: &Call<'_>| {
        pings += usize::from(call.name() == "ping");
        if call.name() == "ping" && pings > 2 { Answer::Dropped } else { Answer::Normal }
    };
    let (world, _lock) = three_keepers("zookeeper-naive", silent);
    world.pass(14_000);
    insta::assert_snapshot!(world.trace(), @r"
        0.000 zk1 #1 connect
        1.000 zk1 #1 < SESSION 0 > session 1 for 10000 ms
     3335.000 zk1 #1 < ping > pong
     6668.000 zk1 #1 < ping > pong
    10001.000 zk1 #1 < ping
    13334.000 zk1 #1 < ping
    13335.000 zk1 #1 close
    ");
}

#[test]
fn a_session_that_is_over_is_followed_by_another() {
    for name in LOCKS {
        let (world, mut lock) = three_keepers(name, normal);
        let lease = granted(world.run(lock.acquire(RESOURCE)));
        world.expire(1);
        world.pass(3_000);
        assert_eq!(world.run(lock.release(lease)), Release::NotHeld, "{name}");
        let lease = granted(world.run(lock.acquire(RESOURCE)));
        assert_eq!(world.run(lock.release(lease)), Release::Released, "{name}");
    }
}

#[test]
fn only_who_leaves_hears_that_the_connection_is_lost() {
    for (name, hears) in [("curator-suspended", true), ("curator-mutex", false)] {
        let (world, mut lock) = three_keepers(name, normal);
        let lease = granted(world.run(lock.acquire(RESOURCE)));
        let env = world.env();
        let hold = env.timeout(Duration::from_millis(500), lock.lost(&lease));
        let (_, lost) = world.run(both(break_all(&world, 100), hold));
        assert_eq!(lost.is_some(), hears, "{name}");
        assert_eq!(world.trace().contains("note LockLost"), hears, "{name}");
    }
}

#[test]
fn a_session_that_is_suspended_for_its_timeout_is_taken_for_expired() {
    let mut connects = 0;
    let refuses = move |call: &Call<'_>| {
        connects += usize::from(call.name() == "CONNECT");
        let dark = call.name() == "CONNECT" && (2..15).contains(&connects);
        if dark { Answer::ResetBefore } else { Answer::Normal }
    };
    let (world, mut lock) = three_keepers("curator-mutex", refuses);
    granted(world.run(lock.acquire(RESOURCE)));
    world.run(break_all(&world, 0));
    world.pass(11_000);
    let trace = world.trace();
    assert!(trace.contains("session 2 for"), "{trace}");
    assert_eq!(world.children("/lock").len(), 1, "the node of the old session stands");
}

#[test]
fn without_protection_a_create_whose_reply_is_lost_leaves_an_orphan() {
    for (name, orphans) in [
        ("zookeeper-naive", 1),
        ("curator-unprotected", 1),
        ("curator-mutex", 0),
        ("kazoo-lock", 0),
        ("zookeeper-semaphore", 0),
    ] {
        let (world, mut lock) = three_keepers(name, lose_second_create());
        let first = world.run(lock.acquire(RESOURCE));
        if let Acquisition::Granted(lease) = first {
            world.run(lock.release(lease));
        }
        let left = world.children("/lock").len() + world.children("/lock/locks").len();
        let directories = if name == "zookeeper-semaphore" { 2 } else { 0 };
        assert_eq!(left, orphans + directories, "{name}");
    }
}

#[test]
fn a_create_whose_connection_breaks_after_a_search_leaves_its_node() {
    for name in ["curator-mutex", "curator-fencing"] {
        let mut creates = 0;
        let (world, mut lock) = three_keepers(name, move |call: &Call<'_>| {
            let is_create = call.name() == "create-sequential";
            creates += usize::from(is_create);
            match creates {
                2 if is_create => Answer::ResetBefore,
                3 if is_create => Answer::ResetAfter,
                _ => Answer::Normal,
            }
        });
        assert!(matches!(world.run(lock.acquire(RESOURCE)), Acquisition::Unknown(_)), "{name}");
        world.pass(5_000);
        assert_eq!(world.children("/lock").len(), 1, "{name}: {}", world.trace());
    }
}

#[test]
fn a_node_of_an_earlier_session_is_taken_only_by_who_does_not_look() {
    for (name, nodes_of) in [("curator-any-session", 1), ("curator-mutex", 2)] {
        let mut creates = 0;
        let mut expired = false;
        let mishaps = move |call: &Call<'_>| {
            creates += usize::from(call.name() == "create-sequential");
            match call.name() {
                "create-sequential" if creates == 2 => Answer::Lost,
                "SESSION" if creates == 2 && !std::mem::replace(&mut expired, true) => {
                    Answer::Says(
                        "\0\0\0\x25\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\
                         \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                    )
                }
                _ => Answer::Normal,
            }
        };
        let (world, mut lock) = three_keepers(name, mishaps);
        let slow = crate::Settings { acquire_timeout: Duration::from_secs(5), ..settings() };
        lock = {
            drop(lock);
            world.lock(name, &ensemble(), &slow)
        };
        let lease = granted(world.run(lock.acquire(RESOURCE)));
        let owner = world.owner_of(&format!("/lock/{}", String::from_utf8_lossy(&lease.owner)));
        assert_eq!(owner, nodes_of, "{name}: {}", world.trace());
    }
}

#[test]
fn a_delete_that_is_not_confirmed_is_made_up_for_if_it_is_guaranteed() {
    for (name, left) in [("curator-mutex", 0), ("curator-unguaranteed", 1)] {
        let mut deletes = 0;
        let mishaps = move |call: &Call<'_>| {
            deletes += usize::from(call.name() == "delete");
            if call.name() == "delete" && deletes <= 4 {
                Answer::ResetBefore
            } else {
                Answer::Normal
            }
        };
        let (world, mut lock) = three_keepers(name, mishaps);
        let lease = granted(world.run(lock.acquire(RESOURCE)));
        assert!(matches!(world.run(lock.release(lease)), Release::Unknown(_)), "{name}");
        world.pass(10_000);
        assert_eq!(world.children("/lock").len(), left, "{name}: {}", world.trace());
    }
}

#[test]
fn a_watch_that_is_not_set_again_is_waited_for_in_vain() {
    for (name, gets_it) in [("zookeeper-lost-watch", false), ("zookeeper-naive", true)] {
        let (world, mut one) = three_keepers(name, normal);
        let slow = crate::Settings { acquire_timeout: Duration::from_secs(20), ..settings() };
        let mut other = world.lock(name, &ensemble(), &slow);
        let lease = granted(world.run(one.acquire(RESOURCE)));
        let env = world.env();
        let breaks = async {
            break_all(&world, 100).await;
            env.sleep(Duration::from_secs(3)).await;
            one.release(lease).await
        };
        let waits = env.timeout(Duration::from_secs(15), other.acquire(RESOURCE));
        let (released, got) = world.run(both(breaks, waits));
        assert_eq!(released, Release::Released, "{name}");
        assert_eq!(matches!(got, Some(Acquisition::Granted(_))), gets_it, "{name}: {got:?}");
    }
}

#[test]
fn tokens_grow_from_holder_to_holder() {
    let (world, mut lock) = three_keepers("curator-fencing", normal);
    let mut tokens = Vec::new();
    for _ in 0..3 {
        let lease = granted(world.run(lock.acquire(RESOURCE)));
        tokens.push(lease.token.expect("a token"));
        world.run(lock.release(lease));
    }
    assert!(tokens.is_sorted_by(|one, next| one < next), "{tokens:?}");
}

async fn break_all(world: &std::rc::Rc<TestWorld>, after_ms: u64) {
    world.env().sleep(Duration::from_millis(after_ms)).await;
    ["zk1", "zk2", "zk3"].iter().for_each(|host| world.reset_connections(host));
}

fn lose_second_create() -> impl FnMut(&Call<'_>) -> Answer {
    let mut creates = 0;
    move |call| {
        creates += usize::from(call.name() == "create-sequential");
        let is_second = call.name() == "create-sequential" && creates == 2;
        if is_second { Answer::Lost } else { Answer::Normal }
    }
}
