# celery-once's Redis backend: see docs/known-bugs.md.
from celery_once import AlreadyQueued
from celery_once.backends.redis import Redis
from harness import cycles, env, polled, ttl

name = env("LOCK")
backend = Redis({"url": env("REDIS")})


def queued():
    try:
        backend.raise_or_lock(name, int(ttl))
        return True
    except AlreadyQueued:
        return False


cycles(lambda: polled(queued), lambda: backend.clear_lock(name))
