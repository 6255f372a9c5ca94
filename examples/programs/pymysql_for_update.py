# SELECT ... FOR UPDATE on MySQL through PyMySQL, as fencepost runs it: see docs/own-programs.md.
import os
import time
from urllib.parse import urlparse

import pymysql
import redis

storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
url, name = urlparse(os.environ["FENCEPOST_MYSQL"]), os.environ["FENCEPOST_LOCK"]
database = None

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    judge.execute_command("ACQUIRING", "orders")
    try:
        if database is None:
            database = pymysql.connect(
                host=url.hostname, port=url.port, user=url.username, database=url.path[1:], read_timeout=90
            )
        database.cursor().execute("SELECT name FROM locks WHERE name = %s FOR UPDATE", (name,))
    except pymysql.MySQLError as error:
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
        database.commit()
    except pymysql.MySQLError:
        judge.execute_command("UNKNOWN", "orders")
        database = None
    judge.execute_command("RELEASED", "orders")
