use crate::simulation::{
    Holders, SENTINELS, Setup, acquire, ask, connect, primary_other_than, sleep,
};

async fn alice(holders: Holders, fault: fn()) -> turmoil::Result {
    sleep(20).await;
    let mut redis = connect("redis-1", 6379).await?;
    fault();
    assert!(acquire(&mut redis, "alice", &holders).await?);
    Ok(())
}

async fn bob(holders: Holders) -> turmoil::Result {
    let primary = primary_other_than("redis-1").await?;
    assert_eq!(primary, "redis-2");
    acquire(&mut connect(&primary, 6379).await?, "bob", &holders).await?;
    Ok(())
}

async fn reunion() -> turmoil::Result {
    // The loop retries, because Sentinel disconnects the clients of a server that it demotes.
    while !matches!(role_and_owner().await, Ok((role, owner)) if role == "slave" && owner == "bob")
    {
        sleep(1).await;
    }
    Ok(())
}

async fn role_and_owner() -> turmoil::Result<(String, String)> {
    let mut old = connect("redis-1", 6379).await?;
    let mut role: Vec<redis::Value> = ask(&mut old, "ROLE").await?;
    Ok((redis::from_redis_value(role.swap_remove(0))?, ask(&mut old, "GET lock").await?))
}

fn two_holders(sim: &mut turmoil::Sim<'_>, fault: fn(), then: impl FnOnce(&mut turmoil::Sim<'_>)) {
    let holders = Holders::default();
    sim.client("alice", alice(holders.clone(), fault));
    while holders.borrow().is_empty() {
        sim.step().unwrap();
    }
    then(sim);
    sim.client("bob", bob(holders.clone()));
    sim.run().unwrap();
    assert_eq!(*holders.borrow(), ["alice", "bob"]);
}

fn lagging() {
    turmoil::hold("redis-1", "redis-2");
}

fn cut() {
    turmoil::partition("redis-1", "redis-2");
    SENTINELS.iter().for_each(|sentinel| turmoil::partition("redis-1", *sentinel));
}

fn held() {
    lagging();
    SENTINELS.iter().for_each(|sentinel| turmoil::hold("redis-1", *sentinel));
}

#[test]
fn a_primary_that_crashes_before_its_replica_heard_of_a_lock_makes_two_holders() {
    for seed in 0..3 {
        let mut sim = Setup::new(seed).failover();
        two_holders(&mut sim, lagging, |sim| sim.crash("redis-1"));
        sim.release("redis-1", "redis-2");
        sim.bounce("redis-1");
        sim.client("reunion", reunion());
        sim.run().unwrap();
    }
}

#[test]
fn a_lock_that_the_replica_heard_of_survives_the_primary() {
    for seed in 0..3 {
        let mut sim = Setup::new(seed).failover();
        let holders = Holders::default();
        sim.client("alice", alice(holders.clone(), || {}));
        sim.run().unwrap();
        for _ in 0..100 {
            sim.step().unwrap();
        }
        sim.crash("redis-1");
        sim.client("bob", bob(holders.clone()));
        sim.run().unwrap();
        assert_eq!(*holders.borrow(), ["alice"]);
    }
}

#[test]
fn a_primary_cut_off_by_a_partition_makes_two_holders_until_it_is_repaired() {
    for seed in 0..3 {
        let mut sim = Setup::new(seed).failover();
        two_holders(&mut sim, cut, |_| {});
        for other in ["redis-2"].iter().chain(&SENTINELS) {
            sim.repair("redis-1", *other);
        }
        sim.client("reunion", reunion());
        sim.run().unwrap();
    }
}

#[test]
fn a_primary_whose_messages_are_held_makes_two_holders_until_they_are_released() {
    for seed in 0..3 {
        let mut sim = Setup::new(seed).failover();
        two_holders(&mut sim, held, |_| {});
        for other in ["redis-2"].iter().chain(&SENTINELS) {
            sim.release("redis-1", *other);
        }
        sim.client("reunion", reunion());
        sim.run().unwrap();
    }
}

#[test]
fn sentinels_remember_a_failover_across_a_bounce() {
    let mut sim = Setup::new(1).failover();
    two_holders(&mut sim, lagging, |sim| sim.crash("redis-1"));
    SENTINELS.iter().for_each(|sentinel| sim.bounce(*sentinel));
    sim.client("carol", async {
        let mut sentinel = connect("sentinel-2", 26379).await?;
        let (host, _): (String, u16) =
            ask(&mut sentinel, "SENTINEL get-master-addr-by-name mymaster").await?;
        assert_eq!(host, "redis-2");
        Ok(())
    });
    sim.run().unwrap();
}
