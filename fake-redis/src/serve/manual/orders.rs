//! The commands of the admin connection.

use super::stage::{Stage, Trap};
use super::wire::Answer;

const SPAN_MAX_US: u64 = 86_400_000_000;

const ORDERS: &[&str] = &[
    "CLOCK (milliseconds since the epoch)",
    "CLOCK ADVANCE 10s",
    "CLOCK STEP -5s [server] (the wall clock only)",
    "CRASH [server]",
    "RESTART [server] [EMPTY]",
    "FREEZE [server]",
    "THAW [server]",
    "CUT server",
    "HEAL server",
    "FAILOVER",
    "LAG 2s",
    "DROP-REPLY OF SET [server]",
    "ENTER lock client",
    "LEAVE lock client",
    "HISTORY",
    "JUDGE",
    "SERVERS",
    "RESET",
];

pub(super) fn obey(stage: &mut Stage, words: &[String]) -> Answer {
    let upper: Vec<String> = words.iter().map(|word| word.to_uppercase()).collect();
    let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
    let given: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match upper[..] {
        ["CLOCK"] => return Answer::Number(stage.wall().as_millis()),
        ["CLOCK", "ADVANCE", _] => advance(stage, given[2]),
        ["CLOCK", "STEP", _] => step(stage, given[2], None),
        ["CLOCK", "STEP", _, _] => step(stage, given[2], Some(given[3])),
        ["LAG", _] => span(given[1]).and_then(|lag| match u64::try_from(lag) {
            Ok(lag) => {
                stage.lag_us = lag;
                Ok(())
            }
            Err(_) => Err(format!("LAG '{}': expected a span of at least 0", given[1])),
        }),
        ["DROP-REPLY", "OF", command] => trap(stage, command, None),
        ["DROP-REPLY", "OF", command, _] => trap(stage, command, Some(given[3])),
        ["RESTART", "EMPTY"] => restart(stage, None, true),
        ["RESTART", ref named @ ..] if named.len() <= 2 => {
            let is_empty = named.last() == Some(&"EMPTY");
            restart(stage, given.get(1).copied(), is_empty)
        }
        ["CRASH" | "FREEZE" | "THAW" | "CUT" | "HEAL", ref named @ ..] if named.len() <= 1 => {
            act(stage, upper[0], given.get(1).copied())
        }
        ["FAILOVER"] => fail_over(stage),
        ["ENTER", _, _] => {
            stage.history.enter(stage.now_us, given[1], given[2]);
            Ok(())
        }
        ["LEAVE", _, _] => match stage.history.leave(stage.now_us, given[1], given[2]) {
            true => Ok(()),
            false => Err(format!("{} is not inside {}", given[2], given[1])),
        },
        ["RESET"] => {
            stage.reset();
            Ok(())
        }
        _ => return report(stage, &upper),
    };
    outcome.map_or_else(Answer::Wrong, |()| Answer::Ok)
}

fn report(stage: &Stage, upper: &[&str]) -> Answer {
    match upper {
        ["HISTORY"] => Answer::Lines(stage.history.entries().to_vec()),
        ["JUDGE"] => Answer::Lines(stage.history.overlaps().to_vec()),
        ["SERVERS"] => Answer::Lines(servers(stage)),
        ["HELP"] => Answer::Lines(ORDERS.iter().map(|order| (*order).to_owned()).collect()),
        // Client libraries send these commands when they connect.
        ["PING", ..] => Answer::Text("PONG"),
        ["HELLO"] | ["HELLO", "2", ..] => Answer::Hello(2),
        ["HELLO", "3", ..] => Answer::Hello(3),
        ["CLIENT" | "SELECT" | "AUTH" | "QUIT", ..] => Answer::Ok,
        ["COMMAND", ..] => Answer::Lines(Vec::new()),
        [] => Answer::Wrong("expected a command, like CLOCK ADVANCE 10s".to_owned()),
        [first, ..] => {
            let all = ORDERS.join(", ");
            Answer::Wrong(format!("unknown command '{first}': expected one of {all}"))
        }
    }
}

fn servers(stage: &Stage) -> Vec<String> {
    let state = |place: usize| match &stage.servers[place] {
        _ if !stage.is_up(place) => "crashed",
        server if server.is_frozen => "frozen",
        server if server.is_cut => "cut off",
        _ => "up",
    };
    let all = stage.servers.iter().enumerate();
    all.map(|(place, server)| format!("{} {}", server.name, state(place))).collect()
}

