# dramatiq's mutex, a rate limiter of one, as fencepost runs it: see docs/own-programs.md.
import os
import time

import redis
from dramatiq.rate_limits import ConcurrentRateLimiter
from dramatiq.rate_limits.backends import RedisBackend
from redis.sentinel import Sentinel

storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
lock_server = redis.Redis.from_url(os.environ["FENCEPOST_REDIS"])
if sentinels := os.environ.get("FENCEPOST_SENTINELS"):
    addresses = [address.split(":") for address in sentinels.split(",")]
    lock_server = Sentinel(addresses).master_for(os.environ["FENCEPOST_MASTER_NAME"])
backend = RedisBackend(client=lock_server)
ttl_ms = int(os.environ["FENCEPOST_TTL_MS"])
mutex = ConcurrentRateLimiter(backend, os.environ["FENCEPOST_LOCK"], limit=1, ttl=ttl_ms)
entered = False


def in_turn():
    global entered
    with mutex.acquire(raise_on_failure=False) as entered:
        if not entered:
            return False
        hold_ms = judge.execute_command("ACQUIRED", "orders")
        value = int(storage.get("orders") or 0)
        time.sleep(hold_ms / 1000)
        storage.set("orders", value + 1)
        judge.execute_command("RELEASING", "orders")
    return True


for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    judge.execute_command("ACQUIRING", "orders")
    entered = False
    try:
        while not in_turn():
            time.sleep(0.1)
    except redis.RedisError as error:
        judge.execute_command("UNKNOWN", "orders", str(error))
    if entered:
        judge.execute_command("RELEASED", "orders")
