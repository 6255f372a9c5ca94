use crate::simulation::{Setup, ask, connect, node, simulation, sleep};
use fake_redis::host::{Crash, SharedDisk};
use fake_redis::{Fsync, NodeConfig, Persistence};

fn client<T: 'static>(
    sim: &mut turmoil::Sim<'_>,
    name: &str,
    body: impl Future<Output = turmoil::Result<T>> + 'static,
) -> Option<T> {
    let result = std::rc::Rc::new(std::cell::RefCell::new(None));
    let told = result.clone();
    sim.client(name, async move {
        *told.borrow_mut() = Some(body.await?);
        Ok(())
    });
    sim.run().unwrap();
    result.take()
}

fn left_after(
    fsync: Fsync,
    crash: Crash,
    go_down: impl FnOnce(&mut turmoil::Sim<'_>),
) -> Option<String> {
    let (mut sim, disk) = (simulation(1), SharedDisk::new(crash));
    let persistence = Persistence::Aof { fsync };
    Setup::new(1).add(&mut sim, NodeConfig { persistence, ..node("redis-1", None) }, &disk);
    client(&mut sim, "before", async {
        ask::<()>(&mut connect("redis-1", 6379).await?, "SET lock alice").await?;
        Ok(())
    });
    go_down(&mut sim);
    client(&mut sim, "after", async {
        Ok(ask::<Option<String>>(&mut connect("redis-1", 6379).await?, "GET lock").await?)
    })?
}

fn crash_and_bounce(sim: &mut turmoil::Sim<'_>) {
    sim.crash("redis-1");
    sim.bounce("redis-1");
}

#[test]
fn what_was_synced_before_the_reply_survives_crashes_and_bounces() {
    let alice = Some("alice".to_owned());
    assert_eq!(left_after(Fsync::Always, Crash::PowerLoss, crash_and_bounce), alice);
    assert_eq!(left_after(Fsync::Always, Crash::PowerLoss, |sim| sim.bounce("redis-1")), alice);
}

#[test]
fn what_was_not_synced_is_lost_with_the_power_and_kept_with_the_operating_system() {
    for fsync in [Fsync::No, Fsync::EverySec] {
        assert_eq!(left_after(fsync, Crash::PowerLoss, crash_and_bounce), None);
        let kept = left_after(fsync, Crash::Process, crash_and_bounce);
        assert_eq!(kept, Some("alice".to_owned()));
    }
}

#[test]
fn a_server_that_is_shut_down_loses_nothing() {
    let left = left_after(Fsync::No, Crash::PowerLoss, |sim| {
        client(sim, "operator", async {
            let mut redis = connect("redis-1", 6379).await?;
            assert!(ask::<()>(&mut redis, "SHUTDOWN").await.is_err(), "no reply but the end");
            Ok(())
        });
        assert!(!sim.is_host_running("redis-1"));
        sim.bounce("redis-1");
    });
    assert_eq!(left, Some("alice".to_owned()));
}

#[test]
fn one_disk_is_for_one_server() {
    let (mut sim, disk, setup) = (simulation(1), SharedDisk::default(), Setup::new(1));
    setup.add(&mut sim, node("redis-1", None), &disk);
    setup.add(&mut sim, node("redis-2", None), &disk);
    sim.client("waiting", async {
        sleep(1).await;
        Ok(())
    });
    let failure = sim.run().unwrap_err().to_string();
    assert!(failure.contains("expected one disk for each server"), "{failure}");
}