fn server(stage: &Stage, name: Option<&str>) -> Result<usize, String> {
    let Some(name) = name else { return Ok(0) };
    let found = stage.servers.iter().position(|server| server.name.eq_ignore_ascii_case(name));
    let names: Vec<&str> = stage.servers.iter().map(|server| &*server.name).collect();
    found.ok_or_else(|| format!("unknown server '{name}': expected one of {}", names.join(", ")))
}

/// Parses a span such as 10s, -5s, 250ms, 100us, 2m or 1h into microseconds.
fn span(text: &str) -> Result<i64, String> {
    let wrong = || format!("'{text}': expected a span of at most a day, like 10s, 250ms or -5s");
    let start = text.find(|letter: char| letter.is_ascii_alphabetic()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(start);
    let micros: i64 = match unit.to_lowercase().as_str() {
        "us" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        _ => return Err(wrong()),
    };
    let number: i64 = number.parse().map_err(|_| wrong())?;
    let span = number.checked_mul(micros).filter(|span| span.unsigned_abs() <= SPAN_MAX_US);
    span.ok_or_else(wrong)
}

fn advance(stage: &mut Stage, text: &str) -> Result<(), String> {
    let by = span(text)?;
    let by = u64::try_from(by)
        .map_err(|_| format!("CLOCK ADVANCE '{text}': expected a span of at least 0"))?;
    match stage.advance(by) {
        true => Ok(()),
        false => Err("the servers do not come to rest: expected RESET".to_owned()),
    }
}

fn step(stage: &mut Stage, text: &str, name: Option<&str>) -> Result<(), String> {
    let by = span(text)?;
    let only = name.map(|name| server(stage, Some(name))).transpose()?;
    for (place, server) in stage.servers.iter_mut().enumerate() {
        if only.is_none_or(|only| only == place) {
            server.stepped_us += by;
        }
    }
    stage.history.note(stage.now_us, name.unwrap_or("every server"), format!("steps by {text}"));
    Ok(())
}

fn trap(stage: &mut Stage, command: &str, name: Option<&str>) -> Result<(), String> {
    let server = name.map(|name| server(stage, Some(name))).transpose()?;
    stage.traps.push(Trap { server, command: command.to_owned() });
    Ok(())
}

fn restart(stage: &mut Stage, name: Option<&str>, is_empty: bool) -> Result<(), String> {
    let name = name.filter(|name| !name.eq_ignore_ascii_case("EMPTY"));
    let place = server(stage, name)?;
    if stage.is_up(place) {
        stage.crash(place);
        stage.settle();
    }
    let entry = if is_empty { "restarts, empty" } else { "restarts" };
    stage.history.note(stage.now_us, &stage.servers[place].name, entry.to_owned());
    stage.restart(place, is_empty);
    Ok(())
}

fn act(stage: &mut Stage, order: &str, name: Option<&str>) -> Result<(), String> {
    let place = server(stage, name)?;
    if !stage.is_up(place) {
        return Err(format!("{} is crashed: expected RESTART first", stage.servers[place].name));
    }
    let entry = match order {
        "CRASH" => "crashes",
        "FREEZE" => "is frozen",
        "CUT" => "is cut off",
        _ => "goes on",
    };
    stage.history.note(stage.now_us, &stage.servers[place].name, entry.to_owned());
    match order {
        "CRASH" => stage.crash(place),
        "FREEZE" => stage.servers[place].is_frozen = true,
        "CUT" => stage.servers[place].is_cut = true,
        _ => stage.release(place),
    }
    stage.settle();
    Ok(())
}

fn fail_over(stage: &mut Stage) -> Result<(), String> {
    let ups: Vec<usize> = (0..stage.servers.len()).filter(|place| stage.is_up(*place)).collect();
    if let Some(sentinel) = ups.iter().find(|place| stage.servers[**place].is_sentinel) {
        stage.command(*sentinel, &["SENTINEL", "FAILOVER", "mymaster"]);
        return Ok(());
    }
    let follows = |name: &str| name.starts_with("replica") || name.starts_with("master");
    let of_one = stage.servers.iter().any(|server| server.name.starts_with("replica"));
    let next = ups
        .iter()
        .copied()
        .find(|place| stage.primary != *place && follows(&stage.servers[*place].name));
    let Some(next) = next.filter(|_| of_one) else {
        return Err("FAILOVER: expected a replica that is up (--replicas 1)".to_owned());
    };
    stage.history.note(stage.now_us, &stage.servers[next].name, "becomes the primary".to_owned());
    stage.command(next, &["REPLICAOF", "NO", "ONE"]);
    stage.primary = next;
    let port = stage.servers[next].port.to_string();
    for place in ups.into_iter().filter(|place| *place != next) {
        stage.command(place, &["REPLICAOF", "127.0.0.1", &port]);
    }
    Ok(())
}
