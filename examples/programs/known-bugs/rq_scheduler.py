# rq's scheduler of two queues, one of them its own: see docs/known-bugs.md.
import os
import time

import redis
from rq.scheduler import RQScheduler

lock_server = redis.Redis.from_url(os.environ["FENCEPOST_REDIS"])
storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
# The lock of a queue is rq:scheduler-lock: and its name, and stands for interval + 60 seconds.
shared = os.environ["FENCEPOST_LOCK"].removeprefix("rq:scheduler-lock:")
own = "own-" + os.environ["FENCEPOST_PROCESS"]

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    judge.execute_command("ACQUIRING", "orders")
    for attempt in range(200):
        scheduler = RQScheduler([shared, own], lock_server, interval=1, logging_level="ERROR")
        acquired = shared in scheduler.acquire_locks()
        if acquired:
            break
        scheduler.stop()
        time.sleep(0.15)
    if not acquired:
        judge.execute_command("REFUSED", "orders")
        continue
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 2000)
    scheduler.heartbeat()
    time.sleep(hold_ms / 2000)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    scheduler.stop()
    judge.execute_command("RELEASED", "orders")
