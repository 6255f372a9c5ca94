// etcd's lock service with a lease for each cycle, on jetcd: see docs/own-programs.md.
import io.etcd.jetcd.*;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

class Jetcd extends Harness {
    static ByteSequence held;
    static long lease;

    public static void main(String[] arguments) throws Exception {
        var etcd = Client.builder().endpoints(env("ETCD").split(",")).build();
        var name = ByteSequence.from(env("LOCK"), StandardCharsets.UTF_8);
        cycles(() -> {
            lease = etcd.getLeaseClient().grant(TTL / 1000).get(30, TimeUnit.SECONDS).getID();
            held = etcd.getLockClient().lock(name, lease).get(60, TimeUnit.SECONDS).getKey();
            return true;
        }, () -> {
            etcd.getLockClient().unlock(held).get(30, TimeUnit.SECONDS);
            etcd.getLeaseClient().revoke(lease).get(30, TimeUnit.SECONDS);
        });
        System.exit(0);
    }
}
