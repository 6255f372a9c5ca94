// Uses the lock libraries redlock (node-redlock), redis-semaphore and ioredis, unmodified, against `fencepost serve`.
//
//   fencepost serve --port 7100 --nodes 5 &
//   cd ci/node-locks && npm install && node locks.js 7100
//
// The servers have five ports from the given one on.

import assert from "node:assert/strict";
import Redis from "ioredis";
import RedlockModule from "redlock";
import { Mutex, RedlockMutex, Semaphore } from "redis-semaphore";

const Redlock = RedlockModule.default ?? RedlockModule;
const first = Number(process.argv[2]);
const clients = [0, 1, 2, 3, 4].map((index) => new Redis({ port: first + index }));
const [client] = clients;

async function ioredis() {
  assert.equal(await client.set("ioredis", "me", "PX", 5000, "NX"), "OK");
  assert.equal(await client.set("ioredis", "you", "PX", 5000, "NX"), null);
  client.defineCommand("release", {
    numberOfKeys: 1,
    lua: "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
  });
  assert.equal(await client.release("ioredis", "you"), 0);
  assert.equal(await client.release("ioredis", "me"), 1);
  const results = await client.multi().incr("counter").incr("counter").exec();
  assert.deepEqual(results, [[null, 1], [null, 2]]);
}

async function nodeRedlock() {
  const redlock = new Redlock(clients, { retryCount: 0 });
  const lock = await redlock.acquire(["node-redlock"], 5000);
  await assert.rejects(redlock.acquire(["node-redlock"], 5000));
  const longer = await lock.extend(9000);
  await longer.release();
  const again = await redlock.acquire(["node-redlock"], 5000);
  await again.release();
  await redlock.using(["node-redlock"], 5000, async (signal) => assert.equal(signal.aborted, false));
}

async function redisSemaphore() {
  const options = { lockTimeout: 5000, acquireTimeout: 100, retryInterval: 10 };
  const mutex = new Mutex(client, "mutex", options);
  await mutex.acquire();
  await assert.rejects(new Mutex(client, "mutex", options).acquire());
  await mutex.release();
  const [one, two, three] = [1, 2, 3].map(() => new Semaphore(client, "semaphore", 2, options));
  await one.acquire();
  await two.acquire();
  await assert.rejects(three.acquire());
  await one.release();
  await three.acquire();
  await Promise.all([two.release(), three.release()]);
  const quorum = new RedlockMutex(clients, "quorum", options);
  await quorum.acquire();
  await assert.rejects(new RedlockMutex(clients, "quorum", options).acquire());
  await quorum.release();
}

await Promise.all(clients.map((each) => each.flushall()));
for (const use of [ioredis, nodeRedlock, redisSemaphore]) {
  await use();
  console.log(use.name, "ok");
}
clients.forEach((each) => each.disconnect());
