// Curator's InterProcessMutex or InterProcessSemaphoreMutex, as fencepost runs it: see docs/own-programs.md.
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.*;
import org.apache.curator.retry.ExponentialBackoffRetry;
import redis.clients.jedis.Jedis;

class Curator {
    public static void main(String[] kind) throws Exception {
        var env = System.getenv();
        var judge = new Jedis(java.net.URI.create(env.get("FENCEPOST_JUDGE")));
        var storage = new Jedis(java.net.URI.create(env.get("FENCEPOST_STORAGE")));
        int ttl = Integer.parseInt(env.get("FENCEPOST_TTL_MS"));
        var retry = new ExponentialBackoffRetry(100, 5);
        var client = CuratorFrameworkFactory.newClient(env.get("FENCEPOST_ZOOKEEPER"), ttl, 15_000, retry);
        client.start();
        String path = "/" + env.get("FENCEPOST_LOCK");
        InterProcessLock lock = kind.length > 0 && kind[0].equals("semaphore")
            ? new InterProcessSemaphoreMutex(client, path) : new InterProcessMutex(client, path);
        for (int cycle = Integer.parseInt(env.get("FENCEPOST_CYCLES")); cycle > 0; cycle--) {
            say(judge, "ACQUIRING");
            try {
                if (!lock.acquire(60, java.util.concurrent.TimeUnit.SECONDS)) { say(judge, "REFUSED"); continue; }
            } catch (Exception error) { say(judge, "UNKNOWN"); Thread.sleep(100); continue; }
            long hold = (Long) say(judge, "ACQUIRED");
            int value = Integer.parseInt(storage.get("orders"));
            Thread.sleep(hold);
            storage.set("orders", String.valueOf(value + 1));
            say(judge, "RELEASING");
            try { lock.release(); }
            catch (IllegalMonitorStateException | IllegalStateException gone) { say(judge, "LOST"); }
            catch (Exception error) { say(judge, "UNKNOWN"); }
            say(judge, "RELEASED");
        }
        System.exit(0);
    }
    static Object say(Jedis judge, String word) { return judge.sendCommand(() -> word.getBytes(), "orders"); }
}
