package fencepost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.SetParams;

/** A lock that deletes whatever it finds breaks when its lease expires; one that compares not. */
class RedisClockTest {
  private static final String DELETE_ITS_OWN =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end"
          + " return 0";

  @RegisterExtension static final RedisClock clock = new RedisClock();

  private Jedis redis;

  @BeforeEach
  void connect() {
    redis = new Jedis(clock.address());
  }

  @AfterEach
  void disconnect() {
    redis.close();
  }

  private boolean acquire(String owner) {
    boolean granted = redis.set("orders", owner, SetParams.setParams().nx().px(10_000)) != null;
    if (granted) {
      clock.enter("orders", owner);
    }
    return granted;
  }

  /** Releases the lock after its lease has expired and another client holds it. */
  private List<String> lateRelease(Consumer<String> release) {
    assertTrue(acquire("a"));
    clock.advance("10001ms");
    clock.leave("orders", "a");
    assertTrue(acquire("b"), "the lease of a has expired");
    release.accept("a");
    acquire("c");
    return clock.judge();
  }

  @Test
  void aLateReleaseThatDeletesLetsTwoClientsIn() {
    List<String> lines = lateRelease(owner -> redis.del("orders"));
    assertTrue(lines.toString().contains("c entered"), lines.toString());
  }

  @Test
  void aLateReleaseThatComparesDoesNot() {
    List<String> lines = lateRelease(owner -> redis.eval(DELETE_ITS_OWN, 1, "orders", owner));
    assertEquals(List.of(), lines);
  }

  @Test
  void tenLeasesExpireAtOnce() {
    for (int lease = 0; lease < 10; lease++) {
      assertTrue(acquire("a"));
      assertFalse(acquire("b"));
      clock.leave("orders", "a");
      clock.advance("10001ms");
    }
    assertFalse(clock.history().isEmpty());
  }

  @Test
  void aLostReplyIsAnErrorAndTheWriteHasHappened() {
    clock.command("DROP-REPLY", "OF", "SET");
    assertThrows(JedisConnectionException.class, () -> redis.set("orders", "a"));
    try (Jedis again = new Jedis(clock.address())) {
      assertEquals("a", again.get("orders"));
    }
  }

  @Test
  void wrongCommandsAndOptionsAreErrorsInOneLine() {
    assertThrows(JedisDataException.class, () -> clock.command("CLOCK", "BACKWARDS"));
    Exception wrong =
        assertThrows(IOException.class, () -> new RedisClock("--persistence=paper").start());
    assertTrue(wrong.getMessage().contains("paper"), wrong.getMessage());
    assertEquals(1, wrong.getMessage().lines().count());
  }
}
