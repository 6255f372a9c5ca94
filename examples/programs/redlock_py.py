# redlock-py over independent masters, as fencepost runs it: see docs/own-programs.md.
import os
import time

import redis
from redlock import MultipleRedlockException, Redlock

masters = int(os.environ["FENCEPOST_MASTERS"])
urls = [os.environ[f"FENCEPOST_REDIS_{number + 1}"] for number in range(masters)]
tries = int(os.environ.get("TRIES", 100))
manager = Redlock([redis.Redis.from_url(url, socket_timeout=1) for url in urls], tries)
storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
ttl_ms = int(os.environ["FENCEPOST_TTL_MS"])

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    judge.execute_command("ACQUIRING", "orders")
    try:
        lock = manager.lock(os.environ["FENCEPOST_LOCK"], ttl_ms)
    except MultipleRedlockException as error:
        # It had a quorum, but a master did not answer. It keeps what it has and does not say so.
        judge.execute_command("UNKNOWN", "orders", str(error))
        time.sleep(0.1)
        continue
    if not lock:
        judge.execute_command("REFUSED", "orders")
        time.sleep(0.1)
        continue
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 1000)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    manager.unlock(lock)
    judge.execute_command("RELEASED", "orders")
