// A lock that deletes whatever it finds breaks when its lease expires; one that compares does not.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { redisClock } from "fencepost-redis-clock";
import { createClient } from "redis";

let clock;
let redis;

before(async () => {
  clock = await redisClock();
});

beforeEach(async () => {
  redis?.destroy();
  await clock.reset();
  redis = await createClient({ url: clock.url }).connect();
});

after(async () => {
  redis.destroy();
  await clock.stop();
});

async function acquire(owner) {
  const granted = await redis.set("orders", owner, { NX: true, PX: 10_000 });
  if (granted) await clock.enter("orders", owner);
  return granted !== null;
}

const deletes = () => redis.del("orders");
const deletesItsOwn = (owner) =>
  redis.eval(
    'if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0',
    { keys: ["orders"], arguments: [owner] },
  );

async function lateRelease(release) {
  assert.ok(await acquire("a"));
  await clock.advance("10001ms");
  await clock.leave("orders", "a");
  assert.ok(await acquire("b"), "the lease of a has expired");
  await release("a");
  await acquire("c");
  return clock.judge();
}

test("a late release that deletes lets two clients in", async () => {
  assert.match((await lateRelease(deletes)).join("\n"), /c entered .* while b/);
});

test("a late release that compares does not", async () => {
  assert.deepEqual(await lateRelease(deletesItsOwn), []);
});

test("ten leases expire at once", async () => {
  for (let lease = 0; lease < 10; lease += 1) {
    assert.equal(await redis.set("orders", `${lease}`, { NX: true, PX: 10_000 }), "OK");
    assert.equal(await redis.set("orders", "another", { NX: true, PX: 10_000 }), null);
    await clock.advance("10001ms");
  }
  assert.ok((await clock.history()).length > 0);
});

test("a lost reply is an error of the client, and the write has happened", async () => {
  await clock.command("DROP-REPLY", "OF", "SET");
  const impatient = createClient({ url: clock.url, socket: { reconnectStrategy: false } });
  impatient.on("error", () => {});
  await impatient.connect();
  await assert.rejects(impatient.set("orders", "a", { NX: true, PX: 10_000 }));
  assert.equal(await redis.get("orders"), "a");
});

test("a wrong option and a missing program are errors in one line", async () => {
  await assert.rejects(redisClock({ persistence: "paper" }), /fencepost serve: error: .*paper/);
  await assert.rejects(redisClock({ program: "/nowhere" }), {
    message: "fencepost '/nowhere': program not found: npm install --save-dev fencepost",
  });
});

test("a command may be one string or several words", async () => {
  assert.equal(await clock.command("DROP-REPLY OF SET"), "OK");
  assert.equal(await clock.command("LAG", "2s"), "OK");
  await assert.rejects(clock.command("DROP REPLY"), /unknown command 'DROP': expected one of/);
});

test("an unknown option is refused", async () => {
  await assert.rejects(redisClock({ replica: 1 }), {
    message: "option 'replica': expected one of replicas, sentinels, persistence, program",
  });
});

test("a test without stop() ends, and its server with it", async () => {
  const script = `
    import { redisClock } from "fencepost-redis-clock";
    const clock = await redisClock();
    await clock.advance("1s");
    console.log(clock.port);
  `;
  const node = [process.execPath, ["--input-type=module", "--eval", script]];
  const { status, stdout } = spawnSync(...node, { encoding: "utf8", timeout: 20_000 });
  assert.equal(status, 0);
  const socket = connect(Number(stdout), "127.0.0.1");
  const [error] = await once(socket, "error");
  assert.equal(error.code, "ECONNREFUSED");
});

for (const signal of ["SIGTERM", "SIGKILL"]) {
  test(`a test that ${signal} ends leaves no server`, async () => {
    const script = `
      import { redisClock } from "fencepost-redis-clock";
      const clock = await redisClock();
      console.log(clock.port);
      setInterval(() => {}, 1000);
    `;
    const node = spawn(process.execPath, ["--input-type=module", "--eval", script]);
    const [port] = await once(node.stdout.setEncoding("utf8"), "data");
    node.kill(signal);
    await once(node, "exit");
    assert.equal(await refusal(Number(port)), "ECONNREFUSED");
  });
}

async function refusal(port) {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
    } catch (error) {
      return error.code;
    }
    socket.destroy();
    await new Promise((done) => setTimeout(done, 50));
  }
  return "the server still listens";
}
