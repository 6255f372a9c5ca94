#!/usr/bin/env python3
"""Repeats a recorded run against real Redis servers, and says whether two clients held the lock.

Exit status: 1 if the violation was shown, 0 if it was not, 2 if it could not run.
"""

import argparse
import collections
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HOST = "127.0.0.1"
MASTER = "mymaster"
# Seconds to wait for a server, a reply or a promotion.
PATIENCE = 20.0
# Seconds for which the next command at a server waits for the reply to the one before.
IN_ORDER = 0.2


class CannotRun(Exception):
    pass


# The protocol


def encoded(words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = bytes.fromhex(word["hex"]) if isinstance(word, dict) else word.encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


def text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def read_reply(stream):
    line = stream.readline()
    if not line.endswith(b"\r\n"):
        raise EOFError
    kind, rest = line[:1], line[1:-2]
    if kind == b"+":
        return text(rest)
    if kind == b"-":
        return {"error": rest.decode(errors="replace")}
    if kind == b":":
        return int(rest)
    if kind == b"$":
        if rest == b"-1":
            return None
        data = stream.read(int(rest) + 2)
        if len(data) < int(rest) + 2:
            raise EOFError
        return text(data[:-2])
    if kind == b"*":
        return None if rest == b"-1" else [read_reply(stream) for _ in range(int(rest))]
    raise CannotRun("a server answers in another protocol: %r" % line)


def ask(port, *words):
    """One command on a connection of its own; None if there is no answer."""
    try:
        with socket.create_connection((HOST, port), timeout=1) as connected:
            connected.sendall(encoded(words))
            return read_reply(connected.makefile("rb"))
    except (OSError, EOFError):
        return None


def same(recorded, real):
    if isinstance(recorded, list) and isinstance(real, list):
        return len(recorded) == len(real) and all(map(same, recorded, real))
    if isinstance(recorded, int) and isinstance(real, int):
        return recorded == real or (recorded > 10 and real > 10)
    if isinstance(recorded, dict) and isinstance(real, dict) and "error" in recorded:
        return recorded["error"].split(" ")[0] == real.get("error", "").split(" ")[0]
    return recorded == real


# Servers


class Server:
    """A redis-server process, as a server or as a Sentinel. Commands and faults take turns."""

    def __init__(self, world, name):
        self.world, self.name = world, name
        self.is_sentinel = name.startswith("sentinel-")
        self.port, self.announced = world.free_port(), None
        self.folder = os.path.join(world.folder, name)
        os.mkdir(self.folder)
        self.process, self.pauses = None, 0
        self.turn, self.turns = 0, threading.Condition()

    def reached_at(self):
        """The port at which other servers, and Sentinels' answers, find it."""
        return self.announced or self.port

    def write_configuration(self):
        run = self.world.run
        lines = ["port %d" % self.port, "bind " + HOST, "protected-mode no", "daemonize no"]
        lines += ["dir " + self.folder, "logfile log"]
        if self.announced:
            lines.append("bind-source-addr " + self.world.sources[self.name])
        if self.is_sentinel:
            primary = self.world.servers["redis-1"].reached_at()
            quorum = len(run["sentinels"]) // 2 + 1
            lines.append("sentinel monitor %s %s %d %d" % (MASTER, HOST, primary, quorum))
            for key in ("down-after-milliseconds", "failover-timeout"):
                field = {"down-after-milliseconds": "down_after_ms"}.get(key, "failover_timeout_ms")
                lines.append("sentinel %s %s %d" % (key, MASTER, run[field]))
            if self.announced:
                lines.append("sentinel announce-ip " + HOST)
                lines.append("sentinel announce-port %d" % self.announced)
        else:
            lines += self.persistence() + ["repl-diskless-sync-delay 0"]
            if run["min_replicas"]:
                lines.append("min-replicas-to-write %d" % run["min_replicas"])
            if self.announced:
                lines.append("replica-announce-ip " + HOST)
                lines.append("replica-announce-port %d" % self.announced)
            if run["replicated"]:
                best = self.name == run["promoted"]
                lines.append("replica-priority %d" % (1 if best else 100))
                if self.name != "redis-1":
                    primary = self.world.servers["redis-1"].reached_at()
                    lines.append("replicaof %s %d" % (HOST, primary))
        with open(os.path.join(self.folder, "redis.conf"), "w") as file:
            file.write("\n".join(lines) + "\n")

    def persistence(self):
        return {
            "none": ['save ""'],
            "rdb": ["save 3600 1 300 100 60 10000"],
            "aof-everysec": ['save ""', "appendonly yes", "appendfsync everysec"],
            "aof-always": ['save ""', "appendonly yes", "appendfsync always"],
        }[self.world.run["persistence"]]

    def start(self):
        command = [self.world.binary, "redis.conf"] + ["--sentinel"] * self.is_sentinel
        self.process = subprocess.Popen(
            command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )

    def serves(self):
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "log"), errors="replace") as log:
                last = (log.read().strip().splitlines() or ["no word"])[-1]
            raise CannotRun("%s ends at its start: %s" % (self.name, last))
        return ask(self.port, "PING") == "PONG"

    def is_primary(self):
        role = ask(self.port, "ROLE")
        return isinstance(role, list) and role[0] == "master"

    def pause(self):
        self.pauses += 1
        os.kill(self.process.pid, signal.SIGSTOP)

    def resume(self):
        self.pauses -= 1
        if self.pauses == 0:
            os.kill(self.process.pid, signal.SIGCONT)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def await_turn(self, turn):
        with self.turns:
            self.turns.wait_for(lambda: self.turn == turn)

    def end_turn(self):
        with self.turns:
            self.turn += 1
            self.turns.notify_all()


