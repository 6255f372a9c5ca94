use super::scene::Scene;
use super::wire::{Answer, command};
use crate::commands;

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

pub(super) fn obey(scene: &mut Scene, words: &[String]) -> Answer {
    let split: Vec<String>;
    let words = match words {
        // A client may send a whole command as one string.
        [line] => {
            split = line.split_whitespace().map(str::to_owned).collect();
            &split
        }
        words => words,
    };
    let upper: Vec<String> = words.iter().map(|word| word.to_uppercase()).collect();
    let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
    let given: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match upper[..] {
        ["CLOCK"] => return Answer::Number(scene.stage.wall().as_millis()),
        ["CLOCK", "ADVANCE", _] => advance(scene, given[2]),
        ["CLOCK", "STEP", _] => step(scene, given[2], None),
        ["CLOCK", "STEP", _, _] => step(scene, given[2], Some(given[3])),
        ["LAG", _] => span(given[1]).and_then(|lag| match u64::try_from(lag) {
            Ok(lag) => {
                scene.set_lag(lag);
                Ok(())
            }
            Err(_) => Err(format!("LAG '{}': expected a duration of at least 0", given[1])),
        }),
        ["DROP-REPLY", "OF", command] => trap(scene, command, None),
        ["DROP-REPLY", "OF", command, _] => trap(scene, command, Some(given[3])),
        ["RESTART", "EMPTY"] => restart(scene, None, true),
        ["RESTART", ref named @ ..] if named.len() <= 2 => {
            let is_empty = named.last() == Some(&"EMPTY");
            restart(scene, given.get(1).copied(), is_empty)
        }
        ["CRASH" | "FREEZE" | "THAW" | "CUT" | "HEAL", ref named @ ..] if named.len() <= 1 => {
            act(scene, upper[0], given.get(1).copied())
        }
        ["FAILOVER"] => fail_over(scene),
        ["ENTER", _, _] => {
            scene.history.enter(scene.stage.now_us(), given[1], given[2]);
            Ok(())
        }
        ["LEAVE", _, _] => match scene.history.leave(scene.stage.now_us(), given[1], given[2]) {
            true => Ok(()),
            false => Err(format!("{} is not inside {}", given[2], given[1])),
        },
        ["RESET"] => {
            scene.reset();
            Ok(())
        }
        _ => return report(scene, &upper, &given),
    };
    outcome.map_or_else(Answer::Wrong, |()| Answer::Ok)
}

fn report(scene: &Scene, upper: &[&str], given: &[&str]) -> Answer {
    match upper {
        ["HISTORY"] => Answer::Lines(scene.history.entries.to_vec()),
        ["JUDGE"] => Answer::Lines(scene.history.overlaps.to_vec()),
        ["SERVERS"] => Answer::Lines(servers(scene)),
        ["HELP"] => Answer::Lines(ORDERS.iter().map(|order| (*order).to_owned()).collect()),
        ["PING", ..] => Answer::Text("PONG"),
        ["HELLO"] | ["HELLO", "2", ..] => Answer::Hello(2),
        ["HELLO", "3", ..] => Answer::Hello(3),
        ["CLIENT" | "SELECT" | "AUTH" | "QUIT", ..] => Answer::Ok,
        ["COMMAND", ..] => Answer::Lines(Vec::new()),
        [] => Answer::Wrong("expected a command, like CLOCK ADVANCE 10s".to_owned()),
        [first, ..] => Answer::Wrong(wrong_form(first, given)),
    }
}

/// Lists the forms of a known command, or all commands.
fn wrong_form(first: &str, given: &[&str]) -> String {
    let is_form = |order: &&&str| order.split(' ').next() == Some(first);
    let forms: Vec<&str> = ORDERS.iter().filter(is_form).copied().collect();
    match forms[..] {
        [] => format!("unknown command '{first}': expected one of {}", ORDERS.join(", ")),
        [form] => format!("'{}': expected {form}", given.join(" ")),
        _ => format!("'{}': expected one of {}", given.join(" "), forms.join(", ")),
    }
}

fn servers(scene: &Scene) -> Vec<String> {
    let state = |place: usize| match &scene.stage {
        stage if !stage.is_up(place) => "crashed",
        stage if stage.is_frozen(place) => "frozen",
        _ if scene.is_cut_off(place) => "cut off",
        _ => "up",
    };
    let all = scene.names.iter().enumerate();
    all.map(|(place, name)| format!("{name} {}", state(place))).collect()
}

