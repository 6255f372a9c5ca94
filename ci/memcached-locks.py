"""Tests locks that people write with pymemcache, on 127.0.0.1 at the port of the first argument."""

import sys
import threading
import time
import uuid

from pymemcache.client.base import Client, PooledClient
from pymemcache.client.retrying import RetryingClient

ADDRESS = ("127.0.0.1", int(sys.argv[1]))


def client():
    return Client(ADDRESS, timeout=5, connect_timeout=5)


def check(what, is_so):
    if not is_so:
        sys.exit(f"pymemcache: {what}")


def add_and_delete():
    one, other = client(), client()
    check("add takes a free lock", one.add("lock:a", "one", expire=10, noreply=False))
    check("add refuses a taken one", not other.add("lock:a", "other", expire=10, noreply=False))
    check("delete frees it", one.delete("lock:a", noreply=False))
    check("then add takes it", other.add("lock:a", "other", expire=10, noreply=False))
    check("delete looks at no owner", one.delete("lock:a", noreply=False))
    check("nothing is left", other.get("lock:a") is None)


def gets_and_cas():
    one, other = client(), client()
    check("add", one.add("lock:b", "one", expire=10, noreply=False))
    value, number = one.gets("lock:b")
    check("gets shows value and number", value == b"one" and number is not None)
    check("cas to an expired value frees it", one.cas("lock:b", b"", number, expire=-1, noreply=False) is True)
    check("it is gone", one.gets("lock:b")[0] is None)
    check("another takes it", other.add("lock:b", "other", expire=10, noreply=False))
    check("the old number frees nothing", one.cas("lock:b", b"", number, expire=-1, noreply=False) is False)
    check("it is still there", other.get("lock:b") == b"other")
    later = other.gets("lock:b")[1]
    check("later grants have greater numbers", int(later) > int(number))


def expiry():
    one, other = client(), client()
    check("add for a second", one.add("lock:c", "one", expire=1, noreply=False))
    deadline = time.monotonic() + 5
    while not other.add("lock:c", "other", expire=10, noreply=False):
        check("a lease of a second ends", time.monotonic() < deadline)
        time.sleep(0.05)


def the_rest():
    one = client()
    check("many keys", one.set_many({"m:1": "1", "m:2": "2"}, noreply=False) == [])
    check("get_many", one.get_many(["m:1", "m:2", "m:3"]) == {"m:1": b"1", "m:2": b"2"})
    check("incr", one.incr("m:1", 41) == 42)
    check("decr stops at zero", one.decr("m:2", 5) == 0)
    check("touch", one.touch("m:1", expire=100, noreply=False))
    check("append", one.append("m:1", "0", noreply=False) and one.get("m:1") == b"420")
    check("version", one.version().startswith(b"1.6"))
    check("stats", b"curr_items" in one.stats())
    check("a large value", one.set("m:large", b"x" * 500_000, noreply=False) and len(one.get("m:large")) == 500_000)
    retrying = RetryingClient(client(), attempts=2)
    check("a retrying client", retrying.set("m:r", "r", noreply=False) and retrying.get("m:r") == b"r")
    check("flush_all", one.flush_all(noreply=False) and one.get("m:1") is None)


def many_at_once():
    pool, counted, rounds = PooledClient(ADDRESS, max_pool_size=8, timeout=5), {"value": 0}, 30

    def work():
        me = uuid.uuid4().hex
        for _ in range(rounds):
            while not pool.add("lock:d", me, expire=30, noreply=False):
                time.sleep(0.001)
            seen = counted["value"]
            time.sleep(0)
            counted["value"] = seen + 1
            value, number = pool.gets("lock:d")
            check("the lock is one's own", value == me.encode())
            check("it is given back", pool.cas("lock:d", b"", number, expire=-1, noreply=False) is True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("no update is lost", counted["value"] == 4 * rounds)


for idiom in (add_and_delete, gets_and_cas, expiry, the_rest, many_at_once):
    client().flush_all(noreply=False)
    idiom()
