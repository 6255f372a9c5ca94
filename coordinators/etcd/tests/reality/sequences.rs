use super::fake::Fake;
use super::http::{Plain, Server, items, post};
use super::real::{Real, read};
use fencepost_testing::differential::number;
use std::io::Write;

pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % sides
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len() as u64) as usize]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.roll(100) < percent
    }
}

const KEYS: [&str; 5] = ["YQ==", "Yg==", "Yw==", "ZA==", "ZC8x"];
const VALUES: [&str; 4] = ["", "MQ==", "Mg==", "/w=="];
const ENDS: [&str; 4] = ["Yw==", "eg==", "AA==", "YQ=="];

fn put(dice: &mut Dice) -> String {
    let mut body = format!("{{\"key\":\"{}\"", dice.pick(&KEYS));
    if dice.chance(80) {
        body += &format!(",\"value\":\"{}\"", dice.pick(&VALUES));
    }
    if dice.chance(25) {
        body += &format!(",\"lease\":{}", lease(dice));
    }
    for flag in ["prev_kv", "ignore_value", "ignoreLease"] {
        if dice.chance(12) {
            body += &format!(",\"{flag}\":true");
        }
    }
    body + "}"
}

fn lease(dice: &mut Dice) -> String {
    dice.pick(&["71", "\"72\"", "73", "0"]).to_owned()
}

fn span(dice: &mut Dice) -> String {
    let mut body = format!("\"key\":\"{}\"", dice.pick(&KEYS));
    if dice.chance(50) {
        body += &format!(",\"range_end\":\"{}\"", dice.pick(&ENDS));
    }
    body
}

fn range(dice: &mut Dice, latest: u64) -> String {
    let mut body = format!("{{{}", span(dice));
    for name in ["serializable", "keys_only", "count_only"] {
        if dice.chance(12) {
            body += &format!(",\"{name}\":true");
        }
    }
    if dice.chance(30) {
        body += &format!(",\"limit\":{}", dice.roll(4));
    }
    if dice.chance(30) {
        let target = dice.pick(&["KEY", "VERSION", "CREATE", "MOD", "VALUE"]);
        let order = dice.pick(&["NONE", "ASCEND", "DESCEND"]);
        body += &format!(",\"sort_target\":\"{target}\",\"sort_order\":\"{order}\"");
    }
    if dice.chance(20) {
        body += &format!(",\"revision\":\"{}\"", near(dice, latest));
    }
    for name in ["min_mod_revision", "maxModRevision", "min_create_revision", "max_create_revision"]
    {
        if dice.chance(8) {
            body += &format!(",\"{name}\":{}", near(dice, latest));
        }
    }
    body + "}"
}

fn near(dice: &mut Dice, latest: u64) -> u64 {
    (latest + 3).saturating_sub(dice.roll(14))
}

fn delete(dice: &mut Dice) -> String {
    let prev = if dice.chance(30) { ",\"prev_kv\":true" } else { "" };
    format!("{{{}{prev}}}", span(dice))
}

fn compare(dice: &mut Dice, latest: u64) -> String {
    let result = dice.pick(&["EQUAL", "GREATER", "LESS", "NOT_EQUAL"]);
    let with = match dice.roll(6) {
        0 => format!("\"target\":\"VERSION\",\"version\":{}", dice.roll(4)),
        1 => format!("\"target\":\"CREATE\",\"create_revision\":{}", near(dice, latest)),
        2 => format!("\"target\":\"MOD\",\"mod_revision\":\"{}\"", near(dice, latest)),
        3 => format!("\"target\":\"VALUE\",\"value\":\"{}\"", dice.pick(&VALUES)),
        4 => format!("\"target\":\"LEASE\",\"lease\":{}", lease(dice)),
        _ => "\"target\":1".to_owned(),
    };
    format!("{{{},\"result\":\"{result}\",{with}}}", span(dice))
}

fn txn(dice: &mut Dice, latest: u64) -> String {
    let ops = |dice: &mut Dice| {
        let ops: Vec<String> = (0..dice.roll(4))
            .map(|_| match dice.roll(4) {
                0 => format!("{{\"request_put\":{}}}", put(dice)),
                1 => format!("{{\"requestRange\":{}}}", range(dice, latest)),
                2 => format!("{{\"request_delete_range\":{}}}", delete(dice)),
                _ => format!("{{\"request_put\":{}}}", put(dice)),
            })
            .collect();
        ops.join(",")
    };
    let compares: Vec<String> = (0..dice.roll(3)).map(|_| compare(dice, latest)).collect();
    let (success, failure) = (ops(dice), ops(dice));
    let compares = compares.join(",");
    format!("{{\"compare\":[{compares}],\"success\":[{success}],\"failure\":[{failure}]}}")
}

