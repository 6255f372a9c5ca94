"""Tests locks that people write with pg8000, on 127.0.0.1 at the port of the first argument."""

import datetime
import sys
import threading
import time
import uuid

import pg8000.dbapi
import pg8000.native

PORT = int(sys.argv[1])
opened = []


def native():
    made = pg8000.native.Connection("postgres", host="127.0.0.1", port=PORT, timeout=10)
    opened.append(made)
    return made


def dbapi():
    made = pg8000.dbapi.connect("postgres", host="127.0.0.1", port=PORT, timeout=10)
    opened.append(made)
    return made


def check(what, is_so):
    if not is_so:
        sys.exit(f"pg8000: {what}")


def refused(code, work):
    try:
        work()
    except (pg8000.native.DatabaseError, pg8000.dbapi.DatabaseError) as error:
        check(f"{code} is the error, not {error.args[0]}", error.args[0]["C"] == code)
        return
    sys.exit(f"pg8000: {code} was expected")


def advisory():
    one, other = native(), native()
    take = "SELECT pg_try_advisory_lock(:key)"
    check("a free lock is taken", one.run(take, key=7) == [[True]])
    check("a taken one is refused", other.run(take, key=7) == [[False]])
    check("another does not give it back", other.run("SELECT pg_advisory_unlock(7)") == [[False]])
    check("its owner does", one.run("SELECT pg_advisory_unlock(7)") == [[True]])
    check("then it is free", other.run(take, key=7) == [[True]])
    other.close()
    deadline = time.monotonic() + 5
    while one.run(take, key=7) != [[True]]:
        check("the end of a connection frees its locks", time.monotonic() < deadline)
        time.sleep(0.01)


def lock_table():
    """The statements of Spring's JdbcLockRegistry."""
    one, now = native(), datetime.datetime.now()
    one.run(
        "CREATE TABLE IF NOT EXISTS int_lock (lock_key char(36) NOT NULL, region varchar(100) NOT NULL, client_id char(36),"
        " created_date timestamp NOT NULL, CONSTRAINT int_lock_pk PRIMARY KEY (lock_key, region))"
    )
    one.run("DELETE FROM int_lock")
    key, me, you = (str(uuid.uuid4()) for _ in range(3))
    insert = "INSERT INTO int_lock (region, lock_key, client_id, created_date) VALUES ('DEFAULT', :key, :who, :at)"
    one.run(insert, key=key, who=me, at=now)
    refused("23505", lambda: one.run(insert, key=key, who=you, at=now))
    update = (
        "UPDATE int_lock SET client_id = :who, created_date = :at WHERE region = 'DEFAULT' AND lock_key = :key"
        " AND (client_id = :who OR created_date < :old)"
    )
    old = now - datetime.timedelta(seconds=10)
    one.run(update, who=you, at=now, key=key, old=old)
    check("a row that is not old is not taken over", one.row_count == 0)
    one.run(update, who=you, at=now, key=key, old=now + datetime.timedelta(seconds=1))
    check("an old one is", one.row_count == 1)
    seen = one.run("SELECT client_id, created_date FROM int_lock WHERE lock_key = :key", key=key)
    check("the row is what was written", seen == [[you, now]])
    one.run("DELETE FROM int_lock WHERE lock_key = :key AND client_id = :who", key=key, who=me)
    check("the old owner deletes nothing", one.row_count == 0)


def database_time():
    """The statement of ShedLock that uses the time of the database."""
    one = native()
    one.run("DROP TABLE IF EXISTS shedlock")
    one.run(
        "CREATE TABLE shedlock (name VARCHAR(64) NOT NULL PRIMARY KEY, lock_until TIMESTAMP NOT NULL,"
        " locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)"
    )
    now = "timezone('utc', CURRENT_TIMESTAMP)"
    until = f"{now} + cast(:span as interval)"
    take = (
        f"INSERT INTO shedlock(name, lock_until, locked_at, locked_by) VALUES('job', {until}, {now}, :who)"
        f" ON CONFLICT (name) DO UPDATE SET lock_until = {until}, locked_at = {now}, locked_by = :who"
        f" WHERE shedlock.name = 'job' AND shedlock.lock_until <= {now}"
    )
    one.run(take, span="300 milliseconds", who="one")
    check("the lock is taken", one.row_count == 1)
    one.run(take, span="300 milliseconds", who="other")
    check("and refused", one.row_count == 0)
    deadline = time.monotonic() + 5
    while True:
        one.run(take, span="10000 milliseconds", who="other")
        if one.row_count == 1:
            break
        check("it ends", time.monotonic() < deadline)
        time.sleep(0.02)


def rows():
    """Locks by SELECT ... FOR UPDATE in transactions."""
    setup = native()
    setup.run("DROP TABLE IF EXISTS counted")
    setup.run("CREATE TABLE counted (name text PRIMARY KEY, value bigint NOT NULL DEFAULT 0)")
    setup.run("INSERT INTO counted (name) VALUES ('a') ON CONFLICT DO NOTHING")
    one, other = dbapi(), dbapi()
    one.cursor().execute("SELECT value FROM counted WHERE name = %s FOR UPDATE", ("a",))
    refused("55P03", lambda: other.cursor().execute("SELECT value FROM counted FOR UPDATE NOWAIT"))
    other.rollback()
    one.rollback()

    def work():
        connection = dbapi()
        cursor = connection.cursor()
        for _ in range(25):
            cursor.execute("SELECT value FROM counted WHERE name = %s FOR UPDATE", ("a",))
            value = cursor.fetchone()[0]
            cursor.execute("UPDATE counted SET value = %s WHERE name = %s", (value + 1, "a"))
            connection.commit()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("no update is lost", setup.run("SELECT value FROM counted") == [[100]])


def isolation():
    one, other = native(), native()
    one.run("START TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    one.run("SELECT value FROM counted")
    other.run("UPDATE counted SET value = value + 1")
    refused("40001", lambda: one.run("UPDATE counted SET value = 0"))
    refused("25P02", lambda: one.run("SELECT 1"))
    one.run("ROLLBACK")
    one.run("SET lock_timeout = '100ms'")
    other.run("BEGIN")
    other.run("UPDATE counted SET value = 5")
    refused("55P03", lambda: one.run("UPDATE counted SET value = 6"))
    other.run("COMMIT")


for idiom in (advisory, lock_table, database_time, rows, isolation):
    idiom()
    for connection in opened:
        try:
            connection.close()
        except (pg8000.native.InterfaceError, pg8000.dbapi.InterfaceError):
            pass
    opened.clear()
