# celery-redbeat's scheduler, started as celery beat starts it: see docs/known-bugs.md.
import time

from celery import Celery
from celery.signals import beat_init
from harness import cycles, env, ttl
from redbeat.schedulers import RedBeatScheduler

app = Celery("beat", broker=env("REDIS"))
app.conf.redbeat_redis_url = env("REDIS")
app.conf.redbeat_lock_key = env("LOCK")
app.conf.redbeat_lock_timeout = int(ttl)
app.conf.beat_max_loop_interval = 1


class Service:
    scheduler = RedBeatScheduler(app, lazy=True)


def started():
    beat_init.send(sender=Service)
    Service.scheduler.tick()
    return True


cycles(started, Service.scheduler.close)
