# python-redis-lock, renewed in the background: see docs/known-bugs.md.
import os
import time

import redis
import redis_lock

connect = redis.StrictRedis.from_url
lock_server = connect(os.environ["FENCEPOST_REDIS"])
storage = connect(os.environ["FENCEPOST_STORAGE"])
judge = connect(os.environ["FENCEPOST_JUDGE"])
# Its key is lock: and the name.
name = os.environ["FENCEPOST_LOCK"].removeprefix("lock:")
ttl = int(os.environ["FENCEPOST_TTL_MS"]) // 1000

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    lock = redis_lock.Lock(lock_server, name, expire=ttl, auto_renewal=True)
    judge.execute_command("ACQUIRING", "orders")
    # Like that of threading.Lock it blocks until it has the lock.
    lock.acquire()
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 1000)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    try:
        lock.release()
    except redis_lock.NotAcquired:
        judge.execute_command("LOST", "orders")
    judge.execute_command("RELEASED", "orders")
