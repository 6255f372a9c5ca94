# A lock of `add` on memcached through pymemcache, as fencepost runs it: see docs/own-programs.md.
import os
import time
import uuid

import redis
from pymemcache.client.base import Client

storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
name, ttl = os.environ["FENCEPOST_LOCK"], int(os.environ["FENCEPOST_TTL_MS"]) // 1000
memcached = Client(os.environ["FENCEPOST_MEMCACHED"], connect_timeout=5, timeout=5)

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    owner = uuid.uuid4().hex.encode()
    judge.execute_command("ACQUIRING", "orders")
    acquired = False
    while not acquired:
        try:
            acquired = memcached.add(name, owner, expire=ttl, noreply=False)
        except Exception:  # an add whose answer was lost may have been carried out
            pass
        if not acquired:
            time.sleep(0.1)
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 1000)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    try:
        found, version = memcached.gets(name)
        # An item that is replaced by one with a past expiry is gone.
        if found != owner or not memcached.cas(name, b"", version, expire=-1):
            judge.execute_command("LOST", "orders")
    except Exception:
        judge.execute_command("UNKNOWN", "orders")
    judge.execute_command("RELEASED", "orders")
