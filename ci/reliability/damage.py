#!/usr/bin/env python3
"""Damages the data folders of served coordinators: flips a bit, cuts off the end, or repeats a
piece of one file. A server must either refuse the folder with one line of error, or start with the
first of the acknowledged writes and print a warning if the last ones are missing. Redis's
append-only file has no checksum, so unless its end is cut off, the server only has to refuse it or
to answer."""

import json
import random
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request
from base64 import b64decode, b64encode
from pathlib import Path

from common import PROGRAM, arguments, is_time_left, tell

sizes = arguments(
    __doc__,
    folders=(1_000, "how many damaged folders"),
    seed=(1, "what the dice are thrown with"),
)
dice, began = random.Random(sizes.seed), time.monotonic()
WRITES = 50


class Stream:
    """A TCP connection to a server."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)

    def send(self, data):
        self.socket.sendall(data)

    def take(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise OSError("the server closed the connection")
            data += more
        return data


class Redis(Stream):
    def ask(self, *words):
        parts = [str(word).encode() for word in words]
        self.send(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
        line = self.line()
        if line[:1] == b"*":
            return [self.line() and self.line().decode(errors="replace") for _ in range(int(line[1:]))]
        return line.decode()

    def line(self):
        line = b""
        while not line.endswith(b"\r\n"):
            line += self.take(1)
        return line[:-2]

    def write(self, number):
        assert self.ask("SET", f"key-{number}", number) == "+OK"

    def finish(self):
        self.ask("SAVE")

    def found(self):
        keys = (key.split("-")[1] for key in self.ask("KEYS", "key-*"))
        return sorted(int(key) if key.isdigit() else -1 for key in keys)


class PostgreSql(Stream):
    def __init__(self, port):
        super().__init__(port)
        body = struct.pack("!i", 196_608) + b"user\0postgres\0\0"
        self.send(struct.pack("!i", len(body) + 4) + body)
        self.rows()

    def rows(self):
        rows = []
        while True:
            kind, length = struct.unpack("!ci", self.take(5))
            body = self.take(length - 4)
            if kind == b"E":
                raise OSError(body.decode(errors="replace"))
            if kind == b"D":
                rows.append(body[6:])
            if kind == b"Z":
                return rows

    def ask(self, text):
        body = text.encode() + b"\0"
        self.send(b"Q" + struct.pack("!i", len(body) + 4) + body)
        return self.rows()

    def write(self, number):
        if number == 1:
            self.ask("create table locks (n int primary key, owner text)")
        self.ask(f"insert into locks values ({number}, 'owner')")

    def finish(self):
        pass

    def found(self):
        return sorted(int(row) for row in self.ask("select n from locks"))


class MySql(Stream):
    def __init__(self, port):
        super().__init__(port)
        self.packet()
        head = struct.pack("<IIB23x", 0x0008_8200, 1 << 24, 45)
        self.put(1, head + b"root\0" + b"\0" + b"mysql_native_password\0")
        assert self.packet()[0] == 0, "the login was refused"

    def put(self, number, body):
        self.send(struct.pack("<I", len(body))[:3] + bytes([number]) + body)

    def packet(self):
        head = self.take(4)
        return self.take(int.from_bytes(head[:3], "little"))

    def ask(self, text):
        self.put(0, b"\x03" + text.encode())
        first = self.packet()
        if first[0] == 0xFF:
            raise OSError(first[9:].decode(errors="replace"))
        if first[0] == 0:
            return []
        ends, rows = 0, []
        while ends < 2:
            body = self.packet()
            if body[0] == 0xFE and len(body) < 9:
                ends += 1
            elif ends:
                rows.append(body[1 : 1 + body[0]])
        return rows

    def write(self, number):
        if number == 1:
            self.ask("create database shop")
            self.ask("create table shop.locks (n int primary key, owner varchar(20)) engine=innodb")
        self.ask(f"insert into shop.locks values ({number}, 'owner')")

    def finish(self):
        pass

    def found(self):
        return sorted(int(row) for row in self.ask("select n from shop.locks"))


class Etcd:
    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}/v3/kv/"

    def ask(self, what, **body):
        request = urllib.request.Request(self.base + what, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def write(self, number):
        self.ask("put", key=b64encode(b"key-%03d" % number).decode(), value="bw==")

    def finish(self):
        pass

    def found(self):
        first, last = b64encode(b"key-").decode(), b64encode(b"key.").decode()
        kvs = self.ask("range", key=first, range_end=last, keys_only=True).get("kvs", [])
        return sorted(int(b64decode(kv["key"])[4:]) for kv in kvs)


class ZooKeeper(Stream):
    def __init__(self, port):
        super().__init__(port)
        self.put(struct.pack("!iqiqi", 0, 0, 10_000, 0, 16) + b"\0" * 16 + b"\0")
        self.packet()

    def put(self, body):
        self.send(struct.pack("!i", len(body)) + body)

    def packet(self):
        return self.take(struct.unpack("!i", self.take(4))[0])

    def ask(self, kind, body):
        self.put(struct.pack("!ii", 1, kind) + body)
        answer = self.packet()
        error = struct.unpack("!i", answer[12:16])[0]
        if error:
            raise OSError(f"error {error}")
        return answer[16:]

    def write(self, number):
        path = b"/key-%03d" % number
        acl = struct.pack("!ii", 1, 31) + struct.pack("!i", 5) + b"world" + struct.pack("!i", 6) + b"anyone"
        self.ask(1, struct.pack("!i", len(path)) + path + struct.pack("!i", 1) + b"o" + acl + struct.pack("!i", 0))

    def finish(self):
        pass

    def found(self):
        body = self.ask(8, struct.pack("!i", 1) + b"/" + b"\0")
        count, at, found = struct.unpack("!i", body[:4])[0], 4, []
        for _ in range(count):
            length = struct.unpack("!i", body[at : at + 4])[0]
            name, at = body[at + 4 : at + 4 + length], at + 4 + length
            if name.startswith(b"key-"):
                found.append(int(name[4:]))
        return sorted(found)


KINDS = [
    ("redis, RDB", Redis, ["--persistence", "rdb"]),
    ("redis, AOF", Redis, ["--persistence", "aof-always"]),
    ("zookeeper", ZooKeeper, ["--coordinator", "zookeeper"]),
    ("postgresql", PostgreSql, ["--coordinator", "postgresql"]),
    ("mysql", MySql, ["--coordinator", "mysql"]),
    ("etcd", Etcd, ["--coordinator", "etcd"]),
]


class Served:
    """A server on a folder. `port` is None if the server did not become ready."""

    def __init__(self, words, folder):
        command = [PROGRAM, "serve", "--port", "0", *words, "--dir", str(folder)]
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors)
        line = self.process.stdout.readline().decode()
        self.port = int(line.split("=")[1].split()[0].rsplit(":", 1)[1]) if line else None
        if not line:
            self.process.wait(timeout=20)

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=20)
        self.process.stdout.close()
        return status


def filled(client, words, folder):
    served = Served(words, folder)
    assert served.port, served.said()
    connection = client(served.port)
    for number in range(1, WRITES + 1):
        connection.write(number)
    connection.finish()
    assert connection.found() == list(range(1, WRITES + 1))
    assert served.stop() in (0, 143), served.said()


def damage(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    files = [path for path in files if path.name != "lock"]
    path = dice.choice(files)
    data = bytearray(path.read_bytes())
    at = dice.randrange(len(data))
    how = dice.choice(["flip", "flip", "flip", "cut", "repeat"])
    if how == "flip":
        data[at] ^= 1 << dice.randrange(8)
    elif how == "cut":
        del data[at:]
    else:
        data[at:at] = data[at : at + dice.choice([1, 16, 300])]
    path.write_bytes(data)
    return f"{how} at {at} of {path.relative_to(folder)}"


def wrong(client, words, folder, is_cut, has_checksums):
    """Returns what is wrong with the server on this folder, or None, and what it did with the
    folder."""
    served = Served(words, folder)
    try:
        said = served.said()
        if served.port is None:
            status = served.process.returncode
            if status != 2 or said.count("\n") != 1 or not said.startswith("error: "):
                return f"status {status}: {said[:300]!r}", "refused"
            return None, "refused"
        found = client(served.port).found()
        if not has_checksums:
            return None, "started"
        if found != list(range(1, len(found) + 1)):
            return f"writes are missing before the last one: {found}", "started"
        # A server cannot detect that a file was cut between two records.
        if len(found) < WRITES and "warning: " not in said and not is_cut:
            return f"only {len(found)} of {WRITES} writes, and not a word", "shortened"
        return None, "started whole" if len(found) == WRITES else "shortened"
    except OSError as error:
        return f"it started and does not answer: {error}", "started"
    finally:
        status = served.stop()
        if status not in (0, 2, 143):
            return f"status {status}: {served.said()[-300:]!r}", "ended"


failures, answers, tried = [], {}, 0
with tempfile.TemporaryDirectory() as place:
    for name, client, words in KINDS:
        filled(client, words, Path(place, name))
    for number in range(sizes.folders):
        if not is_time_left(sizes, began):
            break
        tried += 1
        name, client, words = KINDS[number % len(KINDS)]
        copy = Path(place, "damaged")
        shutil.copytree(Path(place, name), copy)
        what = damage(copy)
        is_cut = what.startswith("cut")
        problem, taken = wrong(client, words, copy, is_cut, is_cut or name != "redis, AOF")
        answers[taken] = answers.get(taken, 0) + 1
        if problem:
            failures.append(f"{name}: {what}: {problem}")
        shutil.rmtree(copy)
told = ", ".join(f"{count} {taken}" for taken, count in sorted(answers.items()))
tell("damage", began, failures, folders=f"{tried} of {sizes.folders}", seed=sizes.seed, answers=f"({told})")
