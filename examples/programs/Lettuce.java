// A lock of SET NX PX and a comparing script, on Lettuce: see docs/own-programs.md.
import io.lettuce.core.*;
import java.util.UUID;

class Lettuce extends Harness {
    static final String COMPARE_AND_DELETE =
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
    static String owner;

    public static void main(String[] arguments) throws Exception {
        String sentinels = env("SENTINELS"), url = "redis-sentinel://" + sentinels + "#" + env("MASTER_NAME");
        var redis = RedisClient.create(sentinels == null ? env("REDIS") : url).connect().sync();
        String[] key = {env("LOCK")};
        cycles(() -> polled(() -> {
            owner = UUID.randomUUID().toString();
            return redis.set(key[0], owner, SetArgs.Builder.nx().px(TTL)) != null;
        }), () -> {
            long removed = redis.eval(COMPARE_AND_DELETE, ScriptOutputType.INTEGER, key, owner);
            if (removed == 0) throw new IllegalMonitorStateException("the lock has another owner, or none");
        });
        System.exit(0);
    }
}
