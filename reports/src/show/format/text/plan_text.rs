use crate::record::listed::listed;
use crate::summary::report::RunReport;
use fencepost_faults::{Direction, Fault, FaultPlan, Impact, Micros, Node, TimedFault};

pub(crate) fn lengths(run: &RunReport) -> Option<String> {
    let lengths: Vec<String> =
        run.lengths.iter().map(|(key, value)| format!("{key} {value}")).collect();
    (!lengths.is_empty()).then(|| lengths.join(", "))
}

pub(crate) fn fault(fault: &Fault) -> String {
    match fault {
        Fault::Pause { node, duration_us } => format!("{node} is paused for {duration_us}"),
        Fault::Suspend { node, duration_us } => {
            format!("{node} and its monotonic clock are suspended for {duration_us}")
        }
        Fault::Crash { node, down_us } => format!("{node} crashes{}", back(*down_us)),
        Fault::PowerLoss { node, down_us } => format!("{node} loses power{}", back(*down_us)),
        Fault::Partition { side_a, side_b, direction, duration_us } => {
            let (a, b) = (listed(side_a, "or"), listed(side_b, "or"));
            match direction {
                Direction::Both => {
                    format!("no message passes between {a} and {b} for {duration_us}")
                }
                Direction::AToB => format!("no message passes from {a} to {b} for {duration_us}"),
            }
        }
        Fault::Delay { from, to, extra_us_min, extra_us_max, duration_us } => {
            let (from, to) = (listed(from, "and"), listed(to, "and"));
            let extra = match extra_us_min == extra_us_max {
                true => extra_us_max.to_string(),
                false => format!("{extra_us_min} to {extra_us_max}"),
            };
            format!("for {duration_us}, messages from {from} to {to} take {extra} longer")
        }
        Fault::LostReply { server, client, duration_us } => {
            format!(
                "{server} executes the next command that {client} sends within {duration_us}, but \
                 the reply is lost"
            )
        }
        Fault::LostRequest { server, client, duration_us } => {
            format!(
                "the next command that {client} sends to {server} within {duration_us} is lost in \
                 transit"
            )
        }
        Fault::ClockDrift { node, rate_ppm, duration_us } => {
            let pace = if *rate_ppm < 0 { "slow" } else { "fast" };
            format!(
                "the clocks of {node} run {} % {pace} for {duration_us}",
                percent(rate_ppm.unsigned_abs())
            )
        }
        Fault::ClockJump { node, offset_us } => {
            let way = if *offset_us < 0 { "back" } else { "forward" };
            format!(
                "the wall clock of {node} is stepped {way} by {}",
                Micros(offset_us.unsigned_abs())
            )
        }
        Fault::SlowServer { node, extra_us, duration_us } => {
            format!("for {duration_us}, every command at {node} takes {extra_us} longer")
        }
        Fault::Evict { node } => format!(
            "{node} is out of memory and evicts all keys that may be \
                                          evicted"
        ),
        Fault::FlushAll { node } => format!("an operator flushes {node}"),
        Fault::Promote { node } => format!("an operator promotes {node} to primary"),
        Fault::Operator { node, command } => {
            format!("an operator runs {} on {node}", command.typed())
        }
    }
}

pub(crate) fn lasting_effect(plan: &FaultPlan) -> Option<String> {
    let healed = plan.heals_at();
    let acts =
        |fault: &Fault| matches!(fault.kind().impact(), Impact::Freezes | Impact::HoldsUpMessages);
    let mut last = plan.faults.iter().filter(|timed| timed.ends_at() == Some(healed));
    let lacks = |timed: &TimedFault| match &timed.fault {
        Fault::ClockDrift { rate_ppm: 0, .. } => Some("changes no clock"),
        fault if acts(fault) && fault.duration() == Some(Micros::ZERO) => Some("has no duration"),
        _ => None,
    };
    let timed = last.next().filter(|_| last.next().is_none())?;
    let lacks = lacks(timed)?;
    Some(format!(
        "Fault {} {lacks}; without it the run would count as healed before {healed}.",
        timed.id
    ))
}

pub(crate) fn fault_at(timed: &TimedFault) -> String {
    format!("at {}, {}", timed.at_us, fault(&timed.fault))
}

pub(crate) fn in_brief_at(timed: &TimedFault) -> String {
    format!("at {}, {}", timed.at_us, in_brief(&timed.fault))
}

