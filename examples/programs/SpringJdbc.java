// Spring Integration's JdbcLockRegistry, as fencepost runs it: see docs/own-programs.md.
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.integration.jdbc.lock.*;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import redis.clients.jedis.Jedis;

@org.springframework.transaction.annotation.EnableTransactionManagement
class SpringJdbc {
    public static void main(String[] arguments) throws Exception {
        var env = System.getenv();
        Jedis judge = client("JUDGE"), storage = client("STORAGE");
        var source = new org.postgresql.ds.PGSimpleDataSource();
        source.setUrl(env.get("FENCEPOST_JDBC") + "&socketTimeout=10&connectTimeout=5");
        var repository = new DefaultLockRepository(source);
        repository.setTimeToLive(Integer.parseInt(env.get("FENCEPOST_TTL_MS")));
        var spring = new AnnotationConfigApplicationContext();
        spring.register(SpringJdbc.class);
        spring.registerBean(DataSourceTransactionManager.class, () -> new DataSourceTransactionManager(source));
        spring.registerBean(LockRepository.class, () -> repository);
        spring.refresh();
        var lock = new JdbcLockRegistry(spring.getBean(LockRepository.class)).obtain("orders");
        for (int cycle = Integer.parseInt(env.get("FENCEPOST_CYCLES")); cycle > 0; cycle--) {
            say(judge, "ACQUIRING");
            try {
                if (!lock.tryLock(60, java.util.concurrent.TimeUnit.SECONDS)) { say(judge, "REFUSED"); continue; }
            } catch (Exception error) { say(judge, "UNKNOWN"); Thread.sleep(100); continue; }
            long hold = (Long) say(judge, "ACQUIRED");
            int next = Integer.parseInt(storage.get("orders")) + 1;
            Thread.sleep(hold);
            storage.set("orders", String.valueOf(next));
            say(judge, "RELEASING");
            try { lock.unlock(); }
            catch (Exception error) { say(judge, error instanceof java.util.ConcurrentModificationException ? "LOST" : "UNKNOWN"); }
            say(judge, "RELEASED");
        }
        System.exit(0);
    }
    static Jedis client(String name) { return new Jedis(java.net.URI.create(System.getenv("FENCEPOST_" + name))); }
    static Object say(Jedis judge, String word) { return judge.sendCommand(() -> word.getBytes(), "orders"); }
}
