// Redisson's locks, each used as a report describes it: see docs/known-bugs.md.
import java.util.concurrent.TimeUnit;
import org.redisson.*;
import org.redisson.api.*;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

class RedissonLocks extends Harness {
    static final TimeUnit MS = TimeUnit.MILLISECONDS;
    static final String NAME = env("LOCK");
    static RedissonClient client;

    public static void main(String[] arguments) throws Exception {
        var config = new Config().setCodec(new StringCodec());
        config.useSingleServer().setAddress(env("REDIS")).setConnectionPoolSize(2).setConnectionMinimumIdleSize(1)
            .setSubscriptionConnectionMinimumIdleSize(1).setSubscriptionConnectionPoolSize(2);
        for (var method : Config.class.getMethods()) {
            if (method.getName().equals("setLockWatchdogTimeout")) method.invoke(config, 3000);
        }
        client = Redisson.create(config);
        RLock lock = client.getLock(NAME), write = client.getReadWriteLock(NAME).writeLock();
        RLock read = client.getReadWriteLock(NAME).readLock();
        var multi = new RedissonMultiLock(lock, client.getLock(NAME + "-2"));
        switch (System.getenv("USE")) {
            case "multi-once" -> cycles(() -> polled(() -> multi.tryLock(-1, TTL, MS)), multi::unlock);
            case "multi-now" -> cycles(() -> polled(() -> multi.tryLock(0, TTL, MS)), multi::unlock);
            case "multi-seconds" -> cycles(() -> { multi.lock(TTL / 1000, TimeUnit.SECONDS); return true; }, multi::unlock);
            case "multi-spin" -> {
                var spins = new RedissonMultiLock(made("SpinLock", NAME), made("SpinLock", NAME + "-2"));
                cycles(() -> polled(() -> spins.tryLock(-1, TTL, MS)), spins::unlock);
            }
            case "spin" -> {
                var spin = made("SpinLock", NAME);
                cycles(() -> polled(() -> spin.tryLock(300, TTL, MS)), spin::unlock);
            }
            case "write-then-read" -> cycles(() -> {
                write.lock(); read.lock(); write.unlock(); read.unlock();
                write.lock(); read.lock(); write.unlock();
                return true;
            }, read::unlock);
            case "write-twice" -> cycles(() -> { write.lock(TTL, MS); write.lock(TTL / 10, MS); return true; },
                () -> { write.unlock(); write.unlock(); });
            case "twice-in-a-thread" -> cycles(() -> {
                var other = new Thread(() -> { lock.lock(); lock.lock(); lock.unlock(); lock.unlock(); });
                other.start(); other.join();
                lock.lock(); return true;
            }, lock::unlock);
            case "thrice" -> cycles(() -> {
                for (int i = 0; i < 3; i++) lock.lock(TTL, MS);
                lock.unlock(); lock.unlock(); return true;
            }, lock::unlock);
            case "lock-interrupted" -> cycles(() -> interrupted(() -> { lock.lock(); return true; }), lock::unlock);
            default -> throw new IllegalArgumentException(System.getenv("USE"));
        }
        System.exit(0);
    }

    static RLock made(String kind, String name) throws Exception {
        return (RLock) RedissonClient.class.getMethod("get" + kind, String.class).invoke(client, name);
    }
}