pub(crate) fn in_brief(fault: &Fault) -> String {
    match fault {
        Fault::Partition { side_a, side_b, direction, duration_us } => {
            let (a, b) = (grouped(side_a), grouped(side_b));
            match direction {
                Direction::Both => format!("partition for {duration_us}: {a} | {b}"),
                Direction::AToB => format!("one-way partition for {duration_us}: {a} -> {b}"),
            }
        }
        Fault::Delay { from, to, extra_us_max, duration_us, .. } => {
            let (from, to) = (grouped(from), grouped(to));
            format!("messages {from} -> {to} are delayed by up to {extra_us_max} for {duration_us}")
        }
        other => self::fault(other),
    }
}

/// Joins node names, with each prefix only once, as in `redis-2,3 client-1`.
fn grouped(nodes: &[Node]) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for node in nodes {
        let name = node.to_string();
        let (kind, number) = name.split_once('-').unwrap_or((&name, ""));
        match groups.iter_mut().find(|(known, _)| known == kind) {
            Some((_, numbers)) => numbers.push(number.to_owned()),
            None => groups.push((kind.to_owned(), vec![number.to_owned()])),
        }
    }
    let names = groups.iter().map(|(kind, numbers)| match numbers.join(",") {
        none if none.is_empty() => kind.clone(),
        numbers => format!("{kind}-{numbers}"),
    });
    names.collect::<Vec<String>>().join(" ")
}

fn back(down: Option<Micros>) -> String {
    match down {
        None => " for good".to_owned(),
        Some(Micros::ZERO) => " and is back immediately".to_owned(),
        Some(down) => format!(" and is back after {down}"),
    }
}

fn percent(ppm: u32) -> String {
    let text = format!("{}.{:04}", ppm / 10_000, ppm % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_faults::SimTime;

    #[test]
    fn rates_are_written_exactly() {
        assert_eq!([0, 100, 10_000, 30_500].map(percent), ["0", "0.01", "1", "3.05"]);
    }

    #[test]
    fn both_sides_of_a_cut_are_named() {
        let cut = Fault::Partition {
            side_a: vec![Node::Redis(1), Node::Client(1)],
            side_b: vec![Node::Redis(2), Node::Redis(3), Node::Storage],
            direction: Direction::Both,
            duration_us: Micros::from_secs(5),
        };
        assert_eq!(in_brief(&cut), "partition for 5s: redis-1 client-1 | redis-2,3 storage");
        assert_eq!(
            fault(&cut),
            "no message passes between redis-1 or client-1 and redis-2, redis-3 or storage for 5s"
        );
    }

    #[test]
    fn a_fault_that_takes_no_time_puts_off_the_end() {
        let pause = |id, at, duration| {
            let (node, at_us) = (Node::Client(1), SimTime(at));
            let fault = Fault::Pause { node, duration_us: Micros(duration) };
            TimedFault { id, at_us, fault }
        };
        let said = |faults: &[TimedFault]| lasting_effect(&FaultPlan::new(faults.to_vec()));
        assert_eq!(
            said(&[pause(1, 1_000, 500), pause(2, 9_000, 0)]).unwrap(),
            "Fault 2 has no duration; without it the run would count as healed before 9ms."
        );
        assert_eq!(said(&[pause(1, 1_000, 500), pause(2, 9_000, 1)]), None);
        assert_eq!(said(&[pause(1, 1_000, 50_000), pause(2, 9_000, 0)]), None, "it is not last");
        assert_eq!(said(&[pause(1, 8_000, 1_000), pause(2, 9_000, 0)]), None, "nor alone");
        let drift = |rate_ppm| {
            let (node, duration_us) = (Node::Redis(1), Micros(8_000));
            let fault = Fault::ClockDrift { node, rate_ppm, duration_us };
            said(&[TimedFault { id: 1, at_us: SimTime(1_000), fault }])
        };
        assert_eq!(
            drift(0).unwrap(),
            "Fault 1 changes no clock; without it the run would count as healed before 9ms."
        );
        assert_eq!(drift(5_000), None);
    }

    #[test]
    fn a_crash_says_whether_it_ends() {
        let crash = |down_us| fault(&Fault::Crash { node: Node::Redis(1), down_us });
        assert_eq!(crash(None), "redis-1 crashes for good");
        assert_eq!(crash(Some(Micros::from_secs(5))), "redis-1 crashes and is back after 5s");
        assert_eq!(crash(Some(Micros::ZERO)), "redis-1 crashes and is back immediately");
    }
}
