// redlock-universal on ioredis, over independent masters: see docs/own-programs.md.
const Redis = require("ioredis");
const { createRedlock, IoredisAdapter } = require("redlock-universal");
const env = (name) => process.env["FENCEPOST_" + name];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function main() {
  const [storage, judge] = ["STORAGE", "JUDGE"].map((name) => new Redis(env(name)));
  const numbers = [...Array(Number(env("MASTERS"))).keys()];
  const options = { commandTimeout: 1000, maxRetriesPerRequest: 1 };
  const masters = numbers.map((number) => new Redis(env(`REDIS_${number + 1}`), options));
  masters.forEach((master) => master.on("error", () => {}));
  const lock = createRedlock({
    adapters: masters.map((master) => new IoredisAdapter(master)),
    key: env("LOCK"), ttl: Number(env("TTL_MS")), retryAttempts: 100, retryDelay: 200,
  });
  for (let cycle = 0; cycle < Number(env("CYCLES")); cycle++) {
    await judge.call("ACQUIRING", "orders");
    const held = await lock.acquire().catch(() => null);
    if (held === null) {
      await judge.call("REFUSED", "orders");
      continue;
    }
    const hold = await judge.call("ACQUIRED", "orders");
    const value = Number(await storage.get("orders"));
    await sleep(hold);
    await storage.set("orders", value + 1);
    await judge.call("RELEASING", "orders");
    const released = await lock.release(held).catch(() => null);
    if (!released) await judge.call("UNKNOWN", "orders");
    await judge.call("RELEASED", "orders");
  }
  process.exit(0);
}
main();