fn server(scene: &Scene, name: Option<&str>) -> Result<usize, String> {
    let Some(name) = name else { return Ok(0) };
    let found = scene.names.iter().position(|server| server.eq_ignore_ascii_case(name));
    let names = scene.names.join(", ");
    found.ok_or_else(|| format!("unknown server '{name}': expected one of {names}"))
}

/// Parses a duration such as 10s, -5s, 250ms, 100us, 2m or 1h into microseconds.
fn span(text: &str) -> Result<i64, String> {
    let wrong =
        || format!("'{text}': expected a duration of at most a day, like 10s, 250ms or -5s");
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

fn advance(scene: &mut Scene, text: &str) -> Result<(), String> {
    let by = span(text)?;
    let by = u64::try_from(by)
        .map_err(|_| format!("CLOCK ADVANCE '{text}': expected a duration of at least 0"))?;
    let end = scene.stage.now_us().saturating_add(by);
    match scene.stage.advance_to(end) {
        true => Ok(()),
        false => Err("the servers did not finish their work in time: expected RESET".to_owned()),
    }
}

fn step(scene: &mut Scene, text: &str, name: Option<&str>) -> Result<(), String> {
    let by = span(text)?;
    let only = name.map(|name| server(scene, Some(name))).transpose()?;
    for place in (0..scene.stage.count()).filter(|place| only.is_none_or(|only| only == *place)) {
        scene.stage.step_clock(place, by);
    }
    let who = name.unwrap_or("every server");
    scene.history.note(scene.stage.now_us(), who, format!("steps by {text}"));
    Ok(())
}

fn trap(scene: &mut Scene, command: &str, name: Option<&str>) -> Result<(), String> {
    let is_of_sentinel = command == "SENTINEL";
    if commands::table().find(command.as_bytes()).is_none() && !is_of_sentinel {
        return Err(format!("DROP-REPLY OF '{command}': expected a command of Redis, like SET"));
    }
    let server = name.map(|name| server(scene, Some(name))).transpose()?;
    scene.trap(server, command);
    Ok(())
}

fn restart(scene: &mut Scene, name: Option<&str>, is_empty: bool) -> Result<(), String> {
    let name = name.filter(|name| !name.eq_ignore_ascii_case("EMPTY"));
    let place = server(scene, name)?;
    if scene.stage.is_up(place) {
        scene.crash(place);
    }
    scene.note(place, if is_empty { "restarts, empty" } else { "restarts" });
    if is_empty {
        scene.stage.wipe(place);
    }
    scene.stage.restart(place);
    Ok(())
}

fn act(scene: &mut Scene, order: &str, name: Option<&str>) -> Result<(), String> {
    let place = server(scene, name)?;
    if !scene.stage.is_up(place) {
        return Err(format!("{} has crashed: expected RESTART first", scene.names[place]));
    }
    let entry = match order {
        "CRASH" => "crashes",
        "FREEZE" => "is frozen",
        "THAW" => "resumes",
        "CUT" => "is cut off",
        _ => "is reconnected",
    };
    scene.note(place, entry);
    match order {
        "CRASH" => scene.crash(place),
        "FREEZE" => scene.stage.freeze(place),
        "THAW" => scene.stage.thaw(place),
        "CUT" => scene.cut_off(place),
        _ => scene.stage.heal(place as u32),
    }
    Ok(())
}

fn fail_over(scene: &mut Scene) -> Result<(), String> {
    let all = 0..scene.stage.count();
    let ups: Vec<usize> = all.filter(|place| scene.stage.is_up(*place)).collect();
    if let Some(sentinel) = ups.iter().find(|place| scene.is_sentinel(**place)) {
        scene.stage.command(*sentinel, &command(&["SENTINEL", "FAILOVER", "mymaster"]));
        return Ok(());
    }
    let has_replicas = scene.names.iter().any(|name| name.starts_with("replica"));
    let next = ups.iter().copied().find(|place| scene.primary != *place);
    let Some(next) = next.filter(|_| has_replicas) else {
        return Err("FAILOVER: expected a replica that is up (--replicas 1)".to_owned());
    };
    scene.note(next, "becomes the primary");
    scene.stage.command(next, &command(&["REPLICAOF", "NO", "ONE"]));
    scene.primary = next;
    let port = scene.stage.port(next).to_string();
    for place in ups.into_iter().filter(|place| *place != next) {
        scene.stage.command(place, &command(&["REPLICAOF", "127.0.0.1", &port]));
    }
    Ok(())
}
