// Redisson's SpinLock with a short wait: see docs/known-bugs.md.
import java.util.concurrent.TimeUnit;
import org.redisson.*;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

class RedissonSpin extends Harness {
    public static void main(String[] arguments) throws Exception {
        var config = new Config().setCodec(new StringCodec());
        config.useSingleServer().setAddress(env("REDIS")).setConnectionPoolSize(2).setConnectionMinimumIdleSize(1)
            .setSubscriptionConnectionMinimumIdleSize(1).setSubscriptionConnectionPoolSize(2);
        config.setLockWatchdogTimeout(3000);
        var client = Redisson.create(config);
        var lock = client.getSpinLock(env("LOCK"));
        cycles(() -> polled(() -> lock.tryLock(300, TTL, TimeUnit.MILLISECONDS)), lock::unlock);
        System.exit(0);
    }
}
