"""The simulated world as seen by one of its processes."""

import os
import time
from contextlib import contextmanager
from functools import cached_property

import redis
from redis.exceptions import LockError
from redis.sentinel import Sentinel

RESOURCE = "orders"
POLL_SECONDS = 0.1


class NotAcquired(Exception):
    """The section was skipped: `acquire()` raised an error."""


class World:
    """One process of the simulated world. fencepost describes it in environment variables."""

    def __init__(self, environment=os.environ):
        self._environment = environment
        self.key = environment["FENCEPOST_LOCK"]
        self.ttl = int(environment["FENCEPOST_TTL_MS"]) / 1000
        self.process = int(environment["FENCEPOST_PROCESS"])
        self.seed = int(environment["FENCEPOST_SEED"])
        self._judge = redis.Redis.from_url(environment["FENCEPOST_JUDGE"])
        self._storage = redis.Redis.from_url(environment["FENCEPOST_STORAGE"])

    @cached_property
    def redis(self):
        """Returns a client of the server or, with Sentinels, of the current primary."""
        if "FENCEPOST_SENTINELS" not in self._environment:
            return redis.Redis.from_url(self._environment["FENCEPOST_REDIS"])
        names = self._environment["FENCEPOST_SENTINELS"].split(",")
        sentinels = [(host, int(port)) for host, port in (name.rsplit(":", 1) for name in names)]
        master = self._environment["FENCEPOST_MASTER_NAME"]
        return Sentinel(sentinels, socket_timeout=1).master_for(master)

    @cached_property
    def masters(self):
        """Returns clients of the independent masters."""
        count = int(self._environment.get("FENCEPOST_MASTERS", 0))
        names = (f"FENCEPOST_REDIS_{index}" for index in range(1, count + 1))
        return [redis.Redis.from_url(self._environment[name]) for name in names]

    @contextmanager
    def section(self, lock, token=None, lost=(LockError,)):
        """A critical section guarded by `lock`, which has `acquire()` and `release()`.

        `token()` returns the fencing token of the acquired lock, for the storage. `lost` are the
        exceptions by which `release()` reports that the lock was no longer held. After any other
        exception, it is unknown whether the lock was released.
        """
        hold_seconds, fence = self._acquire(lock, token)
        value = int(self._storage.execute_command("GET", RESOURCE, *fence) or 0)
        started = time.monotonic()
        try:
            yield
            time.sleep(max(0.0, hold_seconds - (time.monotonic() - started)))
            self._storage.execute_command("SET", RESOURCE, value + 1, *fence)
        finally:
            self._release(lock, lost)

    def _acquire(self, lock, token):
        self._tell("ACQUIRING")
        try:
            while not lock.acquire():
                time.sleep(POLL_SECONDS)
        except Exception as error:
            self._tell("UNKNOWN", describe(error))
            time.sleep(POLL_SECONDS)
            raise NotAcquired from error
        fence = [] if token is None else [token()]
        return self._tell("ACQUIRED", *fence) / 1000, fence

    def _release(self, lock, lost):
        self._tell("RELEASING")
        try:
            if lock.release() is False:
                self._tell("LOST")
        except lost:
            self._tell("LOST")
        except Exception as error:
            self._tell("UNKNOWN", describe(error))
        self._tell("RELEASED")

    def _tell(self, command, *arguments):
        return self._judge.execute_command(command, RESOURCE, *arguments)


def describe(error):
    """Returns the error in one line, for the report."""
    return f"{type(error).__name__}: {error}".splitlines()[0]
