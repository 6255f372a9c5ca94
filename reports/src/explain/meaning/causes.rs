//! The causes.

use super::Meaning;
use crate::explain::cause::Cause;

/// What this cause means.
pub fn of_cause(cause: Cause) -> Meaning {
    match cause {
        Cause::HolderPause => HOLDER_PAUSE,
        Cause::HoldTooLong => HOLD_TOO_LONG,
        Cause::MissedRenewal => MISSED_RENEWAL,
        Cause::OrphanRenewal => ORPHAN_RENEWAL,
        Cause::AsyncReplicationLoss => ASYNC_REPLICATION_LOSS,
        Cause::SplitBrain => SPLIT_BRAIN,
        Cause::RestartWithoutDelay => RESTART_WITHOUT_DELAY,
        Cause::RestartDataLoss => RESTART_DATA_LOSS,
        Cause::UnorderedTokens => UNORDERED_TOKENS,
        Cause::ClockJump => CLOCK_JUMP,
        Cause::ClockDrift => CLOCK_DRIFT,
        Cause::CoarseExpiry => COARSE_EXPIRY,
        Cause::Eviction => EVICTION,
        Cause::Flush => FLUSH,
        Cause::ForeignRelease => FOREIGN_RELEASE,
        Cause::StaleTakeover => STALE_TAKEOVER,
        Cause::EarlyRelease => EARLY_RELEASE,
        Cause::LostReply => LOST_REPLY,
        Cause::LostRelease => LOST_RELEASE,
        Cause::StorageDelay => STORAGE_DELAY,
        Cause::Latency => LATENCY,
        Cause::HolderCrash => HOLDER_CRASH,
        Cause::WaiterCrash => WAITER_CRASH,
        Cause::Interleaving => INTERLEAVING,
        Cause::MissedWakeup => MISSED_WAKEUP,
        Cause::LostPlace => LOST_PLACE,
        Cause::SharedOwner => SHARED_OWNER,
        Cause::SessionExpired => SESSION_EXPIRED,
        Cause::StaleRead => STALE_READ,
        Cause::OrphanNode => ORPHAN_NODE,
        Cause::LostWatch => LOST_WATCH,
        Cause::ClockSkew => CLOCK_SKEW,
        Cause::SharedClientId => SHARED_CLIENT_ID,
        Cause::ConnectionLost => CONNECTION_LOST,
        Cause::FailoverForgets => FAILOVER_FORGETS,
        Cause::ExpiredWaiter => EXPIRED_WAITER,
        Cause::ServerOutage => SERVER_OUTAGE,
        Cause::Partition => PARTITION,
        Cause::OldValue => OLD_VALUE,
        Cause::Unexplained => UNEXPLAINED,
    }
}

const HOLDER_PAUSE: Meaning = Meaning {
    what: "The holder's host stood still while its lease ran out.",
    how: "Garbage collection, a suspended virtual machine, a stopped container, or a stall of \
          the disk: the process cannot tell, and goes on as if it still held the lock.",
    helps: "Fencing tokens that the storage checks. A longer lease only makes it rarer; looking \
            at the clock before a write does not help, because the pause can come after the \
            look.",
};

const HOLD_TOO_LONG: Meaning = Meaning {
    what: "The holder worked longer than its lease, without any fault.",
    how: "The lease was chosen for the usual case, and the lock does not renew it.",
    helps: "Renew the lease while working, bound the work, or choose a lease above the longest \
            work. Fencing tokens keep the rest from doing damage.",
};

const MISSED_RENEWAL: Meaning = Meaning {
    what: "The lock renews its lease by itself, and no renewal reached the server in time.",
    how: "The renewing thread stood still with its process, the network was cut, or the server \
          was away.",
    helps: "Stop working when a renewal fails, and use fencing tokens: the process may learn of \
            it too late.",
};

const ORPHAN_RENEWAL: Meaning = Meaning {
    what: "A process that does not hold the lock goes on renewing it.",
    how: "An acquire that failed or was abandoned left its renewal running.",
    helps: "Start the renewal only after the lock was granted, and stop it on every path out.",
};

const ASYNC_REPLICATION_LOSS: Meaning = Meaning {
    what: "The server that granted the lock again had never received it, or had discarded it in \
           a resynchronisation.",
    how: "Replication is asynchronous: the primary answers before its replicas have the write, \
          and a failover promotes one of them.",
    helps: "WAIT after the grant makes it rarer, and no more. Use independent masters with a \
            majority, or fencing tokens from a store that does not lose them.",
};

