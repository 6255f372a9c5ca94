// Spring Integration's JdbcLockRegistry in any version from 4.3 to 7.0: see docs/own-programs.md.
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.integration.jdbc.lock.*;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;

class SpringJdbcVersions extends Harness {
    public static void main(String[] arguments) throws Exception {
        var source = new org.postgresql.ds.PGSimpleDataSource();
        source.setUrl(env("JDBC") + "&socketTimeout=10&connectTimeout=5");
        var transactions = new DataSourceTransactionManager(source);
        var repository = new DefaultLockRepository(source);
        repository.setTimeToLive(TTL);
        set(repository, "setTransactionManager", PlatformTransactionManager.class, transactions);
        boolean isSeven = has(DefaultLockRepository.class, "acquire", String.class, Duration.class);
        if (isSeven) {
            repository.setPrefix("INT7_");
            set(repository, "setInsertQuery", String.class, get(repository, "getInsertQuery") + " ON CONFLICT DO NOTHING");
        }
        repository.afterPropertiesSet();
        get(repository, "afterSingletonsInstantiated");
        // Before 6.0, the repository has annotations for its transactions.
        var proxy = new ProxyFactory(repository);
        proxy.addAdvice(new TransactionInterceptor(transactions, new AnnotationTransactionAttributeSource()));
        var transactional = (LockRepository) proxy.getProxy();
        var registry = isSeven
            ? JdbcLockRegistry.class.getConstructor(LockRepository.class, Duration.class).newInstance(transactional, Duration.ofMillis(TTL))
            : new JdbcLockRegistry(transactional);
        var lock = registry.obtain("orders");
        cycles(() -> lock.tryLock(60, TimeUnit.SECONDS), lock::unlock);
        System.exit(0);
    }

    // These helpers call methods that only some versions have.
    static void set(Object target, String name, Class<?> type, Object value) throws Exception {
        if (has(target.getClass(), name, type)) target.getClass().getMethod(name, type).invoke(target, value);
    }
    static Object get(Object target, String name) throws Exception {
        return has(target.getClass(), name) ? target.getClass().getMethod(name).invoke(target) : null;
    }
    static boolean has(Class<?> type, String name, Class<?>... parameters) {
        try { type.getMethod(name, parameters); } catch (NoSuchMethodException none) { return false; }
        return true;
    }
}
