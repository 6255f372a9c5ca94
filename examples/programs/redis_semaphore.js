// redis-semaphore's Mutex, which refreshes itself, on ioredis, as fencepost runs it: see docs/own-programs.md.
const Redis = require("ioredis");
const { Mutex } = require("redis-semaphore");
const env = (name) => process.env["FENCEPOST_" + name];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function main() {
  const [storage, judge] = ["STORAGE", "JUDGE"].map((name) => new Redis(env(name)));
  const sentinels = env("SENTINELS")?.split(",").map((address) => new URL("redis://" + address));
  const places = sentinels?.map(({ hostname, port }) => ({ host: hostname, port: Number(port) }));
  const server = places ? new Redis({ sentinels: places, name: env("MASTER_NAME") }) : new Redis(env("REDIS"));
  server.on("error", () => {});
  for (let cycle = 0; cycle < Number(env("CYCLES")); cycle++) {
    const onLockLost = () => judge.call("LOST", "orders");
    const times = { lockTimeout: Number(env("TTL_MS")), acquireTimeout: 30000, retryInterval: 100 };
    // The key of a mutex is mutex: and its name.
    const mutex = new Mutex(server, env("LOCK").replace(/^mutex:/, ""), { ...times, onLockLost });
    await judge.call("ACQUIRING", "orders");
    const error = await mutex.acquire().then(() => null, (error) => error);
    if (error !== null) {
      await judge.call(/timeout/i.test(error.message) ? "REFUSED" : "UNKNOWN", "orders", error.message);
      await sleep(100);
      continue;
    }
    const hold = await judge.call("ACQUIRED", "orders");
    const value = Number(await storage.get("orders"));
    await sleep(hold);
    await storage.set("orders", value + 1);
    await judge.call("RELEASING", "orders");
    await mutex.release().catch((error) => judge.call("UNKNOWN", "orders", error.message));
    await judge.call("RELEASED", "orders");
  }
  [server, storage, judge].forEach((client) => client.disconnect());
}
main();
