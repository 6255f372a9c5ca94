"""Clients of the served coordinators, each in a few lines, and the servers themselves."""

import json
import signal
import socket
import struct
import subprocess
import tempfile
import urllib.request
from base64 import b64decode, b64encode

from common import PROGRAM


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
        """Returns the rows of an answer, and the SQLSTATE of its error if there is one."""
        rows, code = [], None
        while True:
            kind, length = struct.unpack("!ci", self.take(5))
            body = self.take(length - 4)
            if kind == b"E":
                fields = body.decode(errors="replace").split("\0")
                code = next(field[1:] for field in fields if field.startswith("C"))
            if kind == b"D":
                rows.append(body[2:])
            if kind == b"Z":
                return rows, code

    def answer(self, text):
        body = text.encode() + b"\0"
        self.send(b"Q" + struct.pack("!i", len(body) + 4) + body)
        return self.rows()

    def ask(self, text):
        rows, code = self.answer(text)
        if code:
            raise OSError(f"error {code}")
        return rows

    def write(self, number):
        if number == 1:
            self.ask("create table locks (n int primary key, owner text)")
        self.ask(f"insert into locks values ({number}, 'owner')")

    def finish(self):
        pass

    def found(self):
        rows, code = self.answer("select n from locks")
        return [] if code == "42P01" else sorted(int(row[4:]) for row in rows)


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

    def answer(self, text):
        """Returns the rows of an answer, and the number of its error if there is one."""
        self.put(0, b"\x03" + text.encode())
        ends, rows, body = 0, [], self.packet()
        if body[0] == 0:
            return [], None
        while True:
            if body[0] == 0xFF:
                return rows, int.from_bytes(body[1:3], "little")
            if body[0] == 0xFE and len(body) < 9:
                ends += 1
            elif ends:
                rows.append(body)
            if ends == 2:
                return rows, None
            body = self.packet()

    def ask(self, text):
        rows, code = self.answer(text)
        if code:
            raise OSError(f"error {code}")
        return rows

    def write(self, number):
        if number == 1:
            self.ask("create database shop")
            self.ask("create table shop.locks (n int primary key, owner varchar(20)) engine=innodb")
        self.ask(f"insert into shop.locks values ({number}, 'owner')")

    def finish(self):
        pass

    def found(self):
        rows, code = self.answer("select n from shop.locks")
        return [] if code in (1049, 1146) else sorted(int(row[1:]) for row in rows)


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
        try:
            status = self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = f"{self.process.wait()} after it ignored SIGTERM"
        self.process.stdout.close()
        return status
