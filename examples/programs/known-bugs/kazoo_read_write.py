# kazoo's read and write locks on ZooKeeper: see docs/known-bugs.md.
import os

from harness import cycles, env, process, ttl
from kazoo.client import KazooClient

zookeeper = KazooClient(hosts=env("ZOOKEEPER"), timeout=ttl)
zookeeper.start(timeout=60)
kind = zookeeper.ReadLock if process == 2 else zookeeper.WriteLock
lock = kind("/" + env("LOCK"))
cycles(lock.acquire, lock.release)
os._exit(0)
