"""Tests unmodified redis-py, python-redis-lock, redlock-py and pottery against `fencepost serve`.

    fencepost serve --port 7000 --nodes 5 &
    pip install redis python-redis-lock redlock-py pottery
    python ci/python-locks.py 7000

pottery uses the servers at five consecutive ports, beginning with the given port. The other
libraries use only the server at the given port.
"""

import sys
import time

import redis
import redis_lock
import redlock
from pottery import Redlock, synchronize
from pottery.exceptions import ReleaseUnlockedLock

PORT = int(sys.argv[1])
CLIENT = redis.Redis(port=PORT)


def redis_py():
    lock = CLIENT.lock("redis-py", timeout=5)
    assert lock.acquire(blocking=False)
    assert not CLIENT.lock("redis-py", timeout=5).acquire(blocking=False)
    assert lock.extend(5) and lock.reacquire() and lock.locked() and lock.owned()
    lock.release()
    assert not lock.locked()
    short = CLIENT.lock("redis-py", timeout=0.05)
    assert short.acquire(blocking=False)
    time.sleep(0.1)
    try:
        short.release()
        raise AssertionError("an expired lock was released")
    except redis.exceptions.LockError:
        pass


def python_redis_lock():
    first = redis_lock.Lock(CLIENT, "python-redis-lock", expire=5)
    second = redis_lock.Lock(CLIENT, "python-redis-lock", expire=5)
    assert first.acquire(blocking=False)
    assert not second.acquire(blocking=False)
    first.extend(9)
    first.release()
    assert second.acquire(timeout=1)
    second.release()


def redlock_py():
    manager = redlock.Redlock([{"host": "127.0.0.1", "port": PORT, "db": 0}])
    lock = manager.lock("redlock-py", 1000)
    assert lock and not manager.lock("redlock-py", 1000)
    manager.unlock(lock)
    assert manager.lock("redlock-py", 1000)


def pottery():
    masters = {redis.Redis(port=PORT + index) for index in range(5)}
    for master in masters:
        master.flushall()
    first = Redlock(key="pottery", masters=masters, auto_release_time=5)
    second = Redlock(key="pottery", masters=masters, auto_release_time=5)
    assert first.acquire(blocking=False)
    assert not second.acquire(blocking=False)
    assert first.locked() > 0
    first.extend()
    first.release()
    assert second.acquire(blocking=False)
    second.release()
    try:
        second.release()
        raise AssertionError("a lock was released twice")
    except ReleaseUnlockedLock:
        pass

    @synchronize(key="pottery-function", masters=masters, auto_release_time=5, blocking=True, timeout=1)
    def guarded():
        return "done"

    assert guarded() == "done"


CLIENT.flushall()
for use in (redis_py, python_redis_lock, redlock_py, pottery):
    use()
    print(use.__name__, "ok")
