"""Tests an unmodified etcd3gw: its keys, its watches and leases, its lock, and the server's lock.

The argument is the port of a server on this computer, or the ports of several servers. Prints a
line for each unexpected result, and exits with 1 if there is one. ci/etcd-clients.sh sets it up.
"""

import random
import sys
import threading
import time

from etcd3gw.client import Etcd3Client
from etcd3gw.utils import _encode

PORTS = [int(port) for port in sys.argv[1:]]
SURPRISES = []


def client(number=0):
    return Etcd3Client(host="127.0.0.1", port=PORTS[number % len(PORTS)], timeout=20)


def expect(what, found, wanted):
    if found != wanted:
        SURPRISES.append(f"{what}: {found!r} instead of {wanted!r}")


def until_served():
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            for number in range(len(PORTS)):
                client(number).put("served", "yes")
            return
        except Exception:  # nobody leads yet
            time.sleep(0.1)
    SURPRISES.append("no server serves")


def keys():
    etcd = client()
    etcd.delete_prefix("k/")
    expect("put", etcd.put("k/a", "1"), True)
    expect("get at any member", client(1).get("k/a"), [b"1"])
    expect("replace", etcd.replace("k/a", "1", "2"), True)
    expect("replace what is not there", etcd.replace("k/a", "1", "3"), False)
    expect("create what is there", etcd.create("k/a", "4"), False)
    expect("create", etcd.create("k/b", "5"), True)
    expect("get_prefix", sorted(value for value, _ in etcd.get_prefix("k/")), [b"2", b"5"])
    expect("delete", (etcd.delete("k/b"), etcd.delete("k/b")), (True, False))
    expect("status", etcd.status()["version"], "3.4.23")
    expect("members", len(etcd.members()), len(PORTS))
    # A value that does not fit into one piece of an answer.
    long = "x" * 100_000
    etcd.put("k/long", long)
    expect("a long value", etcd.get("k/long"), [long.encode()])


def watches():
    etcd = client()
    events, cancel = etcd.watch("w", start_revision=0)
    time.sleep(0.3)
    other = client(1)
    other.put("w", "1")
    other.delete("w")
    first, second = next(events), next(events)
    expect("a watched put", first["kv"]["value"], b"1")
    expect("a watched deletion", second.get("type"), "DELETE")
    cancel()


def leases():
    etcd = client()
    lease = etcd.lease(2)
    etcd.put("l", "1", lease=lease)
    expect("the keys of a lease", [bytes(key) for key in lease.keys()], [b"l"])
    for _ in range(3):
        time.sleep(1)
        expect("a lease that is kept alive", lease.refresh(), 2)
    expect("its key", etcd.get("l"), [b"1"])
    time.sleep(4.5)
    expect("the key of a lease that has ended", etcd.get("l"), [])
    expect("a lease that has ended", lease.ttl(), -1)


def lock():
    one, other = client(0).lock("l", ttl=2), client(1).lock("l", ttl=2)
    expect("acquire", (one.acquire(), other.acquire()), (True, False))
    expect("is_acquired", (one.is_acquired(), other.is_acquired()), (True, False))
    expect("another's release", other.release(), False)
    expect("release", (one.release(), other.acquire()), (True, True))
    time.sleep(4.5)
    expect("a lock whose lease has ended", (other.is_acquired(), other.release()), (False, False))


def exclusion():
    """Threads increase a counter, which is correct only under the lock. Each uses one server."""
    counter, threads = [0], []

    def work(number):
        dice = random.Random(number)
        for _ in range(10):
            held = client(number).lock("count", ttl=20)
            while not held.acquire():
                time.sleep(0.005 + dice.random() / 50)
            seen = counter[0]
            time.sleep(0.002)
            counter[0] = seen + 1
            expect("release", held.release(), True)

    for number in range(4):
        threads.append(threading.Thread(target=work, args=(number,)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    expect("the count", counter[0], 40)


def server_side():
    """The server's own lock, called through the gateway."""
    etcd, order = client(), []
    first, second = etcd.lease(20), etcd.lease(20)

    def call(lease, which):
        got = client(which).post(
            client(which).get_url("/lock/lock"), json={"name": _encode("s"), "lease": lease.id}
        )
        order.append((which, got["key"]))

    call(first, 0)
    waiter = threading.Thread(target=call, args=(second, 1))
    waiter.start()
    time.sleep(0.5)
    expect("who waits", len(order), 1)
    # The waiter's lease ends while it waits. etcd 3.4 grants it the lock nevertheless.
    second.revoke()
    etcd.post(etcd.get_url("/lock/unlock"), json={"key": order[0][1]})
    waiter.join(10)
    expect("who is granted the lock after its own lease ended", [who for who, _ in order], [0, 1])
    expect("the key that it does not have", etcd.get_prefix("s/"), [])


until_served()
for part in (keys, watches, leases, lock, exclusion, server_side):
    try:
        part()
    except Exception as error:
        SURPRISES.append(f"{part.__name__}: {type(error).__name__}: {error}")
for surprise in SURPRISES:
    print(surprise)
sys.exit(1 if SURPRISES else 0)
