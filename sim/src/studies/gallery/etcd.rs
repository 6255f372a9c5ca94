use super::exhibit::{Exhibit, Fixed, Run};
use crate::diagnosis::Target;
use fencepost_reports::{Cause, Kind};

const MUTEX: [&str; 5] = [
    "Create a lease, and send keep-alives at intervals of a third of its ttl.",
    "In one transaction, put the key `<name>/<lease>` and look up the oldest key under `<name>/`. \
     The owner of that key has the lock.",
    "Otherwise, wait until the next older key is deleted, and repeat until no older key is left.",
    "Read the guarded value, work on it, write it back.",
    "Release: delete the key and revoke the lease. The leader ends a lease that is not kept alive.",
];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "etcd-lease",
        title: "A lease that ends during a pause",
        question: "etcd replicates every change through Raft. Is its lock safe when the holder is \
                   paused?",
        protocol: MUTEX,
        run: Run { client: "etcd-mutex", fault: "pause", seed: 2 },
        settings: &[],
        target: Target { kind: Kind::LostUpdate, cause: Cause::SessionExpired },
        remedy: "Use fencing tokens that the storage checks, such as the revision that created the \
                 key.",
        fixed: Some(Fixed { client: "etcd-mutex-fencing", settings: &[], kind: Kind::LostUpdate }),
        source: "Jepsen, *etcd 3.4.3* (2020), and the etcd documentation on locks.",
    },
    Exhibit {
        name: "etcd-expired-waiter",
        title: "A waiter whose lease has ended",
        question: "A waiter keeps its place in the queue with a key that has a lease. What if the \
                   lease ends first?",
        protocol: MUTEX,
        run: Run { client: "etcd-lock-api", fault: "pause", seed: 0 },
        settings: &[
            ("processes", "4"),
            ("ttl", "4s"),
            ("hold", "3s..4s"),
            ("acquire-timeout", "40s"),
            ("cycles", "5"),
        ],
        target: Target { kind: Kind::Overlap, cause: Cause::ExpiredWaiter },
        remedy: "Use etcd 3.5, whose server checks that the key still exists before it grants the \
                 lock. etcd 3.4 never received the fix.",
        fixed: None,
        source: "Jepsen, *etcd 3.4.3* (2020); etcd issue 11456.",
    },
];
