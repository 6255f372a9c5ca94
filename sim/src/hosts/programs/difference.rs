//! Finds the earliest call in which two runs with the same seed differ.

use super::record::Life;
use fencepost_programs::CallMade;
use std::fmt;

/// Compares the programs and servers of two runs. Names the earliest call that differs.
pub fn first_difference(one: &[&Life], other: &[&Life]) -> Option<String> {
    if one.len() != other.len() {
        return Some(format!(
            "{} starts of programs and servers in one run, {} in the other",
            one.len(),
            other.len()
        ));
    }
    let pairs = one.iter().zip(other);
    let differences = pairs.filter_map(|(one, other)| Difference::of(one, other));
    differences.min_by_key(Difference::monotonic_us).map(|earliest| earliest.to_string())
}

/// The first call at which two executions of a program differ.
struct Difference<'l> {
    life: &'l Life,
    place: usize,
    /// The call in either run; `None` if the life has fewer calls.
    calls: [Option<&'l CallMade>; 2],
}

impl<'l> Difference<'l> {
    fn of(one: &'l Life, other: &'l Life) -> Option<Difference<'l>> {
        let most = one.calls.len().max(other.calls.len());
        let calls = |place| [one.calls.get(place), other.calls.get(place)];
        let differs = |place: &usize| {
            let [here, there] = calls(*place);
            here != there
        };
        let place = (0..most).find(differs)?;
        Some(Difference { life: one, place, calls: calls(place) })
    }

    fn monotonic_us(&self) -> Option<u64> {
        self.calls.iter().flatten().map(|call| call.monotonic_us).min()
    }
}

impl fmt::Display for Difference<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { life, place, calls } = self;
        let [here, there] = calls.map(in_words);
        let (node, started_us) = (life.node, life.started.0);
        write!(
            out,
            "call {place} of {node} (started at {started_us} us): {here} in one run, {there} in \
             the other"
        )
    }
}

fn in_words(call: Option<&CallMade>) -> String {
    let Some(call) = call else { return "no further call".to_owned() };
    let name = fencepost_programs::name_of_call(call.number);
    let bytes = match call.bytes {
        0 => String::new(),
        bytes => format!(" of bytes with the checksum {bytes:08x}"),
    };
    let reads = match call.clock_reads {
        0 => String::new(),
        reads => format!(" after {reads} clock readings"),
    };
    let (result, thread, at) = (call.result, call.thread, call.monotonic_us);
    format!("{name} = {result} in thread {thread} at {at} us{bytes}{reads}")
}

#[cfg(test)]
mod tests {
    use super::super::record::ProgramLives;
    use super::*;
    use fencepost_faults::{Node, SimTime};

    const READ: u16 = 0;
    const WRITE: u16 = 1;

    fn life(node: Node, calls: &[(u16, i64, u64)]) -> Life {
        let call = |(number, result, monotonic_us): &(u16, i64, u64)| CallMade {
            thread: 1,
            number: *number,
            result: *result,
            bytes: 0,
            clock_reads: 0,
            monotonic_us: *monotonic_us,
        };
        let lives = ProgramLives::default();
        lives.begins(node, SimTime(5));
        lives.with(0, |life| life.calls = calls.iter().map(call).collect());
        lives.take().remove(0)
    }

    #[test]
    fn the_earliest_difference_of_all_programs_and_servers_is_named() {
        let program = |result| life(Node::Client(1), &[(READ, 1, 10), (WRITE, result, 40)]);
        let server = |result| life(Node::Server(1), &[(READ, 2, 20), (WRITE, result, 30)]);
        let told =
            |one: [Life; 2], other: [Life; 2]| first_difference(&one.each_ref(), &other.each_ref());
        assert_eq!(told([program(7), server(7)], [program(7), server(7)]), None);
        assert_eq!(
            told([program(7), server(7)], [program(8), server(8)]).as_deref(),
            Some(
                "call 1 of server-1 (started at 5 us): write = 7 in thread 1 at 30 us in one run, \
                 write = 8 in thread 1 at 30 us in the other"
            )
        );
        let told = told([program(7), server(7)], [program(8), server(7)]).expect("a difference");
        assert!(told.starts_with("call 1 of client-1 "), "{told}");
    }

    #[test]
    fn a_run_that_ends_before_the_other_differs_in_its_next_call() {
        let short = life(Node::Client(1), &[(READ, 1, 10)]);
        let long = life(Node::Client(1), &[(READ, 1, 10), (READ, 1, 20)]);
        let expected = Some(
            "call 1 of client-1 (started at 5 us): no further call in one run, read = 1 in thread \
             1 at 20 us in the other",
        );
        assert_eq!(first_difference(&[&short], &[&long]).as_deref(), expected);
        let starts = first_difference(&[&short], &[&short, &long]);
        assert_eq!(
            starts.as_deref(),
            Some("1 starts of programs and servers in one run, 2 in the other")
        );
    }
}
