#!/usr/bin/env python3
"""Sends generated SQL statements of growing depth to the PostgreSQL and the MySQL server of
`fencepost serve`. A server must answer every statement with rows or with an error, and continue.
With --real, real servers must give the same answers, except where the fake server reports that it
does not support a statement or that the statement is too deep."""

import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from common import arguments, is_time_left, tell
from coordinators import MySql, PostgreSql, Served

sizes = arguments(
    __doc__,
    statements=(10_000, "how many statements for each server"),
    depth=(1_000, "levels of the last statements"),
    first=(0, "number of the first statement"),
    seed=(1, "seed for the statements"),
    coordinators=("postgresql,mysql", "which servers"),
    patience=(300, "seconds to wait for an answer"),
    real=(0, "1 also sends the statements to real servers"),
)
began = time.monotonic()

# Every HUGE_EVERY-th statement has HUGE times as many levels.
HUGE, HUGE_EVERY = 100, 100
NOBODY = 65_534
# Milliseconds of the server's processor time that a statement may take.
SLOW_MS = 5_000


class Dialect:
    """Statements for a server. A level is a text before and a text after an inner expression. The
    fake server does not support the levels in `strange`."""

    def __init__(self, name, client, schema, starts, deeper, strange, wider, templates, refusals):
        self.name, self.client, self.schema = name, client, schema
        self.starts, self.deeper, self.strange, self.wider = starts, deeper, strange, wider
        self.templates, self.refusals = templates, refusals


POSTGRESQL = Dialect(
    "postgresql",
    PostgreSql,
    ["create table t (k int primary key, v int)", "insert into t values (1, 1)"],
    ["1", "k", "v", "'a'", "'1'", "true", "null", "now()", "1000000", "-7"],
    [("", "+1"), ("", "-1"), ("", "*1"), ("", "/1"), ("", "%1"), ("", "*0"), ("", "::int"),
     ("", "::text"), ("", "::char(3)::text"), ("", "::int::text::int"), ("", "::boolean"),
     ("", " is null"), ("", " is not null"), ("", " isnull"), ("", " at time zone 'utc'"),
     ("", "+ interval '1 second'"), ("not ", ""), ("- ", ""), ("(", ")"), ("((", "))"),
     ("cast(", " as int)"), ("cast(", " as bigint)"), ("(", " = true)"), ("(", " < 5)"),
     ("(", ") and k = 1 or true"), ("case when true then ", " end"), ("", " = 1"),
     ("case when ", " then true end"), ("case when k = 1 then 1 else ", " end"), ("1 + (", ")"),
     ("pg_try_advisory_xact_lock(", ")")],
    [("", " || 'a'"), ("coalesce(", ", 1)"), ("abs(", ")"), ("", " in (1, 2)"), ("(select ", ")"),
     ("", "[1]"), ("", " between 1 and 2"), ("", " collate \"C\""), ("row(", ")"), ("", ".a")],
    [" or true", " and k = 1", " or k = 1"],
    ["SELECT {} FROM t", "SELECT {}", "SELECT k FROM t WHERE ({})::text = '' AND k = 1",
     "SELECT count({}) FROM t", "SELECT k FROM t ORDER BY {}",
     "INSERT INTO t VALUES (2, 1) ON CONFLICT (k) DO UPDATE SET v = ({}) RETURNING k",
     "UPDATE t SET v = ({})::text::int", "DELETE FROM t WHERE k = 2 AND ({})::text = ''",
     "INSERT INTO t VALUES ({}, 0)", "CREATE TABLE u (k text DEFAULT ({})::text)",
     "DROP TABLE IF EXISTS u", "DELETE FROM t WHERE k <> 1", "UPDATE t SET v = 1"],
    # A statement that is not supported, and two names of statements that are too deep.
    {"0A000", "54001", "54000"},
)
MYSQL = Dialect(
    "mysql",
    MySql,
    ["create database shop", "use shop",
     "create table t (k int not null primary key, n int) engine=innodb",
     "insert into t values (1, 1)"],
    ["1", "k", "n", "'a'", "null", "true", "now()", "-7"],
    [("", " + 1"), ("", " - 1"), ("", " is null"), ("", " is not null"), ("", " = 1"),
     ("", " <> n"), ("", " < 1"), ("", " <=> null"), ("", " + interval 1 second"),
     ("", " - interval 1 day"), ("", "+ interval 1"), ("not ", ""), ("(", ")"), ("not (", ")"),
     ("(", " in (1, 2))"), ("1 in (1, ", ")"), ("concat(", ")"), ("(", ") and 1 or 1"),
     ("timestampadd(second, 1, ", ")"), ("date_add(", ", interval 1 day)"), ("1 + (", ")"),
     ("date_sub(now(), interval ", " day)"), ("is_free_lock(", ")")],
    [("", " * 2"), ("- ", ""), ("if(", ", 1, 2)"), ("(select ", ")"), ("ifnull(", ", 1)"),
     ("case when ", " then 1 end"), ("! ", ""), ("", " like 'a%'"), ("", " div 2"), ("", " xor 1"),
     ("coalesce(", ", 1)"), ("", " between 1 and 2"), ("", " collate utf8mb4_bin")],
    [" or n = 1", " and n = 0"],
    ["SELECT {}", "SELECT {} FROM t", "SELECT k FROM t WHERE {}", "DO {}",
     "SELECT k FROM t WHERE k = 1 AND n = {}", "UPDATE t SET n = {}",
     "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE n = {}",
     "DELETE FROM t WHERE n > 7 AND {}", "INSERT INTO t VALUES (2, {})",
     "DELETE FROM t WHERE k <> 1", "UPDATE t SET n = 1"],
    {1235, 1436},
)


