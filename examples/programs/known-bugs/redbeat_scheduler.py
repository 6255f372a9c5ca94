# celery-redbeat's scheduler, whose ticks extend its lock: see docs/known-bugs.md.
import os
import time

import redis
from celery import Celery
from redbeat.schedulers import RedBeatScheduler, acquire_distributed_beat_lock

storage = redis.StrictRedis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.StrictRedis.from_url(os.environ["FENCEPOST_JUDGE"])
app = Celery("beat", broker=os.environ["FENCEPOST_REDIS"])
app.conf.redbeat_redis_url = os.environ["FENCEPOST_REDIS"]
app.conf.redbeat_lock_key = os.environ["FENCEPOST_LOCK"]
app.conf.redbeat_lock_timeout = int(os.environ["FENCEPOST_TTL_MS"]) // 1000
app.conf.beat_max_loop_interval = 1


class Service:
    scheduler = RedBeatScheduler(app, lazy=True)


for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    judge.execute_command("ACQUIRING", "orders")
    acquire_distributed_beat_lock(Service)
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    try:
        for tick in range(hold_ms // 1000 + 1):
            time.sleep(hold_ms / 1000 / (hold_ms // 1000 + 1))
            Service.scheduler.tick()
        storage.set("orders", value + 1)
    except redis.exceptions.RedisError:
        judge.execute_command("LOST", "orders")
        Service.scheduler.lock = None
    judge.execute_command("RELEASING", "orders")
    try:
        Service.scheduler.close()
    except redis.exceptions.RedisError:
        judge.execute_command("LOST", "orders")
    judge.execute_command("RELEASED", "orders")
