# What the workers in Python share: judge, storage and cycles. See docs/known-bugs.md.
import os
import time

import redis


def env(name):
    return os.environ["FENCEPOST_" + name]


def connect(name, **options):
    return redis.StrictRedis.from_url(env(name), **options)


judge, storage = connect("JUDGE"), connect("STORAGE")
ttl = int(env("TTL_MS")) / 1000.0
process = int(env("PROCESS"))


def say(word, *more):
    return judge.execute_command(word, "orders", *more)


def polled(acquire, pause=0.1):
    while not acquire():
        time.sleep(pause)
    return True


# Each cycle takes the lock, changes the guarded value, and gives the lock back.
def cycles(acquire, release, lost=()):
    for _ in range(int(env("CYCLES"))):
        say("ACQUIRING")
        try:
            word = None if acquire() else "REFUSED"
        except Exception as error:
            print(repr(error), flush=True)
            word = "UNKNOWN"
        if word:
            say(word)
            time.sleep(0.1)
            continue
        hold_ms = say("ACQUIRED")
        value = int(storage.get("orders") or 0)
        time.sleep(hold_ms / 1000.0)
        storage.set("orders", value + 1)
        say("RELEASING")
        try:
            release()
        except Exception as error:
            print(repr(error), flush=True)
            say("LOST" if isinstance(error, lost) else "UNKNOWN")
        say("RELEASED")
