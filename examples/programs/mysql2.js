// GET_LOCK of MySQL through mysql2, as fencepost runs it: see docs/own-programs.md.
const Redis = require("ioredis");
const mysql = require("mysql2/promise");
const env = (name) => process.env["FENCEPOST_" + name];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function main() {
  const [storage, judge] = ["STORAGE", "JUDGE"].map((name) => new Redis(env(name)));
  let database = null;
  async function ask(what) {
    if (!database) {
      const opened = await mysql.createConnection({ uri: env("MYSQL"), connectTimeout: 5000 });
      opened.on("error", () => {});
      database = opened;
    }
    const [rows] = await database.query({ sql: `SELECT ${what} AS done`, values: [env("LOCK")], timeout: 5000 });
    return rows[0].done;
  }
  // The end of a connection frees its locks.
  const close = () => (database && database.destroy(), (database = null));
  for (let cycle = 0; cycle < Number(env("CYCLES")); cycle++) {
    await judge.call("ACQUIRING", "orders");
    while (!(await ask("GET_LOCK(?, 1)").catch(() => close()))) await sleep(50);
    const hold = await judge.call("ACQUIRED", "orders");
    const value = Number(await storage.get("orders"));
    await sleep(hold);
    await storage.set("orders", value + 1);
    await judge.call("RELEASING", "orders");
    const freed = await ask("RELEASE_LOCK(?)").catch(() => (close(), undefined));
    if (freed !== 1) await judge.call(freed === undefined ? "UNKNOWN" : "LOST", "orders");
    await judge.call("RELEASED", "orders");
  }
  process.exit(0);
}
main();
