// node-redlock 5 on ioredis, over independent masters, as fencepost runs it: see docs/own-programs.md.
const Redis = require("ioredis");
const { default: Redlock } = require("redlock5");
const env = (name) => process.env["FENCEPOST_" + name];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function main() {
  const [storage, judge] = ["STORAGE", "JUDGE"].map((name) => new Redis(env(name)));
  const numbers = [...Array(Number(env("MASTERS"))).keys()];
  const options = { commandTimeout: 1000, maxRetriesPerRequest: 1 };
  const masters = numbers.map((number) => new Redis(env(`REDIS_${number + 1}`), options));
  masters.forEach((master) => master.on("error", () => {}));
  const redlock = new Redlock(masters, { retryCount: Number(process.env.TRIES ?? 100) });
  redlock.on("error", () => {});
  for (let cycle = 0; cycle < Number(env("CYCLES")); cycle++) {
    await judge.call("ACQUIRING", "orders");
    const lock = await redlock.acquire([env("LOCK")], Number(env("TTL_MS"))).catch(() => null);
    if (lock === null) {
      await judge.call("REFUSED", "orders");
      continue;
    }
    const hold = await judge.call("ACQUIRED", "orders");
    const value = Number(await storage.get("orders"));
    await sleep(hold);
    await storage.set("orders", value + 1);
    await judge.call("RELEASING", "orders");
    await lock.release().catch((error) => judge.call("UNKNOWN", "orders", error.message));
    await judge.call("RELEASED", "orders");
  }
  [storage, judge, ...masters].forEach((client) => client.disconnect());
}
main();
