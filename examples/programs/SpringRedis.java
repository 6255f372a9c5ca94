// Spring Integration's RedisLockRegistry: see docs/own-programs.md.
import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

class SpringRedis extends Harness {
    public static void main(String[] arguments) throws Exception {
        var url = java.net.URI.create(env("REDIS"));
        var factory = new JedisConnectionFactory(new RedisStandaloneConfiguration(url.getHost(), url.getPort()));
        factory.afterPropertiesSet();
        factory.start();
        var lock = new RedisLockRegistry(factory, "lock", TTL).obtain("orders");
        cycles(() -> lock.tryLock(60, TimeUnit.SECONDS), lock::unlock);
        System.exit(0);
    }
}
