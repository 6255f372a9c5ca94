// ioredis and a lock of a few lines on it, as fencepost runs it: see docs/own-programs.md.
const Redis = require("ioredis");
const { randomUUID } = require("crypto");
const env = (name) => process.env["FENCEPOST_" + name];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const UNLOCK = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`;

async function main() {
  const [storage, judge] = ["STORAGE", "JUDGE"].map((name) => new Redis(env(name)));
  const sentinels = env("SENTINELS")?.split(",").map((address) => new URL("redis://" + address));
  const places = sentinels?.map(({ hostname, port }) => ({ host: hostname, port: Number(port) }));
  const server = places ? new Redis({ sentinels: places, name: env("MASTER_NAME") }) : new Redis(env("REDIS"));
  server.on("error", () => {});
  for (let cycle = 0; cycle < Number(env("CYCLES")); cycle++) {
    const owner = randomUUID();
    await judge.call("ACQUIRING", "orders");
    let acquired = false;
    for (let attempt = 0; attempt < 200 && !acquired; attempt++) {
      const reply = await server.set(env("LOCK"), owner, "PX", env("TTL_MS"), "NX").catch(() => null);
      acquired = reply === "OK";
      if (!acquired) await sleep(100 + Math.random() * 50);
    }
    if (!acquired) {
      await judge.call("REFUSED", "orders");
      continue;
    }
    const hold = await judge.call("ACQUIRED", "orders");
    const value = Number(await storage.get("orders"));
    await sleep(hold);
    await storage.set("orders", value + 1);
    await judge.call("RELEASING", "orders");
    const removed = await server.eval(UNLOCK, 1, env("LOCK"), owner).catch(() => null);
    if (removed !== 1) await judge.call(removed === 0 ? "LOST" : "UNKNOWN", "orders");
    await judge.call("RELEASED", "orders");
  }
  [server, storage, judge].forEach((client) => client.disconnect());
}
main();