class Proxy:
    """In front of a server for the other servers: holds bytes back while a link is cut or slow."""

    def __init__(self, world, server):
        self.world, self.server = world, server
        self.listener = socket.create_server((HOST, server.announced))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, (source, _) = self.listener.accept()
                far = socket.create_connection((HOST, self.server.port))
            except OSError:
                if self.listener.fileno() < 0:
                    return
                near.close()
                continue
            peer = self.world.names.get(source, source)
            for ends, link in (
                ((near, far), (peer, self.server.name)),
                ((far, near), (self.server.name, peer)),
            ):
                self.carry(ends, link)

    def carry(self, ends, link):
        waiting = collections.deque()
        arrived = threading.Condition()

        def read():
            data = b"?"
            while data:
                try:
                    data = ends[0].recv(65536)
                except OSError:
                    data = b""
                with arrived:
                    waiting.append((time.monotonic(), data))
                    arrived.notify()

        def write():
            while True:
                with arrived:
                    arrived.wait_for(lambda: waiting)
                    at, data = waiting.popleft()
                at += self.world.delays.get(link, 0)
                while self.world.cuts.get(link, 0) > 0 or time.monotonic() < at:
                    time.sleep(0.002)
                try:
                    if not data:
                        ends[1].shutdown(socket.SHUT_WR)
                        return
                    ends[1].sendall(data)
                except OSError:
                    return

        for work in (read, write):
            threading.Thread(target=work, daemon=True).start()


class Connection:
    """A client's connection. A thread reads its replies."""

    def __init__(self, server):
        self.replies, self.arrived = [], threading.Condition()
        self.socket = socket.create_connection((HOST, server.port), timeout=PATIENCE)
        self.socket.settimeout(None)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        stream = self.socket.makefile("rb")
        try:
            while True:
                reply = read_reply(stream)
                with self.arrived:
                    self.replies.append(reply)
                    self.arrived.notify_all()
        except (OSError, EOFError, ValueError, CannotRun):
            pass

    def reply(self, number, patience):
        """Whether the reply is there, and the reply."""
        with self.arrived:
            there = self.arrived.wait_for(lambda: len(self.replies) > number, patience)
            return there, self.replies[number] if there else None

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


