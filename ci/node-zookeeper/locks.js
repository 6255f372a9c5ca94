// Locks on ZooKeeper as people write them with node-zookeeper-client, which has no recipe of its own, at the servers of the first argument
// (host:port, with commas).
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import zookeeper from "node-zookeeper-client";

const HOSTS = process.argv[2].split(",");
const { CreateMode, Event, Exception } = zookeeper;
const clients = [];

/** A connected client whose calls are promises. */
async function client(hosts = HOSTS) {
  const made = zookeeper.createClient(hosts.join(","), { sessionTimeout: 4000, retries: 3 });
  clients.push(made);
  const call = (name) => promisify(made[name].bind(made));
  const connected = new Promise((resolve) => made.once("connected", resolve));
  made.connect();
  await connected;
  const names = ["create", "remove", "removeRecursive", "exists", "getData", "setData", "mkdirp"];
  return {
    made,
    getChildren: (path, watcher) =>
      new Promise((resolve, reject) => made.getChildren(path, watcher, (error, names) => (error ? reject(error) : resolve(names)))),
    commit: (transaction) => promisify(transaction.commit.bind(transaction))(),
    ...Object.fromEntries(names.map((name) => [name, call(name)])),
  };
}

/** The recipe of the ZooKeeper documentation: wait for the one who comes before. */
async function lock(one, path, patience = 20_000) {
  await one.mkdirp(path);
  const own = await one.create(`${path}/lock-`, null, CreateMode.EPHEMERAL_SEQUENTIAL);
  const deadline = Date.now() + patience;
  for (;;) {
    const queue = (await one.getChildren(path)).sort();
    const place = queue.indexOf(own.slice(path.length + 1));
    assert.ok(place >= 0, "one's own node is in the queue");
    if (place === 0) return own;
    let isGone;
    const gone = new Promise((resolve) => (isGone = resolve));
    if (!(await one.exists(`${path}/${queue[place - 1]}`, isGone))) continue;
    const late = sleep(Math.max(0, deadline - Date.now()), "late", { ref: false });
    if ((await Promise.race([gone, late])) === "late") {
      await one.remove(own, -1);
      return null;
    }
  }
}

async function mutex() {
  const [one, other] = [await client(), await client()];
  const held = await lock(one, "/node/mutex");
  assert.equal(await lock(other, "/node/mutex", 300), null, "a taken lock is refused");
  const waiting = lock(other, "/node/mutex");
  await one.remove(held, -1);
  assert.ok(await waiting, "what was released is granted");
}

async function order() {
  const [holder, granted] = [await client(), []];
  const held = await lock(holder, "/node/order");
  const waiting = [];
  for (let number = 1; number <= 4; number += 1) {
    const one = await client();
    waiting.push(
      lock(one, "/node/order").then((own) => {
        granted.push(number);
        return one.remove(own, -1);
      }),
    );
    while ((await holder.getChildren("/node/order")).length <= number) await sleep(10);
  }
  await holder.remove(held, -1);
  await Promise.all(waiting);
  assert.deepEqual(granted, [1, 2, 3, 4], "who came first is first");
}

async function aSessionThatEnds() {
  const [one, other] = [await client(), await client()];
  await lock(one, "/node/session");
  const waiting = lock(other, "/node/session");
  one.made.close();
  assert.ok(await waiting, "the lock of a closed session passes on");
}

async function theRest() {
  const [one, other] = [await client(HOSTS.slice(0, 1)), await client(HOSTS.slice(-1))];
  await one.mkdirp("/node/rest/deep");
  await one.setData("/node/rest", Buffer.from("data"), -1);
  while ((await other.getData("/node/rest"))?.toString() !== "data") await sleep(10);
  const seen = new Promise((resolve) => other.getChildren("/node/rest", resolve));
  await one.create("/node/rest/child", Buffer.from("x"), CreateMode.PERSISTENT);
  assert.equal((await seen).type, Event.NODE_CHILDREN_CHANGED, "a watch at another server fires");
  await assert.rejects(one.setData("/node/rest", Buffer.from(""), 99), (error) => error.getCode() === Exception.BAD_VERSION);
  await assert.rejects(one.remove("/node/rest", -1), (error) => error.getCode() === Exception.NOT_EMPTY);
  await assert.rejects(one.getData("/nothing"), (error) => error.getCode() === Exception.NO_NODE);
  const refused = one.made.transaction().create("/node/rest/t").check("/node/rest", 99);
  await assert.rejects(one.commit(refused), "all or nothing");
  assert.equal(await one.exists("/node/rest/t"), null);
  await one.commit(one.made.transaction().create("/node/rest/t", Buffer.from("1")).setData("/node/rest/t", Buffer.from("2")));
  assert.equal((await one.getData("/node/rest/t")).toString(), "2");
  await one.removeRecursive("/node/rest", -1);
  assert.equal(await one.exists("/node/rest"), null);
}

async function manyAtOnce() {
  const rounds = 15;
  let counted = 0;
  const work = async () => {
    const one = await client();
    for (let round = 0; round < rounds; round += 1) {
      const own = await lock(one, "/node/many");
      const seen = counted;
      await sleep(0);
      counted = seen + 1;
      await one.remove(own, -1);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  assert.equal(counted, 4 * rounds);
}

for (const recipe of [mutex, order, aSessionThatEnds, theRest, manyAtOnce]) {
  await recipe();
  clients.splice(0).forEach((one) => one.close());
}
process.exit(0);
