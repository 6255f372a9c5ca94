"""A Redis whose clock and faults are controlled by the test."""

import shutil
import subprocess
from contextlib import contextmanager

import redis


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
    host, port = address.rsplit(":", 1)
    return redis.Redis(host, int(port), decode_responses=True)


@contextmanager
def served(fencepost, *options):
    """Runs `fencepost serve --clock manual` on free ports. Raises RuntimeError if it fails."""
    if shutil.which(fencepost) is None:
        raise RuntimeError(f"fencepost '{fencepost}': program not found: pip install fencepost")
    command = [fencepost, "serve", "--clock", "manual", "--port", "0", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    with subprocess.Popen(command, **pipes) as server:
        ready = server.stdout.readline().split()
        if not ready:
            raise RuntimeError(f"fencepost serve: {server.stderr.read().strip() or 'it ended'}")
        try:
            yield RedisClock(dict(word.split("=", 1) for word in ready[1:]))
        finally:
            server.terminate()
