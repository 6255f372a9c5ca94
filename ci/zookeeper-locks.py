"""Tests the lock recipes of an unmodified kazoo on the ZooKeeper servers of the first argument
(HOST:PORT,...)."""

import logging
import signal
import subprocess
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, LockTimeout, NoNodeError, NotEmptyError, RolledBackError

logging.disable(logging.CRITICAL)
HOSTS = sys.argv[1].split(",")
clients = []


def client(hosts=None, timeout=4.0, **more):
    one = KazooClient(hosts=hosts or ",".join(HOSTS), timeout=timeout, **more)
    one.start(timeout=30)
    clients.append(one)
    return one


def check(what, is_so):
    if not is_so:
        sys.exit(f"kazoo: {what}")


def mutex():
    one, other = client(), client()
    first, second = one.Lock("/mutex", "one"), other.Lock("/mutex", "other")
    check("a free lock is granted", first.acquire(timeout=10))
    check("a taken one is refused", not second.acquire(blocking=False))
    check("the holder is named", other.Lock("/mutex").contenders() == ["one"])
    try:
        second.acquire(timeout=0.3)
        check("who waits in vain is told so", False)
    except LockTimeout:
        pass
    first.release()
    check("what was released is granted", second.acquire(timeout=10))
    check("and belongs to the other", second.is_acquired and not first.is_acquired)
    second.release()


def order():
    holder, granted, threads = client().Lock("/order", "0"), [], []
    holder.acquire()

    def contend(number):
        lock = client().Lock("/order", str(number))
        with lock:
            granted.append(number)

    for number in range(1, 5):
        threads.append(threading.Thread(target=contend, args=(number,)))
        threads[-1].start()
        deadline = time.monotonic() + 20
        while len(holder.contenders()) <= number:
            check("a contender queues", time.monotonic() < deadline)
            time.sleep(0.01)
    holder.release()
    for thread in threads:
        thread.join()
    check(f"who came first is first: {granted}", granted == [1, 2, 3, 4])


def read_and_write():
    one, other, writer = client(), client(), client()
    first, second = one.ReadLock("/shared"), other.ReadLock("/shared")
    check("one reader", first.acquire(timeout=10))
    check("and another", second.acquire(timeout=10))
    write = writer.WriteLock("/shared")
    check("no writer meanwhile", not write.acquire(blocking=False))
    first.release()
    second.release()
    check("a writer afterwards", write.acquire(timeout=10))
    check("no reader meanwhile", not first.acquire(blocking=False))
    write.release()


def semaphore():
    leases = [client().Semaphore("/semaphore", str(number), max_leases=2) for number in range(3)]
    check("the first lease", leases[0].acquire())
    check("the second", leases[1].acquire())
    check("no third", not leases[2].acquire(blocking=False))
    check("both are named", sorted(leases[2].lease_holders()) == ["0", "1"])
    leases[0].release()
    check("a free one is granted", leases[2].acquire(timeout=10))
    leases[1].release()
    leases[2].release()


def a_process_that_dies():
    """The session of a killed process lasts for its timeout. Then the lock is free."""
    text = (
        "import sys, time; from kazoo.client import KazooClient; one = KazooClient(sys.argv[1], timeout=4.0); one.start(30);"
        "one.Lock('/death', 'victim').acquire(); print('held', flush=True); time.sleep(600)"
    )
    victim = subprocess.Popen([sys.executable, "-c", text, ",".join(HOSTS)], stdout=subprocess.PIPE)
    check("it holds the lock", victim.stdout.readline() == b"held\n")
    lock = client().Lock("/death", "heir")
    check("nobody else does", not lock.acquire(blocking=False))
    victim.kill()
    victim.wait()
    died = time.monotonic()
    check("its lock passes on", lock.acquire(timeout=30))
    waited = time.monotonic() - died
    check(f"after its session's timeout, not at once: {waited:.1f} s", 2 < waited < 15)
    lock.release()


