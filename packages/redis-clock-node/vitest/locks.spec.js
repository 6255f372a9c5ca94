// In vitest: a lock that deletes whatever it finds breaks when its lease expires; one that compares
// does not.
import { redisClock } from "fencepost-redis-clock";
import { createClient } from "redis";
import { afterAll, beforeAll, expect, test } from "vitest";

let clock;
let redis;

beforeAll(async () => {
  clock = await redisClock();
  redis = await createClient({ url: clock.url }).connect();
});

afterAll(async () => {
  redis.destroy();
  await clock.stop();
});

async function acquire(owner) {
  const granted = await redis.set("orders", owner, { NX: true, PX: 10_000 });
  if (granted) await clock.enter("orders", owner);
}

const deletes = () => redis.del("orders");
const deletesItsOwn = async (owner) => {
  if ((await redis.get("orders")) === owner) await redis.del("orders");
};

test.each([
  ["deletes", deletes, 1],
  ["compares", deletesItsOwn, 0],
])("a late release that %s", async (_, release, violations) => {
  redis.destroy();
  await clock.reset();
  redis = await createClient({ url: clock.url }).connect();
  await acquire("a");
  await clock.advance("10001ms");
  await clock.leave("orders", "a");
  await acquire("b");
  await release("a");
  await acquire("c");
  expect(await clock.judge()).toHaveLength(violations);
});
