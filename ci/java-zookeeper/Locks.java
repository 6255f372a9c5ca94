import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;

/** The lock recipes of Apache Curator, unmodified, at the ZooKeeper servers of the first argument (host:port, with commas). */
public final class Locks {
    private static String hosts;
    private static final List<CuratorFramework> CLIENTS = new ArrayList<>();

    private interface Recipe {
        void use() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        hosts = arguments[0];
        Recipe[] recipes = {
            Locks::mutex, Locks::sharedAndExclusive, Locks::semaphore, Locks::notReentrant, Locks::severalAsOne, Locks::sessionThatEnds,
            Locks::containers, Locks::manyAtOnce,
        };
        for (Recipe recipe : recipes) {
            recipe.use();
            CLIENTS.forEach(CuratorFramework::close);
            CLIENTS.clear();
        }
        System.exit(0);
    }

    private static synchronized CuratorFramework client() {
        CuratorFramework client = CuratorFrameworkFactory.newClient(hosts, 4000, 15000, new ExponentialBackoffRetry(100, 10));
        client.start();
        CLIENTS.add(client);
        return client;
    }

    private static void check(String what, boolean isSo) {
        if (!isSo) {
            System.err.println("curator: " + what);
            System.exit(1);
        }
    }

    /** Curator's locks belong to threads, so that another owner is another thread. */
    private static <T> T elsewhere(Callable<T> body) throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            return thread.submit(body).get();
        } finally {
            thread.shutdown();
        }
    }

    private static void mutex() throws Exception {
        InterProcessMutex one = new InterProcessMutex(client(), "/curator/mutex");
        InterProcessMutex other = new InterProcessMutex(client(), "/curator/mutex");
        check("a free lock is granted", one.acquire(10, TimeUnit.SECONDS));
        check("again to its holder", one.acquire(10, TimeUnit.SECONDS));
        check("a taken one is refused", !elsewhere(() -> other.acquire(300, TimeUnit.MILLISECONDS)));
        one.release();
        check("it is held until the last release", one.isAcquiredInThisProcess());
        check("by one participant", other.getParticipantNodes().size() == 1);
        one.release();
        check("what was released is granted", other.acquire(10, TimeUnit.SECONDS));
        check("and is not the first one's", !one.isAcquiredInThisProcess());
        other.release();
    }

    private static void sharedAndExclusive() throws Exception {
        InterProcessReadWriteLock one = new InterProcessReadWriteLock(client(), "/curator/shared");
        InterProcessReadWriteLock other = new InterProcessReadWriteLock(client(), "/curator/shared");
        check("one reader", one.readLock().acquire(10, TimeUnit.SECONDS));
        check("and another", other.readLock().acquire(10, TimeUnit.SECONDS));
        InterProcessReadWriteLock writer = new InterProcessReadWriteLock(client(), "/curator/shared");
        check("no writer meanwhile", !elsewhere(() -> writer.writeLock().acquire(300, TimeUnit.MILLISECONDS)));
        one.readLock().release();
        other.readLock().release();
        check("a writer afterwards", writer.writeLock().acquire(10, TimeUnit.SECONDS));
        check("who may read as well", writer.readLock().acquire(10, TimeUnit.SECONDS));
        check("no other reader", !elsewhere(() -> one.readLock().acquire(300, TimeUnit.MILLISECONDS)));
        writer.readLock().release();
        writer.writeLock().release();
    }

    private static void semaphore() throws Exception {
        InterProcessSemaphoreV2 one = new InterProcessSemaphoreV2(client(), "/curator/semaphore", 2);
        InterProcessSemaphoreV2 other = new InterProcessSemaphoreV2(client(), "/curator/semaphore", 2);
        Lease first = one.acquire(10, TimeUnit.SECONDS);
        Lease second = other.acquire(10, TimeUnit.SECONDS);
        check("two leases", first != null && second != null);
        check("no third", other.acquire(300, TimeUnit.MILLISECONDS) == null);
        one.returnLease(first);
        Lease third = other.acquire(10, TimeUnit.SECONDS);
        check("what was given back is granted", third != null);
        other.returnLease(second);
        other.returnLease(third);
    }

    private static void notReentrant() throws Exception {
        InterProcessSemaphoreMutex one = new InterProcessSemaphoreMutex(client(), "/curator/plain");
        check("a free lock is granted", one.acquire(10, TimeUnit.SECONDS));
        check("once only", !one.acquire(300, TimeUnit.MILLISECONDS));
        one.release();
    }

    private static void severalAsOne() throws Exception {
        CuratorFramework client = client();
        InterProcessMultiLock all = new InterProcessMultiLock(client, List.of("/curator/all/a", "/curator/all/b"));
        InterProcessMutex part = new InterProcessMutex(client(), "/curator/all/b");
        check("all are granted", all.acquire(10, TimeUnit.SECONDS));
        check("each is taken", !elsewhere(() -> part.acquire(300, TimeUnit.MILLISECONDS)));
        all.release();
        check("each is free", part.acquire(10, TimeUnit.SECONDS));
        part.release();
    }

    /** The server ends the session of a client that it does not hear of, and the lock passes on; the first does not notice. */
    private static void sessionThatEnds() throws Exception {
        CuratorFramework dying = client();
        InterProcessMutex one = new InterProcessMutex(dying, "/curator/session");
        InterProcessMutex other = new InterProcessMutex(client(), "/curator/session");
        check("a free lock is granted", one.acquire(10, TimeUnit.SECONDS));
        dying.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
        check("it passes on when the session has ended", elsewhere(() -> other.acquire(30, TimeUnit.SECONDS)));
        check("the first believes that it still holds it", one.isAcquiredInThisProcess());
    }

    private static void containers() throws Exception {
        CuratorFramework client = client();
        client.create().creatingParentContainersIfNeeded().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/curator/box/a-");
        check("the parent is there", client.checkExists().forPath("/curator/box") != null);
        String kept = client.create().withProtection().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/curator/box/b-");
        check("a protected name begins with its mark: " + kept, kept.startsWith("/curator/box/_c_"));
        check("both are there", client.getChildren().forPath("/curator/box").size() == 2);
    }

    private static int counted;

    private static void manyAtOnce() throws Exception {
        int workers = 4;
        int rounds = 15;
        counted = 0;
        ExecutorService threads = Executors.newFixedThreadPool(workers);
        List<Future<?>> ends = new ArrayList<>();
        for (int worker = 0; worker < workers; worker++) {
            InterProcessMutex lock = new InterProcessMutex(client(), "/curator/many");
            ends.add(threads.submit(() -> {
                for (int round = 0; round < rounds; round++) {
                    lock.acquire();
                    int seen = counted;
                    Thread.yield();
                    counted = seen + 1;
                    lock.release();
                }
                return null;
            }));
        }
        for (Future<?> end : ends) {
            end.get();
        }
        threads.shutdown();
        check("no update is lost", counted == workers * rounds);
    }
}
