# The lock of etcd3gw (etcd's JSON gateway), as fencepost runs it: see docs/own-programs.md.
import os
import time
from urllib.parse import urlparse

import redis
from etcd3gw.client import Etcd3Client

storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
members = os.environ["FENCEPOST_ETCD"].split(",")
place = int(os.environ["FENCEPOST_PROCESS"])
ttl = int(os.environ["FENCEPOST_TTL_MS"]) // 1000

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    judge.execute_command("ACQUIRING", "orders")
    acquired = False
    while not acquired:
        url = urlparse(members[place % len(members)])
        etcd = Etcd3Client(host=url.hostname, port=url.port, timeout=5)
        lock = etcd.lock(os.environ["FENCEPOST_LOCK"], ttl=ttl)
        try:
            acquired = lock.acquire()
        except Exception:  # another member may answer; what was taken ends with its lease
            place += 1
        if not acquired:
            time.sleep(0.25)
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 1000)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    try:
        if not lock.release():
            judge.execute_command("LOST", "orders")
    except Exception:
        judge.execute_command("UNKNOWN", "orders")
    judge.execute_command("RELEASED", "orders")
