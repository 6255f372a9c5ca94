# Beaker's RedisSynchronizer: see docs/known-bugs.md.
import os
import time

import redis
from beaker.ext.redisnm import RedisSynchronizer

connect = redis.StrictRedis.from_url
lock_server = connect(os.environ["FENCEPOST_REDIS"], socket_timeout=1)
storage = connect(os.environ["FENCEPOST_STORAGE"], socket_timeout=5)
judge = connect(os.environ["FENCEPOST_JUDGE"])
RedisSynchronizer.LOCK_EXPIRATION = int(os.environ["FENCEPOST_TTL_MS"]) // 1000
# Its key is beaker_lock: and the name; its owner is the machine, the process and the thread.
name = os.environ["FENCEPOST_LOCK"].removeprefix("beaker_lock:")
RedisSynchronizer.MACHINE_ID = "machine-" + os.environ["FENCEPOST_PROCESS"]
lock = RedisSynchronizer(name, lock_server)

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    judge.execute_command("ACQUIRING", "orders")
    acquired = False
    for attempt in range(200):
        try:
            acquired = lock.do_acquire_write_lock(False)
        except redis.exceptions.RedisError:
            pass
        if acquired:
            break
        time.sleep(0.15)
    if not acquired:
        judge.execute_command("REFUSED", "orders")
        continue
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    time.sleep(hold_ms / 1000)
    judge.execute_command("RELEASING", "orders")
    try:
        lock.do_release_write_lock()
    except redis.exceptions.RedisError:
        judge.execute_command("LOST", "orders")
    judge.execute_command("RELEASED", "orders")
