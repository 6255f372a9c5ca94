# SELECT ... FOR UPDATE through psycopg, as fencepost runs it: see docs/own-programs.md.
import os
import time

import psycopg
import redis

storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
name = os.environ["FENCEPOST_LOCK"]
database = None

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    judge.execute_command("ACQUIRING", "orders")
    try:
        if database is None:
            database = psycopg.connect(os.environ["FENCEPOST_POSTGRESQL"], connect_timeout=30)
        database.execute("SELECT name FROM locks WHERE name = %s FOR UPDATE", (name,))
    except psycopg.Error as error:
        # The connection's end frees what it may have taken.
        judge.execute_command("UNKNOWN", "orders", str(error))
        database = database and database.close()
        time.sleep(0.5)
        continue
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 1000)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    try:
        database.commit()
    except psycopg.Error:
        judge.execute_command("UNKNOWN", "orders")
        database = database.close()
    judge.execute_command("RELEASED", "orders")
