use crate::fakes::Fakes;
use crate::real::{Client, RealRedis};
use fake_redis::serve::ServeOptions;

fn section(client: &mut Client, name: &str) -> Vec<String> {
    let text = client.run(&format!("INFO {name}"));
    let lines = text.split('|').filter(|line| line.contains(':'));
    let kept = lines.map(|line| {
        line.split(',').filter(|field| !field.starts_with("usec")).collect::<Vec<_>>().join(",")
    });
    let mut kept: Vec<String> = kept.collect();
    kept.sort();
    kept
}

fn counted(mut client: Client) -> Vec<String> {
    let lines = [
        "CONFIG RESETSTAT",
        "SET k v",
        "GET k",
        "GET",
        "GET a b",
        "NOSUCH",
        "CONFIG NOSUCH",
        "CONFIG GET",
        "INCR k",
        "LPUSH k a",
        "AUTH x",
        "EXEC",
        "MULTI",
        "INCR k",
        "SET l w",
        "EXEC",
        "MULTI",
        "GET",
        "EXEC",
        "EVALSHA 0000000000000000000000000000000000000000 0",
        "CLIENT ID",
    ];
    lines.iter().for_each(|line| drop(client.run(line)));
    let scripts = [
        "return 1",
        "return redis.call('INCR', 'k')",
        "return redis.pcall('INCR', 'k')",
        "redis.pcall('INCR', 'k') return 1",
        "return redis.call('INCR')",
        "redis.pcall('INCR') return 1",
        "return redis.call('NOSUCH')",
        "return redis.call('AUTH', 'x')",
        "return {err = 'MY problem'}",
        "error('x')",
        "return nosuch",
        "no lua",
    ];
    for script in scripts {
        client.ask(&["EVAL", script, "0"]);
    }
    client.ask(&["EVAL_RO", "return redis.call('SET', 'k', 'w')", "0"]);
    client.run("CONFIG SET maxmemory 1");
    client.run("SET k w");
    client.ask(&["EVAL", "return redis.call('SET', 'k', 'w')", "0"]);
    client.ask(&["EVAL", "return redis.pcall('SET', 'k', 'w')", "0"]);
    let mut kept = section(&mut client, "commandstats");
    kept.extend(section(&mut client, "errorstats"));
    kept.extend(client.info("total_error_replies"));
    kept
}

#[test]
fn calls_refusals_and_failures_are_counted_alike() {
    let fakes = Fakes::start(ServeOptions::default());
    let fake = counted(fakes.client(0));
    assert!(
        fake.contains(&String::from("cmdstat_get:calls=1,rejected_calls=3,failed_calls=0")),
        "{fake:#?}"
    );
    let Some(real) = RealRedis::start(&[]) else { return };
    assert_eq!(fake, counted(real.connect()));
}
