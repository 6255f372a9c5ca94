import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.apache.geode.cache.Cache;
import org.apache.geode.cache.CacheFactory;
import org.apache.geode.cache.Region;
import org.apache.geode.cache.RegionShortcut;
import org.apache.geode.cache.Scope;
import org.apache.geode.distributed.DistributedLockService;
import org.apache.geode.distributed.Locator;

/**
 * A locator or a member that takes a command a line and prints `= RESULT` for each:
 *
 * <pre>java Members FOLDER locator|NAME PORT TIMEOUT</pre>
 */
class Members {
  private final Cache cache;
  private final Region<String, String> global;
  private final Region<String, String> local;
  private final DistributedLockService service;
  private Object registry;

  private Members(Properties settings) {
    cache = new CacheFactory(settings).create();
    global = cache.<String, String>createRegionFactory(RegionShortcut.REPLICATE)
        .setScope(Scope.GLOBAL).create("global");
    local = cache.<String, String>createRegionFactory(RegionShortcut.LOCAL).create("local");
    service = DistributedLockService.create("locks", cache.getDistributedSystem());
  }

  private static Properties settings(File folder, String name, String port, String timeout) {
    Properties settings = new Properties();
    settings.setProperty("name", name);
    settings.setProperty("log-level", "warn");
    settings.setProperty("log-file", new File(folder, name + ".log").getPath());
    settings.setProperty("bind-address", "127.0.0.1");
    settings.setProperty("locators", "127.0.0.1[" + port + "]");
    settings.setProperty("mcast-port", "0");
    settings.setProperty("member-timeout", timeout);
    settings.setProperty("jmx-manager-start", "false");
    settings.setProperty("enable-cluster-configuration", "false");
    settings.setProperty("use-cluster-configuration", "false");
    settings.setProperty("disable-auto-reconnect", "true");
    return settings;
  }

  private Object perform(String... words) throws Exception {
    switch (words[0]) {
      case "lock":
        return service.lock(words[1], Long.parseLong(words[2]), Long.parseLong(words[3]));
      case "unlock":
        service.unlock(words[1]);
        return "unlocked";
      case "held":
        return service.isHeldByCurrentThread(words[1]);
      case "become":
        service.becomeLockGrantor();
        return service.isLockGrantor();
      case "region-lock":
        return global.getDistributedLock(words[1]).tryLock(100, TimeUnit.MILLISECONDS);
      case "region-unlock":
        global.getDistributedLock(words[1]).unlock();
        return "unlocked";
      case "local-lock":
        return local.getDistributedLock(words[1]).tryLock();
      case "registry-lock":
        return registryLock(words[1]).tryLock(Long.parseLong(words[2]), TimeUnit.MILLISECONDS);
      case "registry-unlock":
        registryLock(words[1]).unlock();
        return "unlocked";
      case "put":
        global.put(words[1], words[2]);
        return "done";
      case "closed":
        return cache.isClosed();
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }

  /** A lock of Spring Integration's GemfireLockRegistry, which may not be there to compile. */
  private Lock registryLock(String key) throws Exception {
    Class<?> type = Class.forName("org.springframework.integration.gemfire.util.GemfireLockRegistry");
    if (registry == null) {
      registry = type.getConstructor(Cache.class).newInstance(cache);
    }
    return (Lock) type.getMethod("obtain", Object.class).invoke(registry, key);
  }

  public static void main(String[] arguments) throws Exception {
    File folder = new File(arguments[0]);
    String name = arguments[1];
    Properties settings = settings(folder, name, arguments[2], arguments[3]);
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    Members member = null;
    if (name.equals("locator")) {
      int port = Integer.parseInt(arguments[2]);
      Locator.startLocatorAndDS(port, null, InetAddress.getByName("127.0.0.1"), settings);
    } else {
      member = new Members(settings);
    }
    System.out.println("= ready");
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      Object result;
      try {
        result = member.perform(line.split(" "));
      } catch (Exception error) {
        result = error.getClass().getSimpleName();
      }
      System.out.println("= " + result);
    }
    // Its input has ended: so has the test.
    Runtime.getRuntime().halt(0);
  }
}