def a_process_that_stands_still():
    """The session of a stopped process ends and another process enters. The first still believes it
    holds the lock."""
    text = (
        "import sys; from kazoo.client import KazooClient; one = KazooClient(sys.argv[1], timeout=4.0); one.start(30);"
        "lock = one.Lock('/pause', 'sleeper'); lock.acquire(); print('held', flush=True); sys.stdin.readline();"
        "print(lock.is_acquired, flush=True)"
    )
    sleeper = subprocess.Popen([sys.executable, "-c", text, ",".join(HOSTS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check("it holds the lock", sleeper.stdout.readline() == b"held\n")
    sleeper.send_signal(signal.SIGSTOP)
    lock = client().Lock("/pause", "heir")
    check("its lock passes on", lock.acquire(timeout=30))
    sleeper.send_signal(signal.SIGCONT)
    sleeper.stdin.write(b"\n")
    sleeper.stdin.flush()
    check("it believes that it still holds it", sleeper.stdout.readline() == b"True\n")
    check("and so does the other one, rightly", lock.is_acquired and lock.contenders() == ["heir"])
    sleeper.kill()
    sleeper.wait()
    lock.release()


def a_session_that_moves():
    one = client(HOSTS[0], timeout=20.0)
    one.create("/moving", b"x", ephemeral=True)
    number, password = one.client_id
    other = client(HOSTS[-1], timeout=20.0, client_id=(number, password))
    check("the session is the same", other.client_id[0] == number)
    check("and so are its nodes", other.exists("/moving").ephemeralOwner == number)
    other.stop()


def the_rest():
    one, other, seen = client(HOSTS[0]), client(HOSTS[-1]), threading.Event()
    one.ensure_path("/rest/deep/deeper")
    other.sync("/rest")
    check("children", other.get_children("/rest") == ["deep"])
    other.get("/rest", watch=lambda event: seen.set() if event.type == "CHANGED" else None)
    one.set("/rest", b"data")
    check("a watch at another server fires", seen.wait(10))
    other.sync("/rest")
    check("data", other.get("/rest")[0] == b"data")
    for wrong, error in [
        (lambda: one.set("/rest", b"", version=7), BadVersionError),
        (lambda: one.delete("/rest/deep"), NotEmptyError),
        (lambda: one.get("/nothing"), NoNodeError),
    ]:
        try:
            wrong()
            check(f"{error.__name__} is raised", False)
        except error:
            pass
    names = [one.create("/rest/s-", sequence=True)[-10:] for _ in range(3)]
    check("sequences count", [int(name) - int(names[0]) for name in names] == [0, 1, 2])
    transaction = one.transaction()
    transaction.create("/rest/t", b"1")
    transaction.check("/rest", version=99)
    check("all or nothing", isinstance(transaction.commit()[0], RolledBackError) and not one.exists("/rest/t"))
    transaction = one.transaction()
    transaction.create("/rest/t", b"1")
    transaction.set_data("/rest/t", b"2")
    check("all", transaction.commit()[0] == "/rest/t" and one.get("/rest/t")[0] == b"2")
    counter = one.Counter("/rest/counter")
    counter += 2
    counter += 3
    check("a counter", counter.value == 5)
    check("a large value", one.create("/rest/large", b"x" * 500_000) and len(one.get("/rest/large")[0]) == 500_000)
    one.delete("/rest", recursive=True)
    check("all is gone", not one.exists("/rest"))


def many_at_once():
    counted, rounds = {"value": 0}, 15

    def work():
        lock = client().Lock("/many")
        for _ in range(rounds):
            with lock:
                seen = counted["value"]
                time.sleep(0)
                counted["value"] = seen + 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("no update is lost", counted["value"] == 4 * rounds)


for recipe in (mutex, order, read_and_write, semaphore, a_process_that_dies, a_process_that_stands_still, a_session_that_moves, the_rest, many_at_once):
    recipe()
    for one in clients:
        one.stop()
        one.close()
    clients.clear()
