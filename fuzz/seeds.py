#!/usr/bin/env python3
"""Makes the first inputs of the corpora: files that the program and a real redis-server write, and
dialogues. `run.sh minimise` then keeps the inputs that increase the coverage."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = os.environ.get("FENCEPOST", str(HERE.parent / "target" / "debug" / "fencepost"))
FILL = """SET a 1|SET b text EX 100000|SET c 12345678901|APPEND b more|LPUSH l 1 2 3 four|RPUSH l2 x|HSET h f v g w|SADD s 1 2 3
SADD s2 a b c|ZADD z 1 a 2.5 b inf c|EXPIRE z 100000|SELECT 3|SET k v|SETRANGE r 100 x|HSET h2 f 1|SELECT 0|DEL a|MULTI|SET m 1|EXEC
EVAL "return redis.call('SET',KEYS[1],'v')" 1 e""".replace("\n", "|").split("|")


def keep(target, name, content):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def fencepost(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True).stdout


def of_real_server():
    for name, options in {"plain": [], "uncompressed": ["--rdbcompression", "no"],
                          "large": ["--hash-max-listpack-entries", "0", "--zset-max-listpack-entries", "0",
                                    "--set-max-intset-entries", "0", "--list-max-listpack-size", "1"]}.items():
        with tempfile.TemporaryDirectory() as folder:
            server = subprocess.Popen(
                ["redis-server", "--port", "7902", "--dir", folder, "--appendonly", "yes", "--save", "",
                 "--aof-use-rdb-preamble", "no", *options], stdout=subprocess.DEVNULL)
            ask = lambda *words, **more: subprocess.run(["redis-cli", "-p", "7902", *words], capture_output=True, **more)
            while b"PONG" not in ask("ping").stdout:
                time.sleep(0.05)
            ask(input="\n".join(FILL).encode())
            ask("save")
            for number, path in enumerate(sorted(Path(folder).rglob("*.incr.aof"))):
                keep("aof", f"{name}-{number}", path.read_bytes())
            dump = Path(folder, "dump.rdb").read_bytes()
            keep("rdb", name, dump)
            keep("psync", f"snapshot-{name}", b"\xff".join(
                [b"+PONG\r\n", *[b"+OK\r\n"] * 4, b"F", b"R" + dump.replace(b"\xff", b"\xfe"), b"T\x20", b"*1\r\n$4\r\nPING\r\n"]))
            ask("bgrewriteaof")
            time.sleep(0.5)
            for number, path in enumerate(sorted(Path(folder).rglob("*.base.aof"))):
                keep("aof", f"{name}-base-{number}", path.read_bytes())
            server.terminate()
            server.wait()


def of_program():
    small = ["--client", "single-node", "--cycles", "1", "--processes", "2"]
    for number, fault in enumerate(["pause", "clock-jump", "restart", "partition", "failover", "evict", "loss"]):
        text = fencepost("run", "--seed", number, "--fault", fault, *small, "--no-shrink", "--format", "json", "--with-history")
        if not text:
            continue
        report = json.loads(text)
        run = report["runs"][0]
        keep("report", f"run-{fault}", text)
        keep("history", fault, json.dumps(run["history"]))
        keep("plan", fault, json.dumps(run["plan"]))
    shown = fencepost("run", "--seed", 3, "--client", "single-node", "--fault", "pause", "--cycles", "2", "--format", "json")
    keep("report", "minimal", shown)
    with tempfile.TemporaryDirectory() as folder:
        sweep = fencepost("sweep", "--seeds", "0..10", *small, "--fault", "pause", "--quiet", "--format", "json")
        keep("report", "sweep", sweep)
        path = Path(folder, "sweep")
        path.write_bytes(sweep)
        keep("report", "matrix", fencepost("matrix", "--from", path, "--format", "json"))
    keep("plan", "none", '{"faults": []}')
    for number, path in enumerate(sorted(HERE.parent.glob("examples/**/*.toml"))):
        keep("scenario", f"example-{number}", path.read_bytes())
    keep("scenario", "times", 'ttl = "9s"\nprocesses = 2\ncycles = 2\nhold = "10ms..1s"\nlatency = "1ms..2ms"\nretry = "50ms"\n')
    keep("scenario", "servers", 'processes = 3\nthreads = 2\ncycles = 4\nttl = "2s"\nhold = "1ms..40ms"\nretry = "10ms..20ms"\n'
         'replicas = 2\nsentinels = 3\ndown-after = "500ms"\nquantum = "100us"\nacquire-timeout = "1m"\n')


def of_hand():
    hello = "10.0.0.2,26379,%s,%d,mymaster,redis-1,6379,%d"
    run_id = "ab" * 20
    info = ("# Server\r\nrun_id:%s\r\n# Replication\r\nrole:master\r\nconnected_slaves:1\r\n"
            "slave0:ip=10.0.0.9,port=6379,state=online,offset=5,lag=0\r\nmaster_repl_offset:5\r\n" % run_id)
    slave = ("run_id:%s\r\nrole:slave\r\nmaster_host:redis-1\r\nmaster_port:6379\r\nmaster_link_status:up\r\n"
             "slave_priority:100\r\nslave_repl_offset:5\r\n" % ("cd" * 20))
    join = lambda *parts: b"\xff".join(part.encode() if isinstance(part, str) else part for part in parts)
    keep("hello", "meeting", join("i" + info, "h" + hello % (run_id, 0, 0), "t\x64", "h" + hello % ("ef" * 20, 3, 2)))
    keep("hello", "switch", join("h" + hello % (run_id, 7, 0), "h" + hello.replace("redis-1", "redis-2") % (run_id, 7, 7), "t\x64"))
    keep("hello", "down", join("i" + info, "i" + slave, "t\xc8".encode("latin1"), "x", "t\xc8".encode("latin1"), "cSENTINEL FAILOVER mymaster"))
    keep("hello", "asked", join("cSENTINEL IS-MASTER-DOWN-BY-ADDR redis-1 6379 5 " + run_id, "cSENTINEL MASTERS",
                                "cSENTINEL REPLICAS mymaster", "cPUBLISH __sentinel__:hello " + hello % (run_id, 1, 1)))
    keep("hello", "said", join("r+PONG\r\n", "r-ERR no\r\n", "r*2\r\n:1\r\n$1\r\nx\r\n", "s+x\r\n"))
    keep("hello", "set", join("cSENTINEL SET mymaster down-after-milliseconds 1", "cSENTINEL RESET *", "cSENTINEL CKQUORUM mymaster",
                              "cSENTINEL MONITOR other 10.0.0.5 6379 2", "cSENTINEL REMOVE mymaster"))
    keep("psync", "handshake", join("+PONG\r\n", "+OK\r\n", "+OK\r\n", "+OK\r\n", "+FULLRESYNC " + run_id + " 0\r\n"))
    keep("psync", "continued", join("+PONG\r\n", "-ERR\r\n", "+OK\r\n", "+CONTINUE " + run_id + "\r\n", "*1\r\n$4\r\nPING\r\n"))
    keep("psync", "eof", join("+PONG\r\n", "+OK\r\n", "+OK\r\n", "F", "$EOF:" + run_id + "\r\n", "REDIS0009", run_id))
    keep("psync", "below", join("PPSYNC ? -1\r\n", "PREPLCONF capa eof\r\n", "PREPLCONF ACK 5\r\n", "T\x0a", "PPSYNC " + run_id + " 1\r\n"))
    keep("psync", "lost", join("-NOAUTH\r\n", "C", "T\x20", "+PONG\r\n", "-NOMASTERLINK\r\n", "T\x20"))
    for number in range(40):
        keep("scripts", f"program-{number}", bytes((number * 37 + at * (number + 11) * 7 + at * at) % 256 for at in range(64 + number * 4)))
    lines = [line for line in (HERE.parent / "fake-redis/src/script/library/answers.txt").read_text().splitlines() if line.strip()]
    for number, line in enumerate(lines[:60:2]):
        keep("scripts", f"text-{number}", "#" + line)
    piece = lambda kind, text: bytes([kind, len(text)]) + text
    keep("memcached", "lock", piece(0, b"add l a 0 1\r\nx\r\ngets l\r\n") + piece(1, b"add l a 0 1\r\n") + piece(1, b"y\r\ngat 5 l\r\n")
         + piece(3, b"\xff" * 9) + piece(0, b"cas l 0 -1 0 1\r\n\r\ndelete l\r\nquit\r\n"))
    keep("memcached", "numbers", piece(0, b"set n 0 0 2\r\n41\r\nincr n 1\r\ndecr n 99\r\ntouch n 1\r\nstats\r\nflush_all 3\r\n")
         + piece(2, b"prepend n 0 0 1 noreply\r\n-\r\nverbosity 1\r\nversion\r\n"))
    keep("memcached", "odd", piece(0, b"set k 0 0 -1\r\n" + b"get " + b"k" * 60 + b"\r\n") + piece(1, b"set k 0 0 4\r\nabcdef\r\n\n\r\n \r\n"))
    int4, text = lambda n: n.to_bytes(4, "big", signed=True), lambda t: len(t).to_bytes(4, "big") + t
    frame = lambda body: text(body)
    world = int4(1) + int4(31) + text(b"world") + text(b"anyone")
    create = lambda xid, path, flags: frame(int4(xid) + int4(1) + text(path) + text(b"") + world + int4(flags))
    watched = lambda xid, kind, path: frame(int4(xid) + int4(kind) + text(path) + b"\1")
    keep("zookeeper", "lock", piece(0, create(1, b"/l", 0) + create(2, b"/l/a-", 3)) + piece(0, watched(3, 12, b"/l"))
         + piece(1, watched(1, 3, b"/l/a-0000000000")) + piece(3, b"\xff" * 60) + piece(0, frame(int4(-2) + int4(11))))
    keep("zookeeper", "multi", piece(0, frame(int4(1) + int4(14) + int4(1) + b"\0" + int4(-1) + text(b"/m") + text(b"x") + world + int4(0)
         + int4(13) + b"\0" + int4(-1) + text(b"/m") + int4(0) + int4(-1) + b"\1" + int4(-1))))
    keep("zookeeper", "words", piece(2, b"srvr") + piece(1, frame(int4(1) + int4(-11))) + piece(4, b""))
    peer = lambda *body: frame(bytes(body))
    keep("zookeeper", "vote", b"\5\0" + piece(2, b"fpzk" + peer(0, 2) + peer(1, 0, *bytes(7), 1, *bytes(4), *bytes(8), 2)) + piece(3, b"\xff" * 9))
    keep("zookeeper", "leader", b"\5\0" + piece(6, peer(3, 0, 0, 0, 1) + peer(9, 0, 0, 0, 1) + peer(11) + peer(14)) + piece(3, b"\xff"))
    packet = lambda number, body: len(body).to_bytes(3, "little") + bytes([number]) + body
    asked = lambda sql: packet(0, b"\3" + sql.encode())
    root = (0x8200).to_bytes(4, "little") + b"\0\0\0\1\x2d" + bytes(23) + b"root\0\0"
    keep("mysql", "locks", piece(0, asked("SELECT GET_LOCK('a', 1)")) + piece(1, asked("SELECT GET_LOCK('a', 2), IS_USED_LOCK('a')"))
         + piece(3, b"\xff" * 9) + piece(0, asked("DO RELEASE_LOCK('a')")) + piece(1, asked("SELECT RELEASE_ALL_LOCKS()")))
    keep("mysql", "deadlock", piece(0, asked("SELECT GET_LOCK('a', 9)")) + piece(1, asked("SELECT GET_LOCK('b', 9)"))
         + piece(0, asked("SELECT GET_LOCK('b', 9)")) + piece(1, asked("SELECT GET_LOCK('a', 9)")) + piece(0, packet(0, b"\1")))
    keep("mysql", "rows", piece(0, asked("BEGIN")) + piece(0, asked("SELECT v FROM d.t WHERE k = 1 FOR UPDATE"))
         + piece(1, asked("UPDATE d.t SET v = v + 1 WHERE k = 1")) + piece(3, b"\xff" * 9) + piece(0, asked("COMMIT")))
    keep("mysql", "gaps", piece(0, asked("BEGIN")) + piece(0, asked("SELECT * FROM d.t WHERE k > 1 FOR UPDATE")) + piece(1, asked("BEGIN"))
         + piece(1, asked("SELECT * FROM d.t WHERE k = 2 FOR UPDATE")) + piece(0, asked("INSERT INTO d.t VALUES (2, 2)"))
         + piece(1, asked("INSERT IGNORE INTO d.t VALUES (2, 3), (3, 3)")) + piece(0, asked("ROLLBACK")))
    keep("mysql", "strangers", piece(2, packet(1, root)[:30]) + piece(2, packet(1, root)[30:] + asked("SHOW WARNINGS")) + piece(2, packet(0, b"\x0e"))
         + piece(4, b"") + piece(2, packet(1, root)) + piece(0, asked("KILL 4")) + piece(1, asked("SET NAMES latin1")))
    startup = (17).to_bytes(4, "big") + b"\0\3\0\0user\0me\0\0"
    said = lambda kind, body: kind + (len(body) + 4).to_bytes(4, "big") + body
    query = lambda sql: said(b"Q", sql.encode() + b"\0")
    keep("postgresql", "rows", piece(0, query("BEGIN; UPDATE t SET v = v + 1 WHERE k = 1")) + piece(1, query("SELECT v FROM t WHERE k = 1 FOR UPDATE"))
         + piece(0, query("COMMIT")) + piece(1, query("INSERT INTO t VALUES (1, 2) ON CONFLICT (k) DO UPDATE SET v = 3 RETURNING v")))
    keep("postgresql", "advisory", piece(0, query("SELECT pg_advisory_lock(1)")) + piece(1, query("SET lock_timeout = 100; SELECT pg_advisory_lock(1)"))
         + piece(3, b"\xff") + piece(0, query("SELECT pg_advisory_unlock(1)")) + piece(1, query("SELECT pg_try_advisory_lock(1)") + said(b"X", b"")))
    keep("postgresql", "extended", piece(0, said(b"P", b"\0SELECT $1 + k FROM t WHERE v < $2\0\0\0")
         + said(b"B", b"\0\0\0\0\0\2\0\0\0\x011\0\0\0\x012\0\0") + said(b"D", b"P\0") + said(b"E", b"\0\0\0\0\0") + said(b"S", b"")))
    keep("postgresql", "strangers", piece(2, startup[:9]) + piece(2, startup[9:] + query("SELECT now()")) + piece(4, b"")
         + piece(2, b"\0\0\0\x08\x04\xd2\x16\x2f") + piece(2, b"\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\1\0\0\0\1"))
    post = lambda path, body: f"POST /v3/{path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    keep("etcd", "keys", piece(0, post("kv/put", '{"key":"YQ==","value":"MQ=="}')) + piece(0, post("kv/range", '{"key":"YQ==","range_end":"Yg=="}'))
         + piece(1, post("kv/txn", '{"compare":[{"key":"YQ==","target":"CREATE"}],"success":[{"request_put":{"key":"YQ=="}}]}'))
         + piece(1, post("kv/deleterange", '{"key":"YQ=="}') + b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"))
    keep("etcd", "watch", piece(0, post("watch", '{"create_request":{"key":"YQ==","start_revision":1}}')) + piece(1, post("kv/put", '{"key":"YQ=="}'))
         + piece(3, b"\xff" * 9) + piece(4, b""))
    keep("etcd", "lock", piece(0, post("lease/grant", '{"TTL":2,"ID":7}')) + piece(0, post("lock/lock", '{"name":"YQ==","lease":7}'))
         + piece(1, post("lease/keepalive", '{"ID":7}')) + piece(2, post("lock/lock", '{"name":"YQ=="}')) + piece(3, b"\xff" * 20))
    keep("etcd", "chunks", piece(0, b"POST /v3/kv/range HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n") + piece(0, b"0\r\n\r\n"))
    member = lambda body: b"\0etcd-peer\n" + text(body)
    vote = b'{"from":2,"to":1,"term":9,"body":{"Vote":{"index":9,"log_term":9}}}'
    keep("etcd", "member", b"\5\0" + piece(0, member(vote)) + piece(5, text(vote)) + piece(3, b"\xff" * 9))
    keep("chubby", "lock", piece(0, b"open\nacquire 1 1 lock 1 0\n") + piece(1, b"open\nacquire 2 1 lock 1 60000000\nkeepalive 2 1 0\n")
         + piece(0, b"check 1 1 lock 1\nrelease 1 1 lock 1\nclose 1 1\n") + piece(3, b"\xff" * 90) + piece(2, b"keepalive 2 1 1\n"))
    state = b'{"ballot":66,"index":1,"state":{"epoch":1,"sessions":{"7":0},"session_last":7,"locks":{}}}\n'
    keep("chubby", "replica", b"\5\0" + piece(0, b"prepare 66\n") + piece(0, b"accept 1 0 " + state) + piece(0, b"commit 66 1\n")
         + piece(1, b"master\nopen\n") + piece(3, b"\xff" * 40) + piece(0, b"promise 129 " + state) + piece(0, b"ack 129 1 1\nrefuse 130\n"))
    keep("gemfire", "lock", piece(0, b"join a\n") + piece(1, b"join b\nalive a 0 512\n") + piece(3, b"\xff" * 20)
         + piece(0, b"lock a 513 lock 1 0 3000\nlock b 513 lock 1 9000000 0\nget a 513 lock\nput a 513 lock 1\n") + piece(3, b"\xff" * 90)
         + piece(2, b"unlock a 513 lock 1\n"))
    life = b'{"id":2,"born":7}'
    view = b'{"system":7,"number":514,"servers":[' + life + b'],"processes":["a"],"grantor":{"server":' + life + b',"version":514}}'
    keep("gemfire", "server", b"\5\0" + piece(0, b"join 7\nalive 7 7 514\nprepare 0 " + view + b"\n") + piece(3, b"\xff" * 40)
         + piece(0, b'install {"view":' + view + b',"region":{"lock":3}}\n') + piece(0, b"refuse 0 " + view + b"\nack 514\n"))
    keep("protocol", "ping", b"\x00\x00\x01\x01\x04*1\r\n$4\r\nPING\r\nPING\r\n")
    keep("commands", "none", b"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09")


of_real_server()
of_program()
of_hand()
