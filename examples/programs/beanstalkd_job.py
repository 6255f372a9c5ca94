# A job in beanstalkd as the lock: the process that reserves it holds the lock for its time to run.
# `touch` as an argument renews that during the work. Plain sockets; see docs/real-servers.md.
import os
import socket
import sys
import time


class Line:
    def __init__(self, address, timeout=None):
        host, port = address.removeprefix("redis://").split(":")
        self.socket = socket.create_connection((host, int(port)), timeout)
        self.lines = self.socket.makefile("rb")

    def line(self):
        line = self.lines.readline()
        if not line:
            raise ConnectionError("closed by the server")
        return line.decode().rstrip()

    def ask(self, *words):  # judge and storage
        parts = [f"${len(str(word))}\r\n{word}\r\n" for word in words]
        self.socket.sendall(f"*{len(parts)}\r\n{''.join(parts)}".encode())
        answer = self.line()
        return self.line() if answer[0] == "$" else answer[1:]

    def send(self, command):  # beanstalkd
        self.socket.sendall(f"{command}\r\n".encode())
        return self.line().split()


def connect():
    queue = Line(os.environ["FENCEPOST_SERVERS"], timeout=10)
    if os.environ["FENCEPOST_PROCESS"] == "1":
        length = int(queue.send("stats-tube default")[1])
        stats = queue.lines.read(length + 2).decode()
        if "\ncurrent-jobs-ready: 0\ncurrent-jobs-reserved: 0\n" in stats:
            queue.send(f"put 0 0 {ttr} 4\r\nlock")
    return queue


def reserve(queue):
    while (answer := queue.send("reserve-with-timeout 5"))[0] != "RESERVED":
        pass
    queue.line()
    return answer[1]


def work(queue, job, until):
    is_renewed = "touch" in sys.argv
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, ttr / 4) if is_renewed else left)
        if is_renewed and queue.send(f"touch {job}") != ["TOUCHED"]:
            return False
    return True


storage, judge = Line(os.environ["FENCEPOST_STORAGE"]), Line(os.environ["FENCEPOST_JUDGE"])
ttr, queue = max(1, int(os.environ["FENCEPOST_TTL_MS"]) // 1000), None
for _ in range(int(os.environ["FENCEPOST_CYCLES"])):
    judge.ask("ACQUIRING", "orders")
    is_held = False
    try:
        queue = queue or connect()
        job = reserve(queue)
        hold_ms, is_held = int(judge.ask("ACQUIRED", "orders")), True
        until, value = time.monotonic() + hold_ms / 1000, int(storage.ask("GET", "orders"))
        if work(queue, job, until):
            storage.ask("SET", "orders", value + 1)
        judge.ask("RELEASING", "orders")
        if queue.send(f"release {job} 0 0") != ["RELEASED"]:
            judge.ask("LOST", "orders")
    except OSError as error:
        queue = None
        if is_held:
            judge.ask("RELEASING", "orders")
        judge.ask("UNKNOWN", "orders", error)
        time.sleep(0.1)
    if is_held:
        judge.ask("RELEASED", "orders")
