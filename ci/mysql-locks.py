"""Tests locks that people write with PyMySQL, on 127.0.0.1 at the port of the first argument."""

import contextlib
import sys
import threading
import time

import pymysql

PORT = int(sys.argv[1])
opened = []


def connect(**options):
    made = pymysql.connect(host="127.0.0.1", port=PORT, user="root", read_timeout=20, **options)
    opened.append(made)
    return made


def check(what, is_so):
    if not is_so:
        sys.exit(f"PyMySQL: {what}")


def ask(connection, sql, *arguments):
    with connection.cursor() as cursor:
        cursor.execute(sql, arguments)
        row = cursor.fetchone()
        return row[0] if len(row) == 1 else row


def refused(code, work):
    try:
        work()
    except pymysql.MySQLError as error:
        check(f"{code} is the error, not {error.args}", error.args[0] == code)
        return
    sys.exit(f"PyMySQL: {code} was expected")


class TimedOut(Exception):
    pass


@contextlib.contextmanager
def locked(connection, name, seconds):
    """The lock of django-mysql: GET_LOCK with a timeout, RELEASE_LOCK at the end of the block."""
    got = ask(connection, "SELECT GET_LOCK(%s, %s)", name, seconds)
    if got != 1:
        raise TimedOut(got)
    try:
        yield
    finally:
        check("it is given back", ask(connection, "SELECT RELEASE_LOCK(%s)", name) == 1)


def one_lock():
    one, other = connect(), connect()
    with locked(one, "it's one", 1):
        holder = ask(other, "SELECT IS_USED_LOCK(%s)", "it's one")
        check("its holder is known by its number", holder == one.thread_id() == ask(one, "SELECT CONNECTION_ID()"))
        check("it is not free", ask(other, "SELECT IS_FREE_LOCK(%s)", "it's one") == 0)
        check("another does not give it back", ask(other, "SELECT RELEASE_LOCK(%s)", "it's one") == 0)
        began = time.monotonic()
        try:
            with locked(other, "it's one", 1):
                sys.exit("PyMySQL: two have the lock")
        except TimedOut as error:
            check("the wait is over", error.args == (0,) and time.monotonic() - began >= 0.9)
        with locked(one, "it's one", 0):
            pass
        check("it is counted", ask(other, "SELECT IS_FREE_LOCK(%s)", "it's one") == 0)
    check("then it is free", ask(other, "SELECT IS_FREE_LOCK(%s)", "it's one") == 1)
    check("a lock that nobody has is not given back", ask(other, "SELECT RELEASE_LOCK('x')") is None)


def lost_connection():
    one, other = connect(), connect()
    ask(one, "SELECT GET_LOCK('lost', 0)")
    waits = threading.Timer(0.2, one.close)
    waits.start()
    check("the end of a connection frees its lock", ask(other, "SELECT GET_LOCK('lost', 15)") == 1)
    waits.join()
    other.ping(reconnect=False)
    third = connect()
    number = other.thread_id()
    with third.cursor() as cursor:
        cursor.execute(f"KILL {number}")
    check("and so does KILL", ask(third, "SELECT GET_LOCK('lost', 15)") == 1)
    refused(2013, lambda: ask(other, "SELECT 1"))


def counted():
    """Threads increase a counter, each in its turn."""
    value = [0]

    def work():
        connection = connect()
        for _ in range(20):
            with locked(connection, "counted", 15):
                seen = value[0]
                time.sleep(0.001)
                value[0] = seen + 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("no turn is lost", value[0] == 80)


def deadlock():
    """Two connections wait for each other's lock. One is refused and keeps the lock that it has."""
    pair = [(connect(), "a", "b"), (connect(), "b", "a")]
    for connection, own, _ in pair:
        ask(connection, "SELECT GET_LOCK(%s, 0)", own)
    outcomes = []

    def work(connection, own, wanted):
        try:
            outcomes.append(ask(connection, "SELECT GET_LOCK(%s, 15)", wanted))
        except pymysql.OperationalError as error:
            outcomes.append(error.args[0])
            check("what it had it keeps", ask(connection, "SELECT IS_USED_LOCK(%s)", own) == connection.thread_id())
            ask(connection, "SELECT RELEASE_ALL_LOCKS()")

    threads = [threading.Thread(target=work, args=one) for one in pair]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(f"one of two is refused, not {outcomes}", sorted(outcomes) == [1, 1213])


def around():
    one = connect(database="mysql", charset="utf8mb4", autocommit=True)
    check("the database is chosen", ask(one, "SELECT DATABASE()") == "mysql")
    check("the version is told", ask(one, "SELECT VERSION()") == one.get_server_info().removeprefix("5.5.5-"))
    check("names are bytes", ask(one, "SELECT GET_LOCK(%s, 0), IS_FREE_LOCK(%s)", "é", "É") == (1, 1))
    one.begin()
    one.rollback()
    check("a transaction does not matter", ask(one, "SELECT IS_USED_LOCK('é')") == one.thread_id())
    refused(1059, lambda: ask(one, "SELECT GET_LOCK(%s, 0)", "x" * 193))
    refused(1064, lambda: ask(one, "SELEC 1"))
    refused(1049, lambda: one.select_db("nothing"))
    refused(1049, lambda: connect(database="nothing"))
    refused(1045, lambda: pymysql.connect(host="127.0.0.1", port=PORT, user="root", password="x"))
    with one.cursor() as cursor:
        cursor.execute("SELECT GET_LOCK('a', -1)")
        check("nothing is got", cursor.fetchone() == (None,))
        cursor.execute("SHOW WARNINGS")
        check("and it is said why", cursor.fetchone()[1] == 1411)


def run(connection, sql, *arguments):
    with connection.cursor() as cursor:
        return cursor.execute(sql, arguments)


def table():
    """Locks that are a row that exists, and locks that are a row that a transaction has locked."""
    one, other = connect(autocommit=True), connect(autocommit=True)
    run(one, "CREATE DATABASE app")
    for connection in (one, other):
        connection.select_db("app")
    run(one, "CREATE TABLE locks (name VARCHAR(64) NOT NULL PRIMARY KEY, owner VARCHAR(64))")
    insert = "INSERT INTO locks VALUES (%s, %s)"
    check("the row is new", run(one, insert, "job", "one") == 1)
    refused(1062, lambda: run(other, insert, "job", "other"))
    delete = "DELETE FROM locks WHERE name = %s AND owner = %s"
    check("another's row stays", run(other, delete, "job", "other") == 0)
    check("one's own goes", run(one, delete, "job", "one") == 1)
    run(one, insert, "row", "nobody")
    select = "SELECT owner FROM locks WHERE name = %s FOR UPDATE"
    one.begin()
    check("the row is locked", ask(one, select, "row") == "nobody")
    run(other, "SET innodb_lock_wait_timeout = 1")
    other.begin()
    refused(1205, lambda: ask(other, select, "row"))
    refused(1205, lambda: ask(other, select + " NOWAIT", "row"))
    timer = threading.Timer(0.3, one.close)
    timer.start()
    run(other, "SET innodb_lock_wait_timeout = 15")
    check("the end of a connection frees its row", ask(other, select, "row") == "nobody")
    timer.join()
    other.commit()


for part in (one_lock, lost_connection, counted, deadlock, around, table):
    part()
    for connection in opened:
        with contextlib.suppress(pymysql.MySQLError):
            connection.close()
    opened.clear()
