// Spring Integration's RedisLockRegistry, with spinning or, with the argument `pubsub`, with
// publish/subscribe: see docs/own-programs.md.
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.springframework.context.Lifecycle;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

class SpringRedis extends Harness {
    public static void main(String[] arguments) throws Exception {
        var url = java.net.URI.create(env("REDIS"));
        var factory = new JedisConnectionFactory(new RedisStandaloneConfiguration(url.getHost(), url.getPort()));
        if (env("SENTINELS") != null) {
            var sentinels = java.util.Set.of(env("SENTINELS").split(","));
            factory = new JedisConnectionFactory(new RedisSentinelConfiguration(env("MASTER_NAME"), sentinels));
        }
        factory.afterPropertiesSet();
        // Spring Data has this method since 3.2.
        if ((Object) factory instanceof Lifecycle lifecycle) lifecycle.start();
        var registry = new RedisLockRegistry(factory, "lock", TTL);
        if (List.of(arguments).contains("pubsub"))
            registry.setRedisLockType(RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
        var lock = registry.obtain("orders");
        cycles(() -> lock.tryLock(60, TimeUnit.SECONDS), lock::unlock);
        System.exit(0);
    }
}