pub(crate) fn call(dice: &mut Dice, latest: u64) -> Vec<u8> {
    let lease = lease(dice);
    let (path, body) = match dice.roll(20) {
        0..=4 => ("/v3/kv/put", put(dice)),
        5..=8 => ("/v3/kv/range", range(dice, latest)),
        9..=10 => ("/v3/kv/deleterange", delete(dice)),
        11..=15 => ("/v3/kv/txn", txn(dice, latest)),
        16 if dice.chance(70) => ("/v3/lease/grant", format!("{{\"TTL\":500,\"ID\":{lease}}}")),
        16 => ("/v3/lease/grant", "{\"TTL\":-1}".to_owned()),
        17 if dice.chance(60) => ("/v3/lease/revoke", format!("{{\"ID\":{lease}}}")),
        17 => ("/v3/lease/keepalive", format!("{{\"ID\":{lease}}}{{\"ID\":{}}}", 99)),
        18 => ("/v3/lease/timetolive", format!("{{\"ID\":{lease},\"keys\":true}}")),
        _ if dice.chance(50) => {
            ("/v3/lock/unlock", format!("{{\"key\":\"{}\"}}", dice.pick(&KEYS)))
        }
        // No lock call waits, because all lock calls use the same lease.
        _ => ("/v3/lock/lock", "{\"name\":\"bQ==\",\"lease\":\"71\"}".to_owned()),
    };
    post(path, &body)
}

pub(crate) fn revision_of(answer: &str) -> Option<u64> {
    let (_, rest) = answer.split_once("\"revision\":\"")?;
    rest.split('"').next()?.parse().ok()
}

pub(crate) fn clean() -> Vec<Vec<u8>> {
    let mut calls = vec![post("/v3/kv/deleterange", "{\"key\":\"AA==\",\"range_end\":\"AA==\"}")];
    calls
        .extend(["71", "72", "73"].map(|id| post("/v3/lease/revoke", &format!("{{\"ID\":{id}}}"))));
    calls
}

pub(crate) const WATCH: &str = "\
    {\"create_request\":{\"key\":\"AA==\",\"range_end\":\"AA==\",\"prev_kv\":true}}\
    {\"create_request\":{\"key\":\"YQ==\"}}";
/// Body of a sequence's last put. A watch that reports this put has reported all earlier changes.
pub(crate) const LAST: &str = "{\"key\":\"enp6\"}";

#[test]
fn random_calls_are_answered_and_watched_as_by_the_real_server() {
    let Some(mut real) = Real::start() else { return };
    let mut fake = Fake::start();
    let (mut of_real, mut of_fake) = (Plain::default(), Plain::default());
    let seed = number::<u64>("FENCEPOST_DIFFERENTIAL_SEED").unwrap_or(1);
    let mut latest = 1;
    for case in 0..number("FENCEPOST_DIFFERENTIAL_CASES").unwrap_or(300) {
        let mut dice = Dice(seed << 32 | case);
        for call in clean() {
            let (theirs, ours) = (of_real.show(&real.ask(&call)), of_fake.show(&fake.ask(&call)));
            assert_eq!(ours, theirs, "case {case}: {}", String::from_utf8_lossy(&call));
        }
        let (mut stream, watch) = (real.connect(), fake.connect());
        stream.write_all(&post("/v3/watch", WATCH)).unwrap();
        let mut seen = read(&mut stream, |said| items(said).len() >= 2);
        fake.send(watch, &post("/v3/watch", WATCH));
        for step in 0..dice.roll(14) {
            let call = call(&mut dice, latest);
            let (theirs, ours) = (of_real.show(&real.ask(&call)), of_fake.show(&fake.ask(&call)));
            assert_eq!(ours, theirs, "case {case}.{step}: {}", String::from_utf8_lossy(&call));
            latest = revision_of(&theirs).unwrap_or(latest).max(latest);
        }
        let last = post("/v3/kv/put", LAST);
        let (theirs, ours) = (of_real.show(&real.ask(&last)), of_fake.show(&fake.ask(&last)));
        assert_eq!(ours, theirs, "case {case}");
        seen.extend(read(&mut stream, |said| String::from_utf8_lossy(said).contains("enp6")));
        // The relative order of notifications from different watches depends on timing.
        let show = |plain: &mut Plain, said: &[u8]| {
            let items = items(said);
            let items = items.iter().map(|item| plain.show(item.as_bytes()));
            items.partition::<Vec<String>, _>(|item| item.contains("\"watch_id\""))
        };
        let ours = show(&mut of_fake, &fake.received(watch));
        assert_eq!(ours, show(&mut of_real, &seen), "case {case}: the watch");
    }
}
