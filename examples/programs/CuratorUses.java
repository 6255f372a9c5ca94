// Curator's InterProcessMutex, used as its documentation recommends: see docs/own-programs.md.
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

class CuratorUses extends Harness {
    static class Mutex extends InterProcessMutex {
        Mutex(CuratorFramework client, String path) { super(client, path); }
        String node() { return getLockPath(); }
    }

    public static void main(String[] arguments) throws Exception {
        var retry = new ExponentialBackoffRetry(100, 5);
        var client = CuratorFrameworkFactory.newClient(env("ZOOKEEPER"), TTL, 15_000, retry);
        // The holder leaves its critical section when the connection is suspended or lost.
        if (arguments[0].equals("suspended")) client.getConnectionStateListenable().addListener((from, state) -> {
            if (state == ConnectionState.SUSPENDED || state == ConnectionState.LOST) leave.release();
        });
        client.start();
        var mutex = new Mutex(client, "/" + env("LOCK"));
        cycles(() -> {
            if (!mutex.acquire(60, TimeUnit.SECONDS)) return false;
            leave.drainPermits();
            // The storage checks the czxid of the holder's node.
            if (arguments[0].equals("fencing")) token = new String[] {"" + czxid(client, mutex.node())};
            return true;
        }, mutex::release);
        System.exit(0);
    }

    static long czxid(CuratorFramework client, String node) throws Exception {
        var stat = new org.apache.zookeeper.data.Stat();
        client.getData().storingStatIn(stat).forPath(node);
        return stat.getCzxid();
    }
}
