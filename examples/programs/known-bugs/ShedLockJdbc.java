// ShedLock's JdbcTemplate provider, with the database's time unless an argument says "client": see
// docs/known-bugs.md.
import java.time.Duration;
import java.util.Arrays;
import net.javacrumbs.shedlock.core.*;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;

class ShedLockJdbc extends Harness {
    static SimpleLock held;

    public static void main(String[] arguments) throws Exception {
        var source = new org.postgresql.ds.PGSimpleDataSource();
        source.setUrl(env("JDBC"));
        var configuration = JdbcTemplateLockProvider.Configuration.builder().withJdbcTemplate(new JdbcTemplate(source));
        if (!Arrays.asList(arguments).contains("client")) configuration.usingDbTime();
        var provider = new JdbcTemplateLockProvider(configuration.build());
        provider.lock(named("another job")).ifPresent(SimpleLock::unlock);
        cycles(() -> polled(() -> {
            var lock = provider.lock(named(env("LOCK")));
            held = lock.orElse(null);
            return lock.isPresent();
        }), () -> held.unlock());
        System.exit(0);
    }

    static LockConfiguration named(String name) {
        return new LockConfiguration(name, Duration.ofMillis(TTL), Duration.ZERO);
    }
}
