use super::exhibit::{Exhibit, Fixed, Run};
use crate::diagnosis::Target;
use fencepost_reports::{Cause, Kind};

const SESSION: [&str; 5] = [
    "Open a session. Each KeepAlive that the master answers extends it by 12 s, or by the ttl if \
     that is longer, up to 60 s.",
    "Acquire the lock with a lock-delay of up to a minute, and wait for the event that says it is \
     granted.",
    "Read the guarded value, work on it, write it back.",
    "Release: the lock is free immediately.",
    "If the session ends first, the cell grants the lock to no one until the lock-delay has \
     passed.",
];
const BURROWS: &str = "Burrows, *The Chubby lock service for loosely-coupled distributed systems*, \
                       OSDI 2006, sections 2.4 and 2.8. The cell is modelled after the paper.";
const LATE: &[(&str, &str)] = &[("pause", "85s..100s")];
const LONG_CUT: &[(&str, &str)] = &[
    ("processes", "2"),
    ("cycles", "4"),
    ("ttl", "90s"),
    ("hold", "160s..170s"),
    ("think", "1s..2s"),
    ("acquire-timeout", "400s"),
    ("partition", "150s..170s"),
    ("struck-servers", "5"),
    ("fault-window", "10s..600s"),
];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "chubby-session",
        title: "A Chubby session that ends during a pause",
        question: "A Chubby client asks for no lock-delay. What happens if it is paused for longer \
                   than its session lasts?",
        protocol: SESSION,
        run: Run { client: "chubby-no-delay", fault: "pause", seed: 5 },
        settings: &[],
        target: Target { kind: Kind::LostUpdate, cause: Cause::SessionExpired },
        remedy: "Ask for a lock-delay that is longer than any pause. Chubby allows at most one \
                 minute.",
        fixed: Some(Fixed { client: "chubby", settings: &[], kind: Kind::LostUpdate }),
        source: BURROWS,
    },
    Exhibit {
        name: "chubby-lock-delay",
        title: "A write that arrives after the lock-delay",
        question: "For a minute after a holder fails, Chubby grants its lock to no one. Is a write \
                   that arrives later safe?",
        protocol: SESSION,
        run: Run { client: "chubby", fault: "pause", seed: 2 },
        settings: LATE,
        target: Target { kind: Kind::LostUpdate, cause: Cause::SessionExpired },
        remedy: "Pass the lock's sequencer to the storage, which rejects older sequencers. A \
                 sequencer contains a number that grows with each grant.",
        fixed: Some(Fixed { client: "chubby-sequencer", settings: LATE, kind: Kind::LostUpdate }),
        source: BURROWS,
    },
    Exhibit {
        name: "chubby-jeopardy",
        title: "A client that works on beyond the grace period",
        question: "A client loses its cell. Its session is in jeopardy, and 45 s later the client \
                   must assume that it has ended. What if the application works on?",
        protocol: SESSION,
        run: Run { client: "chubby", fault: "partition", seed: 2 },
        settings: LONG_CUT,
        target: Target { kind: Kind::LostUpdate, cause: Cause::SessionExpired },
        remedy: "Stop working when the library reports that the session is in jeopardy.",
        fixed: Some(Fixed { client: "chubby-checked", settings: LONG_CUT, kind: Kind::LostUpdate }),
        source: BURROWS,
    },
];
