# The Mutex of kombu, Celery's transport, as the lock under test: see docs/own-programs.md.
import sys
from os.path import dirname

sys.path.insert(0, f"{dirname(__file__)}/known-bugs")
from harness import connect, cycles, env, polled, ttl  # noqa: E402
from kombu.transport.redis import Mutex, MutexHeld  # noqa: E402

server, held = connect("REDIS"), []


def acquire():
    mutex = Mutex(server, env("LOCK"), ttl)
    try:
        mutex.__enter__()
    except MutexHeld:
        return False
    held.append(mutex)
    return True


cycles(lambda: polled(acquire), lambda: held.pop().__exit__(None, None, None))
