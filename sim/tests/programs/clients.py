"""Small clients of coordinators other than Redis, for the workers of coordinators.rs."""
import http.client
import json
import struct
from base64 import b64encode
from prelude import *

HOST, PORT = env("SERVERS").split(",")[int(ME) % len(env("SERVERS").split(","))].split(":")


class Connection:
    def __init__(self):
        self.stream = socket.create_connection((HOST, int(PORT)), 10).makefile("rwb")

    def send(self, data):
        self.stream.write(data)
        self.stream.flush()

    def read(self, count):
        data = self.stream.read(count)
        if len(data) < count:
            raise ConnectionResetError("closed")
        return data

    def number(self, form):
        return struct.unpack(form, self.read(struct.calcsize(form)))[0]


class Memcached(Connection):
    def __call__(self, line):
        self.send(line.encode() + b"\r\n")
        return self.stream.readline().decode().strip()


class Postgresql(Connection):
    def __init__(self):
        super().__init__()
        words = b"user\0postgres\0\0"
        self.send(struct.pack(">ii", len(words) + 8, 196608) + words)
        self.rows()

    def __call__(self, sql):
        self.send(b"Q" + struct.pack(">i", len(sql) + 5) + sql.encode() + b"\0")
        return self.rows()

    def rows(self):
        rows = []
        while True:
            kind = self.read(1)
            body = self.read(self.number(">i") - 4)
            if kind == b"E":
                raise ValueError(body.decode())
            if kind == b"D":
                rows.append(body[6:].decode())
            if kind == b"Z":
                return rows


class Mysql(Connection):
    def __init__(self):
        super().__init__()
        self.packet()
        flags, name = 0x8000 | 0x200 | 0x1 | 0x8 | 0x80000, b"mysql_native_password"
        body = struct.pack("<IIB23x", flags, 1 << 24, 45) + b"root\0\0test\0" + name + b"\0"
        self.send(struct.pack("<I", len(body) | 1 << 24) + body)
        self.packet()

    def packet(self):
        length = self.number("<I") & 0xFFFFFF
        body = self.read(length)
        if body[:1] == b"\xff":
            raise ValueError(body[3:].decode())
        return body

    def __call__(self, sql):
        body = b"\x03" + sql.encode()
        self.send(struct.pack("<I", len(body)) + body)
        if self.packet()[0] == 0:
            return None
        self.packet(), self.packet()
        rows = []
        while (row := self.packet())[0] != 0xFE:
            rows.append(row[1:].decode())
        return rows


class ZooKeeper(Connection):
    def __init__(self):
        self.number_of_request = 0
        while True:
            super().__init__()
            try:
                self.request(struct.pack(">iqiqi16x", 0, 0, TTL, 0, 16))
                self.reply()
                return
            except ConnectionResetError:  # nobody leads yet
                time.sleep(0.5)

    def request(self, body):
        self.send(struct.pack(">i", len(body)) + body)

    def reply(self):
        return self.read(self.number(">i"))

    def __call__(self, kind, body):
        self.number_of_request += 1
        self.request(struct.pack(">ii", self.number_of_request, kind) + body)
        return struct.unpack(">i", self.reply()[12:16])[0]

    def create(self, path):
        """Makes an ephemeral node; false if it exists."""
        text = lambda word: struct.pack(">i", len(word)) + word.encode()
        acl = struct.pack(">ii", 1, 31) + text("world") + text("anyone")
        return self(1, text(path) + text("") + acl + struct.pack(">i", 1)) == 0

    def delete(self, path):
        return self(2, struct.pack(">i", len(path)) + path.encode() + struct.pack(">i", -1)) == 0


def etcd(call, **body):
    server = http.client.HTTPConnection(HOST, int(PORT), timeout=10)
    server.request("POST", "/v3/" + call, json.dumps(body))
    return json.loads(server.getresponse().read())


def etcd_create(key, lease):
    key = b64encode(key.encode()).decode()
    absent = {"key": key, "target": "CREATE", "create_revision": "0"}
    put = {"request_put": {"key": key, "lease": lease}}
    return etcd("kv/txn", compare=[absent], success=[put]).get("succeeded", False)


def holds(take, give):
    """A worker's cycles."""
    for _ in range(CYCLES):
        say("ACQUIRING", "orders")
        while not take():
            time.sleep(0.1)
        work(say("ACQUIRED", "orders"))
        say("RELEASING", "orders")
        if not give():
            say("LOST", "orders")
        say("RELEASED", "orders")
