// A lock of SETNX, GET and GETSET, whose value is the time at which it ends, on Jedis 2.9: see
// docs/own-programs.md.
import java.net.URI;
import redis.clients.jedis.Jedis;

class JedisGetSet extends Harness {
    static String ends;

    public static void main(String[] arguments) throws Exception {
        var redis = new Jedis(URI.create(env("REDIS")), 60_000);
        var key = env("LOCK");
        cycles(() -> polled(() -> {
            ends = "" + (System.currentTimeMillis() + TTL + 1);
            if (redis.setnx(key, ends) == 1) return true;
            var seen = redis.get(key);
            return seen != null && Long.parseLong(seen) < System.currentTimeMillis()
                && seen.equals(redis.getSet(key, ends));
        }), () -> redis.del(key));
        System.exit(0);
    }
}
