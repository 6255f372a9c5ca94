// An advisory lock of PostgreSQL through node's pg, as fencepost runs it: see docs/own-programs.md.
const Redis = require("ioredis");
const { Client } = require("pg");
const env = (name) => process.env["FENCEPOST_" + name];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function main() {
  const [storage, judge] = ["STORAGE", "JUDGE"].map((name) => new Redis(env(name)));
  let database = null;
  async function ask(what) {
    if (!database) {
      const opened = new Client({ connectionString: env("POSTGRESQL_1"), query_timeout: 5000, connectionTimeoutMillis: 5000 });
      opened.on("error", () => {});
      await opened.connect();
      database = opened;
    }
    const { rows } = await database.query(`SELECT ${what}($1) AS done`, [env("LOCK_NUMBER")]);
    return rows[0].done;
  }
  // The end of a connection frees its locks.
  const close = () => (database && database.end().catch(() => {}), (database = null));
  for (let cycle = 0; cycle < Number(env("CYCLES")); cycle++) {
    await judge.call("ACQUIRING", "orders");
    while (!(await ask("pg_try_advisory_lock").catch(() => close()))) await sleep(100);
    const hold = await judge.call("ACQUIRED", "orders");
    const value = Number(await storage.get("orders"));
    await sleep(hold);
    await storage.set("orders", value + 1);
    await judge.call("RELEASING", "orders");
    const freed = await ask("pg_advisory_unlock").catch(() => close());
    if (!freed) await judge.call(freed === false ? "LOST" : "UNKNOWN", "orders");
    await judge.call("RELEASED", "orders");
  }
  process.exit(0);
}
main();
