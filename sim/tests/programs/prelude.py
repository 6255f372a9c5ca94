"""What the workers of cases.rs share: RESP over one connection, and the words for the judge."""
import os
import socket
import time
from urllib.parse import urlparse


def env(name, default=None):
    return os.environ.get("FENCEPOST_" + name, default)


class Lost(Exception):
    """The connection broke or timed out: the command may have been carried out."""


class Server:
    def __init__(self, url, timeout=None):
        self.url, self.timeout, self.stream = urlparse(url), timeout, None

    def __call__(self, *words):
        words = [str(word).encode() for word in words]
        request = b"*%d\r\n" % len(words)
        request += b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        try:
            if self.stream is None:
                place = (self.url.hostname, self.url.port)
                self.stream = socket.create_connection(place, self.timeout).makefile("rwb")
            self.stream.write(request)
            self.stream.flush()
            return self.reply()
        except OSError as error:
            self.stream = None
            raise Lost(str(error)) from error

    def reply(self):
        line = self.stream.readline()
        if not line:
            raise ConnectionResetError("closed")
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise ValueError(rest)
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == "-1" else self.stream.read(int(rest) + 2)[:-2].decode()
        return rest


KEY, ME, TTL = env("LOCK"), env("PROCESS"), int(env("TTL_MS"))
CYCLES, MASTERS = int(env("CYCLES")), int(env("MASTERS", "0"))
say, store = Server(env("JUDGE")), Server(env("STORAGE"))
redis = Server(env("REDIS", "redis://nowhere:1"), 1)
COMPARE_AND_DELETE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"


def option(name):
    return os.environ.get(name)


def take(key=KEY, value=ME, ttl_ms=TTL, pause=0.1):
    """Polls until the key is its own."""
    while not redis("SET", key, value, "NX", "PX", ttl_ms):
        time.sleep(pause)


def work(ms, renew=None, every_ms=None):
    """Reads, works, writes; renews meanwhile."""
    value = int(store("GET", "orders"))
    while ms > 0:
        step = min(ms, every_ms or ms)
        time.sleep(step / 1000)
        ms -= step
        if renew and ms > 0:
            renew()
    store("SET", "orders", value + 1)