# The run


class World:
    def __init__(self, run, binary, folder):
        self.run, self.binary, self.folder = run, binary, folder
        self.taken, self.cuts, self.delays = set(), {}, {}
        self.say_lock = threading.Lock()
        names = run["servers"] + run["sentinels"]
        self.sources = {name: "127.0.0.%d" % (11 + at) for at, name in enumerate(names)}
        self.names = {source: name for name, source in self.sources.items()}
        self.servers = {name: Server(self, name) for name in names}
        self.proxies = []
        if run["proxied"]:
            for server in self.servers.values():
                server.announced = self.free_port()
                self.proxies.append(Proxy(self, server))

    def free_port(self):
        while True:
            with socket.create_server((HOST, 0)) as one:
                port = one.getsockname()[1]
            if port not in self.taken:
                self.taken.add(port)
                return port

    def until(self, what, is_so):
        end = time.monotonic() + PATIENCE
        while not is_so():
            if time.monotonic() > end:
                raise CannotRun("%s: not after %d s" % (what, PATIENCE))
            time.sleep(0.05)

    def start(self):
        for server in self.servers.values():
            server.write_configuration()
        for name in self.run["servers"]:
            self.servers[name].start()
        for name in self.run["servers"]:
            self.until(name + " serves", self.servers[name].serves)
        if self.run["replicated"]:
            self.until("the replicas follow", self.follow)
        for name in self.run["sentinels"]:
            self.servers[name].start()
        for name in self.run["sentinels"]:
            self.until(name + " serves", self.servers[name].serves)
            self.until(name + " knows all servers", lambda: self.knows_all(name))

    def follow(self):
        role = ask(self.servers["redis-1"].port, "ROLE")
        return isinstance(role, list) and len(role[2]) == len(self.run["servers"]) - 1

    def knows_all(self, name):
        described = ask(self.servers[name].port, "SENTINEL", "MASTER", MASTER)
        if not isinstance(described, list):
            return False
        known = dict(zip(described[::2], described[1::2]))
        replicas, others = len(self.run["servers"]) - 1, len(self.run["sentinels"]) - 1
        counts = (known["num-slaves"], known["num-other-sentinels"])
        return counts == (str(replicas), str(others)) and known["flags"] == "master"

    def stop(self):
        for server in self.servers.values():
            server.kill()
        for proxy in self.proxies:
            proxy.listener.close()

    def located(self, reply):
        """A Sentinel's answer, with the name of a server for its address."""
        if not isinstance(reply, list) or len(reply) != 2:
            return reply
        ports = {str(server.reached_at()): name for name, server in self.servers.items()}
        return [ports[reply[1]], "6379"] if reply[1] in ports else reply


class Section:
    """A client's belief that it holds the lock."""

    def __init__(self, by, acquisition, begins):
        self.by, self.acquisition, self.begins = by, acquisition, begins
        self.until = float("inf")