def expression(dice, dialect, depth, is_strange):
    text = [dice.choice(dialect.starts)]
    ends = []
    # Expressions with few kinds of levels are more often valid.
    levels = dialect.deeper + dialect.strange * is_strange
    levels = dice.sample(levels, dice.choice([1, 2, 4, len(levels)]))
    for _ in range(depth):
        before, after = dice.choice(levels)
        text.append(after)
        ends.append(before)
    return "".join(reversed(ends)) + "".join(text)


def broken(dice, text):
    """Removes, repeats or exchanges pieces of a statement."""
    words = text.split(" ")
    at, other = dice.randrange(len(words)), dice.randrange(len(words))
    how = dice.randrange(4)
    if how == 0:
        del words[at]
    elif how == 1:
        words.insert(other, words[at])
    elif how == 2:
        words[at], words[other] = words[other], words[at]
    else:
        cut = dice.randrange(len(text) + 1)
        return text[:cut] + dice.choice(["'", "(", ")", '"', "`", "--", "/*", "$1", ";;", "\\", "\u00e9", "::", "@@"]) + text[cut:]
    return " ".join(words)


def statement(dialect, number):
    """Returns statement `number`, and whether the fake server supports its expressions."""
    dice = random.Random(f"{sizes.seed} {dialect.name} {number}")
    depth = dice.randrange(1 + sizes.depth * (number + 1) // max(sizes.first + sizes.statements, 1))
    if number % HUGE_EVERY == HUGE_EVERY - 1:
        depth *= HUGE
    is_strange = dice.randrange(4) == 0
    if dice.randrange(8) == 0:
        more = dice.choice(dialect.wider + [", 1"] * is_strange)
        inner = expression(dice, dialect, min(depth, 3), is_strange) + more * depth
    else:
        inner = expression(dice, dialect, depth, is_strange)
    text = dice.choice(dialect.templates).replace("{}", inner)
    if dice.randrange(4) == 0:
        return broken(dice, text), False
    return text, not is_strange


class Real:
    """A real server on a free port, or None as its port if it is not installed."""

    def __init__(self, dialect, folder):
        self.process, self.port, self.folder = None, None, Path(folder)
        self.folder.mkdir()
        start = {"postgresql": self.postgresql, "mysql": self.mysql}[dialect.name]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = start(port)
        if command is None:
            return
        self.process = subprocess.Popen(command, **self.options())
        for _ in range(600):
            try:
                dialect.client(port)
                self.port = port
                return
            except OSError:
                time.sleep(0.1)

    def options(self):
        as_root = os.getuid() == 0
        if as_root:
            subprocess.run(["chown", "-R", str(NOBODY), self.folder], check=True)
        own = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if as_root else {}
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return {**own, **quiet, "cwd": self.folder, "env": {**os.environ, "TMPDIR": str(self.folder)}}

    def postgresql(self, port):
        programs = Path("/usr/lib/postgresql/15/bin")
        if not (programs / "initdb").exists():
            return None
        data = self.folder / "data"
        make = [programs / "initdb", "-A", "trust", "-U", "postgres", "-N", "--locale=C", "-E", "UTF8", "-D", data]
        subprocess.run(make, check=True, **self.options())
        settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "TimeZone=UTC"]
        settings += ["dynamic_shared_memory_type=mmap", f"port={port}", "autovacuum=off"]
        return [programs / "postgres", "-D", data, *(word for one in settings for word in ("-c", one))]

    def mysql(self, port):
        path = os.environ.get("PATH", "") + ":/usr/sbin"
        make, server = (shutil.which(name, path=path) for name in ("mariadb-install-db", "mariadbd"))
        if not make or not server:
            return None
        data = ["--no-defaults", f"--datadir={self.folder / 'data'}"]
        more = ["--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run([make, *data, *more], check=True, **self.options())
        return [server, *data, f"--port={port}", f"--socket={self.folder / 'socket'}", "--bind-address=127.0.0.1"]

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=120)


