# huey's lock_task as the lock under test: see docs/own-programs.md.
import sys
from os.path import dirname

sys.path.insert(0, f"{dirname(__file__)}/known-bugs")
from harness import cycles, env, polled  # noqa: E402
from huey import RedisHuey  # noqa: E402
from huey.exceptions import TaskLockedException  # noqa: E402

huey = RedisHuey("huey", url=env("REDIS"))
lock = huey.lock_task("orders")


def acquire():
    try:
        lock.__enter__()
    except TaskLockedException:
        return False
    return True


cycles(lambda: polled(acquire), lambda: lock.__exit__(None, None, None))
