# redis-py's Lock class: see docs/known-bugs.md.
import os
import time

import redis
import redis.lock

connect = redis.StrictRedis.from_url
lock_server = connect(os.environ["FENCEPOST_REDIS"], socket_timeout=1)
storage = connect(os.environ["FENCEPOST_STORAGE"], socket_timeout=5)
judge = connect(os.environ["FENCEPOST_JUDGE"])
name = os.environ["FENCEPOST_LOCK"]
ttl = int(os.environ["FENCEPOST_TTL_MS"]) / 1000.0

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    lock = redis.lock.Lock(lock_server, name, timeout=ttl, blocking_timeout=30)
    judge.execute_command("ACQUIRING", "orders")
    try:
        acquired = lock.acquire()
    except redis.exceptions.RedisError:
        acquired = False
    if not acquired:
        judge.execute_command("REFUSED", "orders")
        time.sleep(0.1)
        continue
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    try:
        value = int(storage.get("orders") or 0)
        time.sleep(hold_ms / 1000.0)
        storage.set("orders", value + 1)
    except redis.exceptions.RedisError:
        pass
    judge.execute_command("RELEASING", "orders")
    try:
        lock.release()
    except redis.exceptions.RedisError:
        judge.execute_command("LOST", "orders")
    judge.execute_command("RELEASED", "orders")
