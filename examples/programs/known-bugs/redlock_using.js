// node-redlock's `using`, which extends the lock by itself: see docs/known-bugs.md.
const Redis = require("ioredis");
const { default: Redlock, Redlock: Named } = require("redlock");
const env = (name) => process.env["FENCEPOST_" + name];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const ttl = Number(env("TTL_MS"));

async function main() {
  const [storage, judge] = ["STORAGE", "JUDGE"].map((name) => new Redis(env(name)));
  const redlock = new (Redlock || Named)([new Redis(env("REDIS"))], { retryCount: -1, retryDelay: 200 });
  for (let cycle = 0; cycle < Number(env("CYCLES")); cycle++) {
    await judge.call("ACQUIRING", "orders");
    const work = async (signal) => {
      const hold = await judge.call("ACQUIRED", "orders");
      const value = Number(await storage.get("orders"));
      for (let left = hold; left > 0 && !signal.aborted; left -= 100) await sleep(Math.min(left, 100));
      if (signal.aborted) await judge.call("LOST", "orders");
      else await storage.set("orders", value + 1);
      await judge.call("RELEASING", "orders");
    };
    await redlock.using([env("LOCK")], ttl, work).catch(() => judge.call("LOST", "orders"));
    await judge.call("RELEASED", "orders");
  }
  process.exit(0);
}
main();
