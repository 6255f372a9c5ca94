// Spring Integration's RedisLockRegistry, two locks at a time: see docs/known-bugs.md.
import java.net.URI;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import redis.clients.jedis.Jedis;

class SpringNested {
    // Their hash codes end as that of "orders".
    static final String[] OUTER = {"order-1315", "order-1436", "order-1557"};

    public static void main(String[] arguments) throws Exception {
        var env = System.getenv();
        var judge = new Jedis(URI.create(env.get("FENCEPOST_JUDGE")));
        var storage = new Jedis(URI.create(env.get("FENCEPOST_STORAGE")));
        var url = URI.create(env.get("FENCEPOST_REDIS"));
        var factory = new JedisConnectionFactory(new RedisStandaloneConfiguration(url.getHost(), url.getPort()));
        factory.afterPropertiesSet();
        factory.start();
        long ttl = Long.parseLong(env.get("FENCEPOST_TTL_MS"));
        var registry = new RedisLockRegistry(factory, "lock", ttl);
        var outer = registry.obtain(OUTER[Integer.parseInt(env.get("FENCEPOST_PROCESS")) - 1]);
        var lock = registry.obtain("orders");
        for (int cycle = Integer.parseInt(env.get("FENCEPOST_CYCLES")); cycle > 0; cycle--) {
            outer.lock();
            say(judge, "ACQUIRING");
            lock.lock();
            long hold = (Long) say(judge, "ACQUIRED");
            int value = Integer.parseInt(storage.get("orders"));
            Thread.sleep(hold);
            storage.set("orders", String.valueOf(value + 1));
            say(judge, "RELEASING");
            lock.unlock();
            say(judge, "RELEASED");
            outer.unlock();
        }
        System.exit(0);
    }
    static Object say(Jedis judge, String word) { return judge.sendCommand(() -> word.getBytes(), "orders"); }
}
