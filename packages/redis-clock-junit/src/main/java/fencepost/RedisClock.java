package fencepost;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.util.SafeEncoder;

/**
 * A fake Redis whose clock stands still until the test moves it. Register it with
 * {@code @RegisterExtension}: each test gets a Redis from the beginning.
 */
public final class RedisClock implements BeforeEachCallback, AfterEachCallback {
  private final List<String> options;
  private Process server;
  private Connection admin;
  private List<HostAndPort> servers;

  /** Takes options of {@code fencepost serve}, such as {@code --replicas=2}. */
  public RedisClock(String... options) {
    this.options = List.of(options);
  }

  /** Starts the servers on free ports. The program is $FENCEPOST, or fencepost. */
  public void start() throws IOException {
    String program = System.getenv().getOrDefault("FENCEPOST", "fencepost");
    List<String> command =
        new ArrayList<>(
            List.of(program, "serve", "--clock", "manual", "--port", "0", "--end-with-stdin"));
    command.addAll(options);
    try {
      // The server ends with the pipe on its standard input, and so also with a killed JVM.
      server = new ProcessBuilder(command).start();
    } catch (IOException error) {
      throw new IOException(
          "fencepost '"
              + program
              + "': program not found: expected fencepost on PATH, or its path in $FENCEPOST",
          error);
    }
    String ready =
        new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8))
            .readLine();
    if (ready == null) {
      byte[] errors = server.getErrorStream().readAllBytes();
      throw new IOException(
          "fencepost serve: " + new String(errors, StandardCharsets.UTF_8).strip());
    }
    List<HostAndPort> all =
        Arrays.stream(ready.split(" "))
            .skip(1)
            .map(word -> HostAndPort.from(word.substring(word.indexOf('=') + 1)))
            .collect(Collectors.toList());
    servers = all.subList(0, all.size() - 1);
    admin = new Connection(all.get(all.size() - 1));
  }

  /** Ends the servers. */
  public void stop() {
    if (admin != null) {
      admin.close();
    }
    if (server != null) {
      server.destroy();
    }
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    try {
      if (server == null || !server.isAlive()) {
        start();
        // Serves all tests of the class, and ends with the last.
        ExtensionContext.Store store =
            context.getRoot().getStore(ExtensionContext.Namespace.create(RedisClock.class, this));
        store.put("server", (ExtensionContext.Store.CloseableResource) this::stop);
      }
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    if (server != null && server.isAlive()) {
      reset();
    }
  }

  /** The address of the master. */
  public HostAndPort address() {
    return servers.get(0);
  }

  /** The addresses of all servers, the master first. */
  public List<HostAndPort> servers() {
    return List.copyOf(servers);
  }

  /** Sends one admin command, such as {@code command("CRASH")}, and returns its reply as text. */
  public Object command(String name, String... words) {
    admin.sendCommand(() -> SafeEncoder.encode(name), words);
    return SafeEncoder.encodeObject(admin.getOne());
  }

  /** Moves all clocks by a span such as "10s"; expiries have happened when it returns. */
  public void advance(String span) {
    command("CLOCK", "ADVANCE", span);
  }

  /** Reports that a client enters the critical section of a lock. */
  public void enter(String lock, String client) {
    command("ENTER", lock, client);
  }

  /** Reports that a client leaves the critical section of a lock. */
  public void leave(String lock, String client) {
    command("LEAVE", lock, client);
  }

  /** A line for each time that two clients were in the critical section of a lock together. */
  public List<String> judge() {
    return lines("JUDGE");
  }

  /** A line for each change of a key, each fault, and each enter and leave. */
  public List<String> history() {
    return lines("HISTORY");
  }

  /** Goes back to the beginning: empty servers, first clock, no history, connections closed. */
  public void reset() {
    command("RESET");
  }

  private List<String> lines(String command) {
    List<?> reply = (List<?>) command(command);
    return reply.stream().map(String::valueOf).collect(Collectors.toList());
  }
}
