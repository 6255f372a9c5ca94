// Locks on PostgreSQL as people write them with the client `pg`, on 127.0.0.1 at the port of the first argument.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

const options = { host: "127.0.0.1", port: Number(process.argv[2]), user: "postgres", database: "postgres" };
const clients = [];

async function client() {
  const made = new pg.Client(options);
  await made.connect();
  clients.push(made);
  return made;
}

/** The only value of the only row. */
async function value(one, text, values) {
  const { rows } = await one.query({ text, values, rowMode: "array" });
  return rows[0]?.[0];
}

async function refused(code, promise) {
  await assert.rejects(promise, (error) => error.code === code);
}

async function advisory() {
  const [one, other] = [await client(), await client()];
  assert.equal(await value(one, "SELECT pg_try_advisory_lock($1)", [42]), true);
  assert.equal(await value(other, "SELECT pg_try_advisory_lock($1)", [42]), false);
  const waiting = other.query("SELECT pg_advisory_lock(42)");
  await sleep(50);
  assert.equal(await value(one, "SELECT pg_advisory_unlock(42)"), true);
  await waiting;
  assert.equal(await value(one, "SELECT pg_try_advisory_lock(42)"), false);
  await other.end();
  const deadline = Date.now() + 5000;
  while (!(await value(one, "SELECT pg_try_advisory_lock(42)"))) {
    assert.ok(Date.now() < deadline, "the end of a connection frees its locks");
    await sleep(10);
  }
}

async function lockTable() {
  const one = await client();
  await one.query("DROP TABLE IF EXISTS locks");
  await one.query("CREATE TABLE locks (name text PRIMARY KEY, owner text NOT NULL, until timestamptz NOT NULL)");
  const take = `INSERT INTO locks (name, owner, until) VALUES ($1, $2, now() + $3::interval)
    ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until WHERE locks.until < now() RETURNING owner`;
  assert.equal(await value(one, take, ["a", "one", "200 ms"]), "one");
  assert.equal(await value(one, take, ["a", "other", "200 ms"]), undefined);
  const deadline = Date.now() + 5000;
  while ((await value(one, take, ["a", "other", "10 s"])) !== "other") {
    assert.ok(Date.now() < deadline, "a lease ends");
    await sleep(20);
  }
  const found = await one.query("SELECT * FROM locks WHERE name = $1", ["a"]);
  assert.ok(found.rows[0].until instanceof Date);
  assert.equal((await one.query("DELETE FROM locks WHERE name = $1 AND owner = $2", ["a", "one"])).rowCount, 0);
  await refused("23505", one.query("INSERT INTO locks VALUES ('a', 'x', now())"));
}

async function rows() {
  const pool = new pg.Pool({ ...options, max: 4 });
  await pool.query("DROP TABLE IF EXISTS tallies");
  await pool.query("CREATE TABLE tallies (id int PRIMARY KEY, value int NOT NULL)");
  await pool.query("INSERT INTO tallies VALUES (1, 0), (2, 0)");
  const work = async () => {
    for (let round = 0; round < 25; round += 1) {
      const one = await pool.connect();
      await one.query("BEGIN");
      const seen = await value(one, "SELECT value FROM tallies WHERE id = 1 FOR UPDATE");
      await sleep(0);
      await one.query("UPDATE tallies SET value = $1 WHERE id = 1", [seen + 1]);
      await one.query("COMMIT");
      one.release();
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  assert.equal(await value(pool, "SELECT value FROM tallies WHERE id = 1"), 100);
  const [first, second] = [await pool.connect(), await pool.connect()];
  await first.query("BEGIN; UPDATE tallies SET value = 0 WHERE id = 1");
  await second.query("BEGIN; UPDATE tallies SET value = 0 WHERE id = 2");
  const outcomes = await Promise.allSettled([
    first.query("UPDATE tallies SET value = 0 WHERE id = 2"),
    second.query("UPDATE tallies SET value = 0 WHERE id = 1").catch(async (error) => {
      await second.query("ROLLBACK");
      throw error;
    }),
  ]);
  const failed = outcomes.filter((outcome) => outcome.status === "rejected");
  assert.deepEqual(failed.map((outcome) => outcome.reason.code), ["40P01"]);
  await Promise.all([first.query("ROLLBACK"), second.query("ROLLBACK")]);
  first.release();
  second.release();
  await pool.end();
}

async function theRest() {
  const one = await client();
  const { rows: found } = await one.query("SELECT $1::int AS a, $2::text AS b, now() AS c, NULL AS d", [7, "x"]);
  assert.deepEqual([found[0].a, found[0].b, found[0].d], [7, "x", null]);
  assert.ok(Math.abs(found[0].c - Date.now()) < 60_000);
  const named = { name: "sum", text: "SELECT $1::int + 1 AS sum" };
  assert.equal((await one.query({ ...named, values: [1] })).rows[0].sum, 2);
  assert.equal((await one.query({ ...named, values: [2] })).rows[0].sum, 3);
  await refused("42P01", one.query("SELECT * FROM nothing"));
  await refused("42601", one.query("SELEC 1"));
  await refused("57014", one.query("SET statement_timeout = 100; SELECT pg_sleep(5)"));
}

for (const idiom of [advisory, lockTable, rows, theRest]) await idiom();
await Promise.all(clients.map((one) => one.end().catch(() => {})));
