// The lock of a BullMQ job that the processes take in turn, as fencepost runs it: see docs/own-programs.md.
const Redis = require("ioredis");
const { Queue, Worker } = require("bullmq");
const env = (name) => process.env["FENCEPOST_" + name];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function main() {
  const [storage, judge] = ["STORAGE", "JUDGE"].map((name) => new Redis(env(name)));
  const sentinels = env("SENTINELS")?.split(",").map((address) => new URL("redis://" + address));
  const places = sentinels?.map(({ hostname, port }) => ({ host: hostname, port: Number(port) }));
  const retries = { maxRetriesPerRequest: null };
  const followed = { sentinels: places, name: env("MASTER_NAME"), ...retries };
  const connection = places ? new Redis(followed) : new Redis(env("REDIS"), retries);
  const times = { lockDuration: Number(env("TTL_MS")), stalledInterval: 1000, maxStalledCount: 1000 };
  const queue = new Queue("orders", { connection });
  const worker = new Worker("orders", null, { connection, ...times, autorun: false });
  for (const one of [connection, queue, worker]) one.on("error", () => {});
  await worker.startStalledCheckTimer();
  // The job has the same id in all cycles, so it exists once, and only one process can hold its lock.
  const take = async (token) => {
    for (let job; ; await sleep(100)) {
      await queue.add("count", {}, { jobId: "the-job", removeOnComplete: true, removeOnFail: true });
      if ((job = await worker.getNextJob(token, { block: false }))) return job;
    }
  };
  for (let cycle = Number(env("CYCLES")); cycle > 0; cycle--) {
    await judge.call("ACQUIRING", "orders");
    const token = `${env("PROCESS")}-${cycle}`;
    const job = await take(token).catch((error) => judge.call("UNKNOWN", "orders", error.message));
    if (job === "OK") continue;
    const hold = await judge.call("ACQUIRED", "orders");
    const value = Number(await storage.get("orders"));
    await sleep(hold);
    await storage.set("orders", value + 1);
    await judge.call("RELEASING", "orders");
    const failed = (error) => judge.call(/lock/i.test(error.message) ? "LOST" : "UNKNOWN", "orders", error.message);
    await job.moveToCompleted(value, token, false).catch(failed);
    await judge.call("RELEASED", "orders");
  }
  process.exit(0);
}
main();
