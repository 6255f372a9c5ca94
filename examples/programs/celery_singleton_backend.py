# celery-singleton's lock as the lock under test: see docs/own-programs.md.
import sys
from os.path import dirname

sys.path.insert(0, f"{dirname(__file__)}/known-bugs")
from celery_singleton.backends.redis import RedisBackend  # noqa: E402
from harness import cycles, env, polled, ttl  # noqa: E402

name = env("LOCK")
backend = RedisBackend(env("REDIS"))
cycles(
    lambda: polled(lambda: backend.lock(name, env("PROCESS"), int(ttl))),
    lambda: backend.unlock(name),
)