const SPLIT_BRAIN: Meaning = Meaning {
    what: "Two servers acted as primary at once, and each of them granted the lock.",
    how: "A primary that was cut off keeps taking writes until it learns that a replica was \
          promoted.",
    helps: "min-replicas-to-write with a small min-replicas-max-lag bounds for how long. \
            Fencing tokens must come from a store that cannot split.",
};

const RESTART_WITHOUT_DELAY: Meaning = Meaning {
    what: "A server came back without what it had granted, and granted it again within the \
           lease.",
    how: "It keeps nothing on a disk, or writes its file only every second.",
    helps: "Keep a restarted server away for longer than the longest lease. On Redis: appendfsync \
            always; on memcached: there is nothing that would keep them.",
};

const RESTART_DATA_LOSS: Meaning = Meaning {
    what: "A server came back without the counter that gives out fencing tokens.",
    how: "It keeps nothing on a disk, or writes its file only every second.",
    helps: "Take tokens from a store that does not lose them. On Redis: appendfsync always for the \
            server that holds the counter; on memcached: there is nothing that would keep it.",
};

const UNORDERED_TOKENS: Meaning = Meaning {
    what: "The tokens come from servers that share no counter, so their order says nothing.",
    how: "Random owner values, or a counter on each of several masters, were used as fencing \
          tokens.",
    helps: "Take tokens from one counter that is never lost.",
};

const CLOCK_JUMP: Meaning = Meaning {
    what: "A clock was stepped.",
    how: "A step forward, by an operator or by a time server that corrects a large error, ends \
          leases early. On Redis: keys expire by the wall clock; memcached goes by a clock that is \
          not stepped.",
    helps: "Let time servers slew clocks in place of stepping them. Fencing tokens keep the \
            rest from doing damage.",
};

const CLOCK_DRIFT: Meaning = Meaning {
    what: "A clock ran at the wrong rate.",
    how: "The server's clock ran fast, so that the lease ended before its holder expected.",
    helps: "Leave a margin for drift in the validity, as Redlock does, above the worst drift of \
            your clocks.",
};

const EVICTION: Meaning = Meaning {
    what: "A server evicted the lock to free memory.",
    how: "Its memory was full, and it makes room by dropping keys.",
    helps: "No cache on the server that holds locks. On Redis: maxmemory-policy noeviction; on \
            memcached: -M, with which it answers an error in place of evicting.",
};

const FLUSH: Meaning = Meaning {
    what: "An operator flushed a server.",
    how: "One command removes all locks and counters: FLUSHALL or FLUSHDB on Redis, flush_all on \
          memcached.",
    helps: "Keep locks on a server of their own, and disable the command there. On Redis: by an \
            ACL; on memcached: -F.",
};

const FOREIGN_RELEASE: Meaning = Meaning {
    what: "Another process removed the lock.",
    how: "A release deletes the key without comparing its value, or compares and deletes in two \
          commands.",
    helps: "A random value for each acquisition, and a release by a script that compares and \
            deletes at once.",
};

const STALE_TAKEOVER: Meaning = Meaning {
    what: "A process that was asking for the lock removed the one that stood.",
    how: "It took it for stale: it compared a time in the value with its own clock, or two waiters \
          took over the same stale lock. Or it cleans up after an attempt that was refused, and \
          removes what is not its own.",
    helps: "Let the server expire the key. A takeover must compare and replace in one command.",
};

const EARLY_RELEASE: Meaning = Meaning {
    what: "The holder's own command removed the lock while the holder was still in its section.",
    how: "A nested release, or a release by another thread of the same process.",
    helps: "Count nested acquisitions at the server, and give each thread an owner value of its \
            own.",
};

const LOST_REPLY: Meaning = Meaning {
    what: "A command was applied, and its sender never heard of it.",
    how: "The connection broke between the command and its answer; the client sent it again, or \
          gave up.",
    helps: "Make commands safe to repeat: a process that finds its own value holds the lock.",
};

const LOST_RELEASE: Meaning = Meaning {
    what: "A release never arrived, or arrived when the lock had changed hands.",
    how: "The network was cut or slow, or the process died before it sent the release.",
    helps: "An expiry frees the lock in the end. A release must compare the owner's value, so \
            that a late one does nothing.",
};