def processor_ms(process):
    """Returns the processor time of a process in milliseconds."""
    ns = 0
    for thread in Path(f"/proc/{process.pid}/task").iterdir():
        ns += int((thread / "schedstat").read_text().split()[0])
    return ns // 1_000_000


def memory(process):
    """Returns the largest memory of a process so far in MiB."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024


def shown(text):
    return text if len(text) <= 200 else f"{text[:100]} ... {text[-60:]} ({len(text)} bytes)"


def changes_with_time(text):
    return any(word in text.lower() for word in ("now()", "timestamp", "advisory"))


def differs(dialect, text, is_supported, fake, real):
    """Returns whether two answers are of different kinds: rows or an error. Equal kinds must have
    equal rows. The model may refuse a statement that the real server supports."""
    (rows, code), (real_rows, real_code) = fake, real
    if code in dialect.refusals or code and not is_supported:
        return False
    if code is None and real_code is None:
        return rows != real_rows and not changes_with_time(text)
    return code is None or real_code is None


def ask_all(dialect, place):
    """Sends all statements to a server. Returns figures."""
    served = Served(["--coordinator", dialect.name], Path(place, dialect.name))
    assert served.port, served.said()
    real = Real(dialect, Path(place, f"real-{dialect.name}")) if sizes.real else None
    connections = [dialect.client(one.port) for one in (served, real) if one and one.port]
    figures = {"asked": 0, "rows": 0, "errors": 0, "refused": 0, "compared": 0, "most_ms": 0}
    number = sizes.first
    try:
        for connection in connections:
            connection.socket.settimeout(sizes.patience)
            for line in dialect.schema:
                connection.ask(line)
        while number < sizes.first + sizes.statements and is_time_left(sizes, began):
            text, is_supported = statement(dialect, number)
            used_before = processor_ms(served.process)
            answers = [connections[0].answer(text)]
            used = processor_ms(served.process) - used_before
            figures["most_ms"] = max(figures["most_ms"], used)
            if used > SLOW_MS:
                failures.append(f"{dialect.name}, statement {number}: {used} ms: {shown(text)}")
            code = answers[0][1]
            figures["asked"] += 1
            figures["rows" if code is None else "refused" if code in dialect.refusals else "errors"] += 1
            for connection in connections[1:]:
                figures["compared"] += 1
                answer = connection.answer(text)
                if differs(dialect, text, is_supported, answers[0], answer):
                    failures.append(f"{dialect.name}, statement {number}: {answers[0]} and not {answer}: {shown(text)}")
                if (code is None) != (answer[1] is None):
                    # The table may differ from now on.
                    for one in connections:
                        for line in dialect.templates[-2:]:
                            one.answer(line)
            number += 1
        # The server still accepts connections.
        dialect.client(served.port).ask("select 1")
        figures["MiB"] = memory(served.process)
    except (OSError, AssertionError) as error:
        text = statement(dialect, number)[0]
        failures.append(f"{dialect.name}, statement {number}: {error!r}: {served.said()[-300:]!r}: {shown(text)}")
    finally:
        for connection in connections:
            connection.socket.close()
        status = served.stop()
        if real:
            real.stop()
    if status not in (0, 143):
        failures.append(f"{dialect.name} ended with status {status}: {served.said()[-300:]!r}")
    return figures


failures, figures = [], {}
with tempfile.TemporaryDirectory() as place:
    os.chmod(place, 0o755)
    for dialect in (one for one in (POSTGRESQL, MYSQL) if one.name in sizes.coordinators.split(",")):
        told = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in ask_all(dialect, place).items())
        figures[dialect.name] = f"({told})"
numbers = f"{sizes.first}..{sizes.first + sizes.statements}"
tell("sql", began, failures, statements=numbers, seed=sizes.seed, **figures)
