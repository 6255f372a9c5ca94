// ShedLock's Redis provider: see docs/known-bugs.md.
import java.net.URI;
import java.time.*;
import net.javacrumbs.shedlock.core.*;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

class ShedLockRedis extends Harness {
    static SimpleLock held;

    public static void main(String[] arguments) throws Exception {
        var url = URI.create(env("REDIS"));
        var factory = new JedisConnectionFactory(new RedisStandaloneConfiguration(url.getHost(), url.getPort()));
        factory.afterPropertiesSet();
        factory.start();
        var builder = new RedisLockProvider.Builder(factory);
        for (var method : builder.getClass().getMethods()) {
            if (method.getName().equals("safeUpdate")) method.invoke(builder, true);
        }
        var provider = builder.build();
        cycles(() -> polled(() -> {
            held = provider.lock(new LockConfiguration(Instant.now(), "orders", Duration.ofMillis(TTL), Duration.ZERO))
                .orElse(null);
            return held != null;
        }), () -> held.unlock());
        System.exit(0);
    }
}
