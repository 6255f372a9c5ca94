"""The workers of examples/programs that ci/own-programs.py and ci/models.py run."""

import hashlib
import os
import sys
import uuid

FOLDER = sys.argv[2]
EXAMPLES = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "examples", "programs"))
INDEPENDENT = ["--deployment", "independent"]
NODE = ["--env", f"NODE_PATH={FOLDER}/node_modules"]


def hashed(name):
    return hashlib.md5(name.encode()).digest()


def python(file):
    return f"{FOLDER}/python/bin/python3 {EXAMPLES}/{file}"


def node(file):
    return f"node {EXAMPLES}/{file}"


def java(jars, name):
    return f"java -XX:TieredStopAtLevel=1 -cp {FOLDER}/jars/{jars}/*:{FOLDER}/jars/{jars} {name}"


def on(coordinator):
    return ["--coordinator", coordinator]


# Spring hashes the name of the lock.
SPRING = on("postgresql") + ["--lock-key", str(uuid.UUID(bytes=hashed("orders"), version=3))]

# The command of each worker, the file that is there if it could be built, and its options.
WORKERS = {
    "redis-py": (python("redis_py.py"), []),
    "redis-py-asyncio": (python("redis_py_asyncio.py"), []),
    "python-redis-lock": (python("python_redis_lock.py"), []),
    "redlock-py-1": (python("redlock_py.py"), INDEPENDENT),
    "dramatiq": (python("dramatiq_mutex.py"), []),
    "aioredlock": (f"{FOLDER}/aioredlock/bin/python3 {EXAMPLES}/aioredlock_masters.py", INDEPENDENT),
    "pottery": (python("pottery_redlock.py"), INDEPENDENT + ["--lock-key", "redlock:orders"]),
    "ioredis": (node("ioredis.js"), NODE),
    "node-redlock-4": (node("redlock4.js"), NODE + INDEPENDENT),
    "node-redlock-5": (node("redlock5.js"), NODE + INDEPENDENT),
    "redis-semaphore": (node("redis_semaphore.js"), NODE + ["--lock-key", "mutex:orders"]),
    "rslock": (f"{FOLDER}/rslock/release/rslock-worker", INDEPENDENT),
    "redigo": (f"{FOLDER}/bin/redigo", []),
    "redsync-go": (f"{FOLDER}/bin/redsync", INDEPENDENT),
    "redis-rb": (f"ruby {EXAMPLES}/redis_rb.rb", []),
    "symfony-lock": (f"php {EXAMPLES}/symfony_lock.php", []),
    "plain-java": (f"java -cp {FOLDER}/bin Plain", []),
    "redis-cli": (f"{EXAMPLES}/redis_cli.sh", []),
    "plain-c": (f"{FOLDER}/bin/plain-c", []),
    "plain-rust": (f"{FOLDER}/bin/plain-rust", []),
    "kazoo": (python("kazoo_lock.py"), on("zookeeper")),
    "curator-mutex": (java("curator", "Curator"), on("zookeeper")),
    "curator-semaphore": (java("curator", "Curator") + " semaphore", on("zookeeper")),
    "pg8000": (python("pg8000_advisory.py"), on("postgresql")),
    "psycopg": (python("psycopg_for_update.py"), on("postgresql")),
    "node-pg": (node("pg_advisory.js"), NODE + on("postgresql")),
    "spring-jdbc-5": (java("spring-jdbc-5", "SpringJdbc"), SPRING),
    "spring-jdbc-6": (java("spring-jdbc-6", "SpringJdbc"), SPRING),
    "spring-redis": (java("spring-redis", "SpringRedis"), ["--lock-key", "lock:orders"]),
    "shedlock": (java("shedlock", "ShedLockJdbc"), on("postgresql")),
    "pymysql": (python("pymysql_get_lock.py"), on("mysql")),
    "pymysql-rows": (python("pymysql_for_update.py"), on("mysql")),
    "mysql2": (node("mysql2.js"), NODE + on("mysql")),
    "etcd3gw": (python("etcd3gw_lock.py"), on("etcd")),
    "pymemcache": (python("pymemcache_add.py"), on("memcached")),
    "npm-memcached": (node("memcached_add.js"), NODE + on("memcached")),
}
