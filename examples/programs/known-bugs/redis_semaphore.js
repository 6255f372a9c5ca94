// redis-semaphore's mutex, which refreshes itself: see docs/known-bugs.md.
const Redis = require("ioredis");
const { Mutex } = require("redis-semaphore");
const env = (name) => process.env["FENCEPOST_" + name];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const ttl = Number(env("TTL_MS"));
const refreshInterval = ttl / 10;

async function main() {
  const names = ["REDIS", "STORAGE", "JUDGE"];
  const [server, storage, judge] = names.map((name) => new Redis(env(name)));
  for (let cycle = 0; cycle < Number(env("CYCLES")); cycle++) {
    const onLockLost = () => judge.call("LOST", "orders");
    const times = { lockTimeout: ttl, acquireTimeout: 300000, retryInterval: 100, refreshInterval };
    // The key of a mutex is mutex: and its name.
    const mutex = new Mutex(server, env("LOCK").replace(/^mutex:/, ""), { ...times, onLockLost });
    await judge.call("ACQUIRING", "orders");
    await mutex.acquire();
    const hold = await judge.call("ACQUIRED", "orders");
    const value = Number(await storage.get("orders"));
    await sleep(hold);
    const owner = await server.get(env("LOCK"));
    if (owner === mutex.identifier) await storage.set("orders", value + 1);
    await judge.call("RELEASING", "orders");
    await mutex.release();
    await judge.call("RELEASED", "orders");
  }
  process.exit(0);
}
main();
