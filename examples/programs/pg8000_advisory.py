# An advisory lock of PostgreSQL through pg8000, as fencepost runs it: see docs/own-programs.md.
import os
import time
from urllib.parse import urlparse

import pg8000.native
import redis

storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
url, number = urlparse(os.environ["FENCEPOST_POSTGRESQL_1"]), int(os.environ["FENCEPOST_LOCK_NUMBER"])
database = None

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    judge.execute_command("ACQUIRING", "orders")
    try:
        if database is None:
            database = pg8000.native.Connection(url.username, host=url.hostname, port=url.port, timeout=30)
        database.run("SELECT pg_advisory_lock(:number)", number=number)
    except Exception as error:
        # The connection's end frees what it may have taken.
        judge.execute_command("UNKNOWN", "orders", repr(error))
        database = None
        time.sleep(0.5)
        continue
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 1000)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    try:
        if database.run("SELECT pg_advisory_unlock(:number)", number=number) != [[True]]:
            judge.execute_command("LOST", "orders")
    except Exception:
        judge.execute_command("UNKNOWN", "orders")
        database = None
    judge.execute_command("RELEASED", "orders")
