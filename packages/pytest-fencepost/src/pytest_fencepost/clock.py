"""A Redis whose clock and faults are controlled by the test."""

import shutil
import subprocess
from contextlib import contextmanager

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry


class RedisClock:
    """A served Redis, and the admin connection that controls it."""

    def __init__(self, addresses):
        self.address = addresses["master"]
        self.redis = client(self.address)
        self.admin = client(addresses["admin"])

    def __call__(self, *words):
        """Sends one admin command, such as `redis_clock("CRASH")`, and returns its reply."""
        try:
            return self.admin.execute_command(*words)
        except redis.ResponseError as error:
            raise redis.ResponseError(str(error)) from None  # hides the frames of redis-py

    def advance(self, span):
        """Moves all clocks by a span such as "10s". Keys have expired when it returns."""
        return self("CLOCK", "ADVANCE", span)


def client(address):
    """Returns a client that sends each command once, so that a test sees each lost reply."""
    host, port = address.rsplit(":", 1)
    return redis.Redis(host, int(port), decode_responses=True, retry=Retry(NoBackoff(), 0))


@contextmanager
def served(fencepost, *options):
    """Runs `fencepost serve --clock manual` on free ports. Raises RuntimeError if it fails.

    The servers end with this process, even if the process is killed.
    """
    if shutil.which(fencepost) is None:
        raise RuntimeError(f"fencepost '{fencepost}': program not found: pip install fencepost")
    command = [fencepost, "serve", "--clock", "manual", "--port", "0", "--end-with-stdin", *options]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, encoding="utf-8", **pipes) as server:
        ready = server.stdout.readline().split()
        if not ready:
            raise RuntimeError(f"fencepost serve: {server.stderr.read().strip() or 'it ended'}")
        try:
            yield RedisClock(dict(word.split("=", 1) for word in ready[1:]))
        finally:
            server.terminate()
