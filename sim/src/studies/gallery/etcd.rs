//! Exhibits of locks on etcd.

use super::exhibit::{Exhibit, Fixed};
use fencepost_reports::{Cause, Kind};

const MUTEX: [&str; 5] = [
    "A lease is granted, and kept alive every third of its ttl.",
    "One transaction: put the key `<name>/<lease>`, and read which key below `<name>/` was created \
     first: whose it is has the lock.",
    "Else wait until the key that was created before the own one is deleted; again until there is \
     none.",
    "Read the guarded value, work, write it back.",
    "Release: delete the key, revoke the lease. The leader ends a lease that is not kept alive.",
];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "etcd-lease",
        title: "A lease that ends in a pause",
        question: "etcd agrees on every change by raft. Is its lock safe when the holder stands \
         still?",
        protocol: MUTEX,
        client: "etcd-mutex",
        fault: "pause",
        settings: &[],
        seed: 2,
        kind: Kind::LostUpdate,
        cause: Cause::SessionExpired,
        remedy: "Fencing tokens, which the storage checks: the revision that created the key is \
         one.",
        fixed: Some(Fixed { client: "etcd-mutex-fencing", settings: &[], kind: Kind::LostUpdate }),
        source: "Jepsen, *etcd 3.4.3* (2020), and the etcd documentation on locks.",
    },
    Exhibit {
        name: "etcd-expired-waiter",
        title: "A waiter whose lease has ended",
        question: "Who waits for a lock keeps its place by a key with a lease. What if the lease \
         ends first?",
        protocol: MUTEX,
        client: "etcd-lock-api",
        fault: "pause",
        settings: &[
            ("processes", "4"),
            ("ttl", "4s"),
            ("hold", "3s..4s"),
            ("acquire-timeout", "40s"),
            ("cycles", "5"),
        ],
        seed: 0,
        kind: Kind::Overlap,
        cause: Cause::ExpiredWaiter,
        remedy: "etcd 3.5, whose server looks whether the key is still there before it grants the \
         lock. It was never fixed in 3.4.",
        fixed: None,
        source: "Jepsen, *etcd 3.4.3* (2020); etcd issue 11456.",
    },
];
