// Locks on memcached as people write them with the client `memcached`, on 127.0.0.1 at the port of the first argument.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import Memcached from "memcached";

const clients = [];

/** A client whose calls are promises. */
function client() {
  const made = new Memcached(`127.0.0.1:${process.argv[2]}`, { timeout: 5000, retries: 0, poolSize: 4 });
  clients.push(made);
  const call = (name) => promisify(made[name].bind(made));
  const names = ["add", "del", "get", "gets", "cas", "set", "incr", "decr", "touch", "append", "getMulti", "flush", "version"];
  return Object.fromEntries(names.map((name) => [name, call(name)]));
}

/** `add`, which this client fails with an error where the key is taken. */
async function take(one, key, owner, seconds) {
  try {
    return await one.add(key, owner, seconds);
  } catch (error) {
    assert.match(String(error), /not stored/);
    return false;
  }
}

/** Compare and delete: `gets`, then a `cas` to a value that has expired. */
async function giveBack(one, key, owner) {
  const found = await one.gets(key);
  if (!found || found[key] !== owner) return false;
  return one.cas(key, "", found.cas, -1);
}

async function addAndDelete() {
  const [one, other] = [client(), client()];
  assert.equal(await take(one, "lock:a", "one", 10), true);
  assert.equal(await take(other, "lock:a", "other", 10), false);
  assert.equal(await one.del("lock:a"), true);
  assert.equal(await take(other, "lock:a", "other", 10), true);
  assert.equal(await one.del("lock:a"), true, "delete looks at no owner");
  assert.equal(await other.get("lock:a"), undefined);
}

async function getsAndCas() {
  const [one, other] = [client(), client()];
  assert.equal(await take(one, "lock:b", "one", 10), true);
  const number = (await one.gets("lock:b")).cas;
  assert.equal(await giveBack(one, "lock:b", "one"), true);
  assert.equal(await take(other, "lock:b", "other", 10), true);
  assert.equal(await giveBack(one, "lock:b", "one"), false);
  assert.equal(await one.cas("lock:b", "", number, -1), false);
  assert.equal(await other.get("lock:b"), "other");
  assert.ok(BigInt((await other.gets("lock:b")).cas) > BigInt(number));
}

async function expiry() {
  const [one, other] = [client(), client()];
  assert.equal(await take(one, "lock:c", "one", 1), true);
  const deadline = Date.now() + 5000;
  while (!(await take(other, "lock:c", "other", 10))) {
    assert.ok(Date.now() < deadline, "a lease of a second ends");
    await sleep(50);
  }
}

async function theRest() {
  const one = client();
  await one.set("m:1", "1", 0);
  await one.set("m:2", "2", 0);
  assert.deepEqual(await one.getMulti(["m:1", "m:2", "m:3"]), { "m:1": "1", "m:2": "2" });
  assert.equal(await one.incr("m:1", 41), 42);
  assert.equal(await one.decr("m:2", 5), 0);
  assert.equal(await one.touch("m:1", 100), true);
  assert.equal(await one.append("m:1", "0"), true);
  assert.equal(await one.get("m:1"), "420");
  await one.set("m:large", "x".repeat(500_000), 0);
  assert.equal((await one.get("m:large")).length, 500_000);
  assert.match((await one.version())[0].version, /^1\.6/);
}

async function manyAtOnce() {
  const [one, rounds] = [client(), 30];
  let counted = 0;
  const work = async () => {
    const me = randomUUID();
    for (let round = 0; round < rounds; round += 1) {
      while (!(await take(one, "lock:d", me, 30))) await sleep(1);
      const seen = counted;
      await sleep(0);
      counted = seen + 1;
      assert.equal(await giveBack(one, "lock:d", me), true);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  assert.equal(counted, 4 * rounds);
}

for (const idiom of [addAndDelete, getsAndCas, expiry, theRest, manyAtOnce]) {
  await client().flush();
  await idiom();
}
clients.forEach((one) => one.end());
