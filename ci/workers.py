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


def celery(file):
    return f"{FOLDER}/celery/bin/python3 {EXAMPLES}/{file}"


def node(file):
    return f"node {EXAMPLES}/{file}"


def java(jars, name):
    return f"java -XX:TieredStopAtLevel=1 -cp {FOLDER}/jars/{jars}/*:{FOLDER}/jars/{jars} {name}"


def on(coordinator):
    return ["--coordinator", coordinator]


# These clients use gRPC, which the simulated etcd does not support.
ONE_REAL = ["--deployment", "single", "--servers", "real"]

# Spring uses a hash of the lock's name as the key.
SPRING = on("postgresql") + ["--lock-key", str(uuid.UUID(bytes=hashed("orders"), version=3))]

def redisson(version, kind, *options):
    return java(f"redisson-{version}", "Redisson") + f" {kind}", list(options)


# The command of each worker, and its options.
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
    "laravel-lock": (f"php {EXAMPLES}/laravel_lock.php", []),
    "malkusch-lock": (
        f"php {EXAMPLES}/malkusch_lock.php",
        INDEPENDENT + ["--lock-key", "lock_orders"],
    ),
    "plain-java": (f"java -cp {FOLDER}/bin Plain", []),
    "redis-cli": (f"{EXAMPLES}/redis_cli.sh", []),
    "plain-c": (f"{FOLDER}/bin/plain-c", []),
    "plain-rust": (f"{FOLDER}/bin/plain-rust", []),
    "kazoo": (python("kazoo_lock.py"), on("zookeeper")),
    "curator-mutex": (java("curator", "Curator"), on("zookeeper")),
    "curator-semaphore": (java("curator", "Curator") + " semaphore", on("zookeeper")),
    "curator-suspended": (java("curator", "CuratorUses") + " suspended", on("zookeeper")),
    "curator-fencing": (java("curator", "CuratorUses") + " fencing", on("zookeeper")),
    "pg8000": (python("pg8000_advisory.py"), on("postgresql")),
    "psycopg": (python("psycopg_for_update.py"), on("postgresql")),
    "node-pg": (node("pg_advisory.js"), NODE + on("postgresql")),
    "spring-jdbc-4": (java("spring-jdbc-4", "SpringJdbcVersions"), SPRING),
    "spring-jdbc-5": (java("spring-jdbc-5", "SpringJdbc"), SPRING),
    "spring-jdbc-6": (java("spring-jdbc-6", "SpringJdbc"), SPRING),
    "spring-jdbc-7": (java("spring-jdbc-7", "SpringJdbcVersions"), SPRING),
    "spring-redis": (java("spring-redis", "SpringRedis"), ["--lock-key", "lock:orders"]),
    "spring-redis-5": (java("spring-redis-5", "SpringRedis"), ["--lock-key", "lock:orders"]),
    "spring-redis-5-pubsub": (
        java("spring-redis-5", "SpringRedis") + " pubsub",
        ["--lock-key", "lock:orders"],
    ),
    "shedlock-redis": (
        java("shedlock-redis", "ShedLockRedis"),
        ["--lock-key", "job-lock:default:orders"],
    ),
    "redisson-3": redisson(3, "watchdog"),
    "redisson-3-once": redisson(3, "once"),
    "redisson-3-lease": redisson(3, "lease"),
    "redisson-3-fair": redisson(3, "fair"),
    "redisson-3-sentinel": redisson(3, "watchdog", "--deployment", "sentinel"),
    "redisson-3-multi": redisson(3, "multi", *INDEPENDENT),
    "redisson-3-red": redisson(3, "red", *INDEPENDENT),
    "redisson-4": redisson(4, "watchdog"),
    "redisson-4-lease": redisson(4, "lease"),
    "redisson-4-sentinel": redisson(4, "watchdog", "--deployment", "sentinel"),
    "redisson-4-once": redisson(4, "once"),
    "redisson-4-multi": redisson(4, "multi", *INDEPENDENT),
    "redisson-4-fenced": redisson(4, "fenced"),
    "redisson-4-fair": redisson(4, "fair"),
    "redisson-4-spin": redisson(4, "spin"),
    "redisson-4-red": redisson(4, "red", *INDEPENDENT),
    "lettuce": (java("lettuce", "Lettuce"), []),
    "jedis-getset": (java("jedis-2", "JedisGetSet"), []),
    "redislock": (f"{FOLDER}/bin/redislock", []),
    "etcd-go": (f"{FOLDER}/bin/etcd-mutex", on("etcd") + ONE_REAL),
    "etcd-go-done": (f"{FOLDER}/bin/etcd-mutex done", on("etcd") + ONE_REAL),
    "etcd-go-fencing": (f"{FOLDER}/bin/etcd-mutex fencing", on("etcd") + ONE_REAL),
    "jetcd": (java("jetcd", "Jetcd"), on("etcd") + ONE_REAL),
    "huey": (python("huey_lock.py"), ["--lock-key", "huey.results.huey"]),
    "celery-once": (celery("known-bugs/celery_once_backend.py"), []),
    "celery-singleton": (celery("celery_singleton_backend.py"), []),
    "kombu-mutex": (celery("kombu_mutex.py"), []),
    "bullmq": (node("bullmq_job.js"), NODE + ["--lock-key", "bull:orders:the-job:lock"]),
    "redlock-sesamecare": (node("redlock_sesamecare.js"), NODE + INDEPENDENT),
    "redlock-universal": (node("redlock_universal.js"), NODE + INDEPENDENT),
    "shedlock": (java("shedlock", "ShedLockJdbc"), on("postgresql")),
    "shedlock-client-time": (java("shedlock", "ShedLockJdbc") + " client", on("postgresql")),
    "pymysql": (python("pymysql_get_lock.py"), on("mysql")),
    "pymysql-rows": (python("pymysql_for_update.py"), on("mysql")),
    "mysql2": (node("mysql2.js"), NODE + on("mysql")),
    "etcd3gw": (python("etcd3gw_lock.py"), on("etcd")),
    "pymemcache": (python("pymemcache_add.py"), on("memcached")),
    "npm-memcached": (node("memcached_add.js"), NODE + on("memcached")),
}
