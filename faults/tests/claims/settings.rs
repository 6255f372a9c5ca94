use fencepost_faults::{Counts, Micros, Node, Setting, SimTime, Spans, Topology, Window};

pub(crate) fn independent() -> Setting {
    Setting::new(Topology::Independent { masters: 5, quorum: 3 }, 3, Micros::from_secs(10))
}

pub(crate) fn replicated() -> Setting {
    let topology = Topology::Replicated {
        replicas: 2,
        sentinels: 3,
        down_after_us: Micros::from_secs(1),
        failover_timeout_us: Micros::from_secs(10),
    };
    Setting::new(topology, 3, Micros::from_secs(10))
}

pub(crate) fn standalone() -> Setting {
    Setting::new(Topology::Standalone, 3, Micros::from_secs(10))
}

#[test]
fn hosts_are_listed_by_role() {
    let setting = replicated();
    assert_eq!(setting.servers(), [Node::Redis(1), Node::Redis(2), Node::Redis(3)]);
    assert_eq!(setting.sentinels().len(), 3);
    assert_eq!(setting.clients(), [Node::Client(1), Node::Client(2), Node::Client(3)]);
    assert_eq!(setting.targets().len(), 3 + 3 + 1 + 3);
    assert!(!setting.targets().contains(&Node::Probe));
    assert_eq!(independent().spare_servers(), 2);
    assert_eq!(standalone().servers(), [Node::Redis(1)]);
}

#[test]
fn settings_survive_json_and_refuse_unknown_fields() {
    for setting in [standalone(), replicated(), independent()] {
        let json = serde_json::to_string(&setting).unwrap();
        assert_eq!(serde_json::from_str::<Setting>(&json).unwrap(), setting);
        assert!(serde_json::from_str::<Setting>(&json.replacen('{', "{\"speed\":1,", 1)).is_err());
    }
}

#[test]
fn accepts_the_defaults_of_any_lease() {
    for ttl in [1, 999, 10_000, 10_000_000, 3_600_000_000] {
        for setting in [standalone(), replicated(), independent()] {
            let setting = Setting::new(setting.topology, 3, Micros(ttl));
            assert_eq!(setting.validate(), Ok(()), "{ttl}");
        }
    }
}

#[test]
fn rejects_what_no_plan_can_be_drawn_for() {
    let message = |spoil: &dyn Fn(&mut Setting)| {
        let mut setting = independent();
        spoil(&mut setting);
        setting.validate().unwrap_err().to_string()
    };
    let spoilt: [&dyn Fn(&mut Setting); 6] = [
        &|setting| {
            setting.window = Window { begin_us: SimTime(60_000_000), end_us: SimTime(2_000_000) }
        },
        &|setting| setting.knobs.spell = Spans::millis(2_000, 1_000),
        &|setting| setting.knobs.counts = Counts { min: 3, max: 2 },
        &|setting| setting.knobs.power_loss_per_mille = 1_001,
        &|setting| setting.knobs.drift_ppm = 500_001,
        &|setting| setting.topology = Topology::Independent { masters: 5, quorum: 6 },
    ];
    insta::assert_snapshot!(spoilt.map(message).join("\n"));
}
