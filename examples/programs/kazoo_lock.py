# kazoo's Lock on ZooKeeper, as fencepost runs it: see docs/own-programs.md.
import os
import time

import redis
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, LockTimeout

storage = redis.Redis.from_url(os.environ["FENCEPOST_STORAGE"])
judge = redis.Redis.from_url(os.environ["FENCEPOST_JUDGE"])
ttl = int(os.environ["FENCEPOST_TTL_MS"]) / 1000
zookeeper = KazooClient(hosts=os.environ["FENCEPOST_ZOOKEEPER"], timeout=ttl)
zookeeper.start(timeout=60)

for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    lock = zookeeper.Lock("/" + os.environ["FENCEPOST_LOCK"], os.environ["FENCEPOST_PROCESS"])
    judge.execute_command("ACQUIRING", "orders")
    try:
        if not lock.acquire(timeout=60):
            judge.execute_command("REFUSED", "orders")
            continue
    except LockTimeout:
        judge.execute_command("REFUSED", "orders")
        continue
    except KazooException as error:
        judge.execute_command("UNKNOWN", "orders", repr(error))
        time.sleep(0.1)
        continue
    hold_ms = judge.execute_command("ACQUIRED", "orders")
    value = int(storage.get("orders") or 0)
    time.sleep(hold_ms / 1000)
    storage.set("orders", value + 1)
    judge.execute_command("RELEASING", "orders")
    try:
        if not lock.release():
            judge.execute_command("LOST", "orders")
    except KazooException:
        judge.execute_command("UNKNOWN", "orders")
    judge.execute_command("RELEASED", "orders")
zookeeper.stop()