class Show:
    """One attempt: each client, each promotion and the faults go their own way, in order."""

    def __init__(self, world):
        self.world, self.connections, self.asked = world, {}, {}
        self.lock = threading.Lock()
        self.failed, self.entered, self.requests = {}, {}, []
        self.sections = []
        self.ways = collections.OrderedDict()
        turns = collections.Counter()
        for place, step in enumerate(world.run["steps"]):
            way = step.get("by", "faults")
            if step["do"] == "storage":
                way = "storage"
            elif step["do"] == "promoted":
                way = "promotion %d" % place
            if "server" in step:
                step = dict(step, turn=turns[step["server"]])
                turns[step["server"]] += 1
            self.ways.setdefault(way, []).append(step)

    def now(self):
        return time.monotonic() - self.began

    def say(self, who, what):
        with self.world.say_lock:
            print("%8.3f  %-10s %s" % (self.now(), who, what), flush=True)

    def go(self):
        self.began = time.monotonic()
        threads = [
            threading.Thread(target=self.follow, args=way, daemon=True)
            for way in self.ways.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.ended = self.now()

    def follow(self, way, steps):
        for step in steps:
            late = step["at_us"] / 1e6 - self.now()
            if late > 0:
                time.sleep(late)
            server = self.world.servers.get(step.get("server"))
            if server:
                server.await_turn(step["turn"])
            try:
                if way not in self.failed:
                    getattr(self, "do_" + step["do"])(way, step, server)
            except CannotRun as error:
                self.fail(way, str(error))
            except OSError:
                pass  # A dead server or a closed connection: the replies tell.
            finally:
                if server:
                    server.end_turn()

    def fail(self, way, why):
        self.failed[way] = why
        self.say(way, "differs from the recorded run: " + why)

    # Clients

    def do_command(self, way, step, server):
        number = step["connection"]
        if number not in self.connections:
            self.connections[number] = Connection(server)
            self.asked[number] = []
        connection = self.connections[number]
        self.asked[number].append((server, step["words"]))
        connection.socket.sendall(encoded(step["words"]))
        self.say(way, "to %s: %s" % (server.name, shown(step["words"])))
        if not server.pauses:
            connection.reply(len(self.asked[number]) - 1, IN_ORDER)

    def do_reply(self, way, step, _):
        connection = self.connections.get(step["connection"])
        if not connection:
            raise CannotRun("a connection to a server was refused")
        server, words = self.asked[step["connection"]][step["number"]]
        there, real = connection.reply(step["number"], PATIENCE)
        if server.is_sentinel:
            real = self.ask_sentinel(server, words, step["value"])
        if not there and not server.is_sentinel:
            raise CannotRun("no reply to %s" % shown(words))
        if not same(step["value"], real):
            recorded = "%s, recorded: %s" % (shown([real]), shown([step["value"]]))
            raise CannotRun("reply to %s: %s" % (shown(words), recorded))
        self.say(way, "from %s: %s" % (server.name, shown([real])))

    def ask_sentinel(self, server, words, recorded):
        """Sentinels learn of a promotion one after the other: asks until the answer is the same."""
        end = time.monotonic() + PATIENCE
        while True:
            real = self.world.located(ask(server.port, *words))
            if same(recorded, real) or time.monotonic() > end:
                return real
            time.sleep(0.05)

    def do_close(self, _, step, __):
        connection = self.connections.get(step["connection"])
        if connection:
            connection.close()

    def do_enter(self, way, step, _):
        with self.lock:
            self.entered[step["acquisition"]] = len(self.sections)
            self.sections.append(Section(way, step["acquisition"], self.now()))
        self.say(way, "believes that it holds the lock")

    def do_leave(self, way, step, _):
        self.sections[self.entered[step["acquisition"]]].until = self.now()
        self.say(way, "leaves its critical section")

    def do_storage(self, _, step, __):
        end = time.monotonic() + PATIENCE
        while step["acquisition"] not in self.entered:
            if step["by"] in self.failed or time.monotonic() > end:
                return
            time.sleep(0.002)
        taken = "takes" if step["accepted"] else "rejects"
        self.say("storage", "%s a %s of %s" % (taken, step["access"], step["by"]))
        self.requests.append((self.now(), step))

    # Servers

    def do_pause(self, _, step, server):
        self.say(server.name, "SIGSTOP")
        server.pause()

    def do_resume(self, _, step, server):
        self.say(server.name, "SIGCONT")
        server.resume()

    def do_kill(self, _, step, server):
        self.say(server.name, "SIGKILL")
        server.kill()

    def do_start(self, _, step, server):
        self.say(server.name, "starts again")
        server.start()
        self.world.until(server.name + " serves", server.serves)

    def do_type(self, _, step, server):
        for words in step["commands"]:
            self.say("operator", "at %s: %s" % (server.name, " ".join(words)))
            other = self.world.servers.get(words[1]) if words[0] == "REPLICAOF" else None
            if other:
                words = ["REPLICAOF", HOST, str(other.reached_at())]
            ask(server.port, *words)

    def do_promoted(self, _, step, server):
        self.world.until(server.name + " is promoted", server.is_primary)
        self.say(server.name, "is a primary now")

    def do_cut(self, _, step, __):
        self.change(step, 1, "cut")

    def do_heal(self, _, step, __):
        self.change(step, -1, "healed")

    def change(self, step, by, what):
        for pair in map(tuple, step["pairs"]):
            self.world.cuts[pair] = self.world.cuts.get(pair, 0) + by
        links = ", ".join("%s to %s" % tuple(pair) for pair in step["pairs"])
        self.say("network", "%s: %s" % (what, links))

    def do_delay(self, _, step, __):
        for pair in map(tuple, step["pairs"]):
            self.world.delays[pair] = step["delay_us"] / 1e6
        self.say("network", "links between servers take %.3f s longer" % (step["delay_us"] / 1e6))

    def do_say(self, _, step, __):
        self.say("faults", step["text"])

    # The verdict

    def overlap(self):
        """The recorded pair of sections, if they were open at the same time."""
        clash = self.world.run["clash"]
        sections = [one for one in self.sections if one.acquisition in clash]
        if len(sections) < 2:
            return None
        begins = max(one.begins for one in sections)
        shared = min([one.until for one in sections] + [self.ended]) - begins
        if shared <= 0:
            return None
        pair = " and ".join(one.by for one in sections)
        what = "%s both believed that they held the lock, for at least %.3f s from %.3f s on"
        return what % (pair, shared, begins)

    def stale_write(self):
        """The first write that was taken after a request of a later holder."""
        latest = -1
        for at, step in self.requests:
            place = self.entered[step["acquisition"]]
            if place < latest and step["access"] == "write" and step["accepted"]:
                later = self.sections[latest].by
                if later != step["by"]:
                    what = "the storage took a write of %s at %.3f s, after a request of %s"
                    return what % (step["by"], at, later)
            latest = max(latest, place)
        return None

    def found(self):
        kind = self.world.run["kind"]
        if kind == "overlap":
            return self.overlap()
        return self.stale_write() or (self.overlap() if kind != "stale-write" else None)


def shown(words):
    texts = [word if isinstance(word, str) else json.dumps(word) for word in words]
    line = " ".join(" ".join(text.split()) for text in texts)
    return line if len(line) <= 100 else line[:97] + "..."


def attempt(run, binary):
    folder = tempfile.mkdtemp(prefix="violation-")
    world = World(run, binary, folder)
    try:
        world.start()
        show = Show(world)
        show.go()
        return show.found(), show.failed
    finally:
        world.stop()
        shutil.rmtree(folder, ignore_errors=True)


def load():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.json")) as file:
        run = json.load(file)
    run.update(run.pop("deployment"))
    return run


def main():
    parser = argparse.ArgumentParser(description="Show a violation on real Redis servers.")
    parser.add_argument("--attempts", type=int, default=3, metavar="N", help="default: 3")
    attempts = parser.parse_args().attempts
    named = os.environ.get("REDIS_SERVER", "redis-server")
    binary = shutil.which(named)
    if not binary:
        raise CannotRun("%s is not installed: set REDIS_SERVER to its path" % named)
    run = load()
    print(run["title"])
    why = {}
    for number in range(attempts):
        print("attempt %d of %d" % (number + 1, attempts))
        found, why = attempt(run, os.path.abspath(binary))
        if found:
            print("VIOLATION SHOWN: " + found)
            return 1
    reasons = "; ".join("%s: %s" % pair for pair in why.items())
    print("NOT SHOWN: " + (reasons or "the replies were the recorded ones, but the times were not"))
    return 0


def stop(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    try:
        sys.exit(main())
    except (CannotRun, OSError) as error:
        print("cannot run: %s" % error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
