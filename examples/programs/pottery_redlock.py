# pottery's Redlock over independent masters, as fencepost runs it: see docs/own-programs.md.
import os
import time

import redis
from pottery import QuorumNotAchieved, Redlock, ReleaseUnlockedLock

masters = int(os.environ["FENCEPOST_MASTERS"])
urls = [os.environ[f"FENCEPOST_REDIS_{number + 1}"] for number in range(masters)]
servers = {redis.Redis.from_url(url, socket_timeout=1) for url in urls}
storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
# Its key is redlock: and the name.
name = os.environ["FENCEPOST_LOCK"].removeprefix("redlock:")
ttl = int(os.environ["FENCEPOST_TTL_MS"]) / 1000

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    lock = Redlock(key=name, masters=servers, auto_release_time=ttl)
    judge.execute_command("ACQUIRING", "orders")
    try:
        acquired = lock.acquire(timeout=30)
    except QuorumNotAchieved:
        acquired = False
    if not acquired:
        judge.execute_command("REFUSED", "orders")
        continue
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 1000)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    try:
        lock.release()
    except ReleaseUnlockedLock:
        judge.execute_command("LOST", "orders")
    judge.execute_command("RELEASED", "orders")
