// Redisson's locks, with one server, Sentinels, or independent masters: see docs/own-programs.md.
import java.util.*;
import java.util.concurrent.TimeUnit;
import org.redisson.*;
import org.redisson.api.*;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

class Redisson extends Harness {
    static final TimeUnit MS = TimeUnit.MILLISECONDS;

    public static void main(String[] arguments) throws Exception {
        var locks = new ArrayList<RLock>();
        String kind = arguments[0], masters = System.getenv("FENCEPOST_MASTERS");
        for (int at = 1; at <= Integer.parseInt(masters == null ? "1" : masters); at++) {
            var client = client(masters == null ? "REDIS" : "REDIS_" + at);
            String type = Map.of("fair", "FairLock", "spin", "SpinLock", "fenced", "FencedLock").getOrDefault(kind, "Lock");
            locks.add((RLock) RedissonClient.class.getMethod("get" + type, String.class).invoke(client, env("LOCK")));
        }
        var lock = locks.get(0);
        var several = locks.toArray(RLock[]::new);
        switch (kind) {
            case "watchdog" -> cycles(() -> lock.tryLock(60_000, MS), lock::unlock);
            case "once" -> cycles(() -> polled(() -> lock.tryLock(0, TTL, MS)), lock::unlock);
            case "multi", "red" -> {
                var all = kind.equals("red") ? new RedissonRedLock(several) : new RedissonMultiLock(several);
                cycles(() -> all.tryLock(60_000, TTL, MS), all::unlock);
            }
            case "fenced" -> {
                // Redisson before 3.20 has no such class.
                var ask = lock.getClass().getMethod("lockAndGetToken", long.class, TimeUnit.class);
                cycles(() -> {
                    token = new String[] {"" + ask.invoke(lock, (long) TTL, MS)};
                    return true;
                }, lock::unlock);
            }
            default -> cycles(() -> lock.tryLock(60_000, TTL, MS), lock::unlock);
        }
        System.exit(0);
    }

    // Redisson gives up if it cannot connect when it starts, and before Sentinels know each other.
    static RedissonClient client(String address) throws InterruptedException {
        while (true) {
            try { return org.redisson.Redisson.create(config(address)); }
            catch (RedisConnectionException error) { System.err.println(error); }
            Thread.sleep(1000);
        }
    }

    static Config config(String address) {
        var config = new Config().setCodec(new StringCodec()).setLockWatchdogTimeout(TTL);
        var sentinels = System.getenv("FENCEPOST_SENTINELS");
        if (sentinels == null) {
            config.useSingleServer().setAddress(env(address)).setConnectionPoolSize(2).setConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionMinimumIdleSize(1).setSubscriptionConnectionPoolSize(2);
        } else {
            var servers = config.useSentinelServers().setMasterName(env("MASTER_NAME"));
            for (var sentinel : sentinels.split(",")) servers.addSentinelAddress("redis://" + sentinel);
        }
        return config;
    }
}
