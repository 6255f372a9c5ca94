# GET_LOCK of MySQL through PyMySQL, as fencepost runs it: see docs/own-programs.md.
import os
import time
from urllib.parse import urlparse

import pymysql
import redis

storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
url, name = urlparse(os.environ["FENCEPOST_MYSQL"]), os.environ["FENCEPOST_LOCK"]
cursor = None

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    judge.execute_command("ACQUIRING", "orders")
    try:
        if cursor is None:
            cursor = pymysql.connect(host=url.hostname, port=url.port, user=url.username, read_timeout=90).cursor()
        cursor.execute("SELECT GET_LOCK(%s, 60)", (name,))
    except pymysql.MySQLError as error:
        # The connection's end frees what it may have taken.
        judge.execute_command("UNKNOWN", "orders", repr(error))
        cursor = time.sleep(0.5)
        continue
    if cursor.fetchone() != (1,):
        judge.execute_command("REFUSED", "orders")
        continue
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 1000)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    try:
        cursor.execute("SELECT RELEASE_LOCK(%s)", (name,))
        if cursor.fetchone() != (1,):
            judge.execute_command("LOST", "orders")
    except pymysql.MySQLError:
        judge.execute_command("UNKNOWN", "orders")
        cursor = None
    judge.execute_command("RELEASED", "orders")
