// A lock of `add` on memcached through npm's memcached, as fencepost runs it: see docs/own-programs.md.
const Memcached = require("memcached");
const Redis = require("ioredis");
const { randomUUID } = require("crypto");
const { promisify } = require("util");
const env = (name) => process.env["FENCEPOST_" + name];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function main() {
  const [storage, judge] = ["STORAGE", "JUDGE"].map((name) => new Redis(env(name)));
  const server = new Memcached(env("MEMCACHED"), { timeout: 5000, retries: 0, failures: 1e9 });
  const of = (name) => promisify(server[name]).bind(server);
  const [add, gets, cas] = ["add", "gets", "cas"].map(of);
  const [name, ttl] = [env("LOCK"), Number(env("TTL_MS")) / 1000];
  for (let cycle = 0; cycle < Number(env("CYCLES")); cycle++) {
    const owner = randomUUID();
    await judge.call("ACQUIRING", "orders");
    // An add whose answer was lost may have been carried out.
    while (!(await add(name, owner, ttl).catch(() => false))) await sleep(100);
    const hold = await judge.call("ACQUIRED", "orders");
    const value = Number(await storage.get("orders"));
    await sleep(hold);
    await storage.set("orders", value + 1);
    await judge.call("RELEASING", "orders");
    try {
      const found = (await gets(name)) || {};
      // An item that is replaced by one with a past expiry is gone.
      const isOurs = found[name] === owner && (await cas(name, "", found.cas, -1));
      if (!isOurs) await judge.call("LOST", "orders");
    } catch (error) {
      await judge.call("UNKNOWN", "orders");
    }
    await judge.call("RELEASED", "orders");
  }
  process.exit(0);
}
main();