const STORAGE_DELAY: Meaning = Meaning {
    what: "A write was still on its way to the storage when the lock changed hands, or the holder \
           waited for the storage until its lease was over.",
    how: "The holder sent it in time; a slow network or a retry delivered it after the lease \
          had ended.",
    helps: "Only the storage can refuse a late write: fencing tokens. No check at the client \
            helps. A storage timeout well below the lease ends the waiting, not the write.",
};

const LATENCY: Meaning = Meaning {
    what: "The answer of a server was so late that most of the lease was over.",
    how: "The client counts its lease from the answer in place of the request.",
    helps: "Count the validity from the moment before the request was sent, as Redlock does.",
};

const HOLDER_CRASH: Meaning = Meaning {
    what: "The holder died, and nothing freed its lock.",
    how: "The key has no expiry, or a long one, or the process died between the command that takes \
          the lock and the one that sets its expiry.",
    helps: "Take the lock and set its expiry in one command. On Redis: SET key value NX PX ttl; on \
            memcached: add with an expiry.",
};

const COARSE_EXPIRY: Meaning = Meaning {
    what: "The server counts leases in whole seconds, and this one ended up to a second early.",
    how: "memcached reads its clock once a second, and a lease of ten seconds ends at the tenth \
          reading: after nine to ten seconds.",
    helps: "Ask for one second more than the lease shall last.",
};

const WAITER_CRASH: Meaning = Meaning {
    what: "A process that waited for the lock died, and its place in the queue was kept for it.",
    how: "A fair queue gives the lock to its head, whoever that is.",
    helps: "Let places in the queue expire.",
};

const MISSED_WAKEUP: Meaning = Meaning {
    what: "The lock became free, and nothing woke a process that waited for it.",
    how: "The message came before the process listened, went to another, or was never sent: Redis \
          delivers what is published at most once, and an expiry is told to nobody who has not \
          asked for that.",
    helps: "Ask again after subscribing, and wait for no longer than a lease.",
};

const LOST_PLACE: Meaning = Meaning {
    what: "A lock that serves its waiters in order did not keep the place of one.",
    how: "Newcomers do not look at the queue, or a place was taken off it for one who lives.",
    helps: "Decide who is next in the same script that grants the lock.",
};

const INTERLEAVING: Meaning = Meaning {
    what: "The steps of two processes interleaved in an order that the protocol does not \
           survive.",
    how: "The protocol needs several commands where it needs one: a check and an act, a read \
          and a write.",
    helps: "One command, one script, or a transaction that watches what it read.",
};

const SHARED_OWNER: Meaning = Meaning {
    what: "Threads of one process have the same owner value, and a server took one for the \
           other.",
    how: "The value names the process or the host and not the acquisition.",
    helps: "A random value for each acquisition, or one for each thread.",
};

const SESSION_EXPIRED: Meaning = Meaning {
    what: "The session of the holder ended (in etcd, the lease that it kept alive), and its node or \
           key went, while the holder was in its section.",
    how: "The servers had not heard of the holder for the timeout of its session: its process \
          stood still, or the network was cut. The client learns of it only from a server. Or the \
          client had given the session up by itself and begun another one, as Curator does when it \
          was without a server for as long, and went on with the node of the first.",
    helps: "Show the storage the czxid of the node, or the create revision of the key, as a \
            fencing token. Leaving the section when the connection is suspended, or the session \
            done, helps against a cut network, not against a process that stands still.",
};

const EXPIRED_WAITER: Meaning = Meaning {
    what: "A process that waited for the lock was granted it though its lease had ended, and its \
           key had gone from the queue.",
    how: "Whoever grants the lock waits until nobody is in front, and does not look whether the \
          key that waited is still there: etcd's server-side lock and the mutex of its Go client \
          up to 3.4 (etcd issue 11456, found by Jepsen in 3.4.3).",
    helps: "etcd 3.5, which looks for the key. A lease can end right after that look: against this, \
            and against a holder that stands still, show the storage the create revision of the key \
            as a fencing token.",
};

const SERVER_OUTAGE: Meaning = Meaning {
    what: "A server was down or stood still, and meanwhile nobody was granted the lock.",
    how: "Another server has to take its place, or its clients have to notice and go elsewhere: \
          Sentinels and followers wait for a timeout first.",
    helps: "A shorter timeout, at the price of needless failovers; independent masters, of which \
            a minority may fail; clients that ask again soon.",
};

