use crate::real::{Client, RealRedis};
use bytes::Bytes;
use fake_redis::sentinel::Address;
use fake_redis::{
    DiskImage, Input, Machine, Now, Output, Outputs, Sentinel, SentinelConfig, WallTime,
};
use fencepost_testing::{free_port, wait_for};

const NOW: WallTime = WallTime(1_700_000_000_000_000);
const OTHER: &str = "0123456789012345678901234567890123456789";

fn written(sentinel: &mut Sentinel, commands: &[&[&str]]) -> String {
    let (mut out, now) = (Outputs::default(), Now::unstepped(NOW));
    let connection = fake_redis::ConnectionId(1);
    sentinel.handle(Input::Timer, now, &mut out);
    sentinel.handle(Input::Accepted { connection, peer: "client" }, now, &mut out);
    for words in commands {
        let bytes = crate::real::encode(words);
        sentinel.handle(Input::Received { connection, bytes: &bytes }, now, &mut out);
    }
    let files = out.list.iter().filter_map(|output| match output {
        Output::DiskConfig { config } => Some(config.clone()),
        _ => None,
    });
    String::from_utf8(files.last().unwrap().to_vec()).unwrap()
}

fn facts(file: &str) -> Vec<String> {
    const TOLD: [&str; 7] = [
        "myid", "current-epoch", "monitor", "config-epoch", "leader-epoch", "known-replica",
        "known-sentinel",
    ];
    let is_told = |line: &&str| TOLD.iter().any(|word| line.split(' ').nth(1) == Some(*word));
    let lines = file.lines().filter(|line| line.starts_with("sentinel "));
    let mut facts: Vec<String> = lines.filter(is_told).map(str::to_owned).collect();
    facts.sort();
    facts
}

#[test]
fn a_real_sentinel_goes_on_from_our_file_and_ours_from_its_own() {
    let (port, master) = (free_port(), free_port());
    let announce = Address::new("127.0.0.1", port);
    let config = SentinelConfig::new(announce, Address::new("127.0.0.1", master));
    let mut ours = Sentinel::new(config.clone(), 7, NOW);
    let hello = format!("127.0.0.1,1,{OTHER},4,mymaster,127.0.0.1,2,3");
    let vote = ["SENTINEL", "is-master-down-by-addr", "127.0.0.1", "2", "6", OTHER];
    let file = written(&mut ours, &[&["PUBLISH", "__sentinel__:hello", &hello], &vote]);
    let Some(real) = RealRedis::sentinel_of(port, &file) else { return };
    let mut client: Client = real.connect();
    assert_eq!(facts(&real.sentinel_file()), facts(&file));
    let asked =
        client.ask(&["SENTINEL", "is-master-down-by-addr", "127.0.0.1", "2", "6", "another"]);
    assert_eq!(
        String::from_utf8_lossy(&asked),
        "*3\r\n:0\r\n$1\r\n*\r\n:6\r\n",
        "it voted in epoch 6, and no longer knows for whom"
    );
    let asked = client.ask(&["SENTINEL", "is-master-down-by-addr", "127.0.0.1", "2", "7", OTHER]);
    assert!(String::from_utf8_lossy(&asked).contains(OTHER));
    let theirs = wait_for("its vote is in its file", || {
        Some(real.sentinel_file()).filter(|file| file.contains("leader-epoch mymaster 7"))
    });
    let disk = DiskImage { config: Some(Bytes::from(theirs.clone())), ..DiskImage::default() };
    let mut restarted = Sentinel::started(config, &disk, 8, NOW);
    let monitor = ["SENTINEL", "SET", "mymaster", "quorum", "2"];
    assert_eq!(facts(&written(&mut restarted, &[&monitor])), facts(&theirs));
}
