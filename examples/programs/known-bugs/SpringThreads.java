// Spring Integration's lock registries, two threads in a process: see docs/known-bugs.md.
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

class SpringThreads extends Harness {
    public static void main(String[] arguments) throws Exception {
        var url = java.net.URI.create(env("REDIS"));
        var factory = new JedisConnectionFactory(new RedisStandaloneConfiguration(url.getHost(), url.getPort()));
        factory.afterPropertiesSet();
        factory.start();
        var registry = new RedisLockRegistry(factory, "lock", TTL);
        registry.setCacheCapacity(1);
        boolean isEvicted = System.getenv("USE").equals("evicted");
        var threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            threads[i] = new Thread(() -> work(() -> {
                if (isEvicted) registry.obtain("other");
                return registry.obtain("orders");
            }, !isEvicted), "thread-" + i);
            threads[i].start();
        }
        for (var thread : threads) thread.join();
        System.exit(0);
    }

    static void work(Supplier<Lock> obtained, boolean isInterrupted) {
        try {
            var lock = new Lock[1];
            cycles(() -> { lock[0] = obtained.get(); lock[0].lock(); return true; }, () -> {
                if (isInterrupted) Thread.currentThread().interrupt();
                lock[0].unlock();
                Thread.interrupted();
            });
        } catch (Exception error) { error.printStackTrace(); }
    }
}