const PARTITION: Meaning = Meaning {
    what: "Messages to or between servers were held up, and meanwhile nobody was granted the lock.",
    how: "A network was cut, or slow. Whoever is on the side of the minority cannot have the lock \
          without risking that another has it too.",
    helps: "Nothing in the lock. Let callers give up in time, and do without the lock what can be \
            done without it.",
};

const STALE_READ: Meaning = Meaning {
    what: "A server that was behind told a process that it holds the lock.",
    how: "A follower answers reads from what it knows, which may be less than what the leader \
          has decided.",
    helps: "A sync before the read, or a fencing token that the storage checks.",
};

const OLD_VALUE: Meaning = Meaning {
    what: "A process that had the lock to itself computed what it wrote from an older value.",
    how: "It had read the value before it had the lock, or took the reply to an earlier read for \
          that to a later one. The lock has no part in it.",
    helps: "Read under the lock, on a connection with nothing left over from before; or let the \
            storage compare (a version, a conditional write).",
};

const ORPHAN_NODE: Meaning = Meaning {
    what: "A node that no process knows of is the first of the queue.",
    how: "The reply to the create was lost, and the client created a second node: without looking \
          for the first one, or because the server that it asked was behind. The first one lives \
          as long as the session, which goes on.",
    helps: "A name that the client chooses and looks for before it creates again (Curator's \
            protection mode), at a server that has been told to come level (sync).",
};

const LOST_WATCH: Meaning = Meaning {
    what: "The node of a process that waits is the first of the queue, and nothing tells the \
           process.",
    how: "A watch fires once, at the server where it was set. A client that changes its server \
          and does not set its watches again misses what happens meanwhile.",
    helps: "Set watches again after each reconnect, as the Java client does unless told not to; \
            look at the queue again when the connection comes back; wait with a timeout.",
};

const CLOCK_SKEW: Meaning = Meaning {
    what: "The clocks of two processes differed, and one took a lock that was not expired.",
    how: "The lock is a row with a time in it that its holder wrote by its own clock, and that \
          every other process compares with its own: a fast clock finds it expired too early, and \
          the row of a slow one is.",
    helps: "Let the database write and compare the time. On ShedLock: usingDbTime(). A ttl that is \
            long against the error of the clocks makes it rarer.",
};

const SHARED_CLIENT_ID: Meaning = Meaning {
    what: "Processes have one client id, and one found the lock of another its own.",
    how: "The client id was set to the name of the application, or of the host, and not left to be \
          drawn; the statement that takes the lock lets in whoever has the id in the row.",
    helps: "An id that no other process has: a random one for each start, as is the library's \
            default.",
};

const CONNECTION_LOST: Meaning = Meaning {
    what: "The connection on which a process had the lock, or waited for it, ended without a word to \
           the process.",
    how: "A lock of a session or of a transaction lasts as long as its connection. That ends when \
          the server restarts, when the server ends an idle transaction, or when the network or a \
          proxy drops it. Nobody tells the process: one that works sends nothing, and one that waits \
          in the queue of a server that lost power waits for an answer until its own timeout.",
    helps: "Write to what the lock guards on the same connection, in the transaction that has the \
            lock: then the write fails with it. Otherwise fencing tokens that the storage checks. For \
            those who wait, keepalives, or short waits that begin again.",
};

const FAILOVER_FORGETS: Meaning = Meaning {
    what: "A failover made another server the primary, and what a connection has is not replicated.",
    how: "A primary keeps advisory locks and locks of rows in its memory: they are no data, and no \
          replica gets them, be it synchronous. The server that is promoted has none of them and \
          grants the lock to the next who asks, while the holder goes on.",
    helps: "Keep the lock in a row that a synchronous replica has before the commit is answered. Or \
            write to what the lock guards on the same connection, in the transaction that has the \
            lock: then the write fails with it. Otherwise fencing tokens that the storage checks.",
};

const UNEXPLAINED: Meaning = Meaning {
    what: "The recorded events do not decide why.",
    how: "fencepost has rules for the causes above and never guesses.",
    helps: "Look at the evidence with --verbose or in the page, and please report the seed: a \
            rule is missing.",
};
