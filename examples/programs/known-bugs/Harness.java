// What the workers in Java share: their connections and the cycles. See docs/known-bugs.md.
import java.io.*;
import java.net.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.Stream;

class Harness {
    interface Asked { boolean run() throws Exception; }
    interface Step { void run() throws Exception; }

    static final Socket JUDGE = connect("JUDGE"), STORAGE = connect("STORAGE");
    // The fencing token of the current cycle, if the lock has one.
    static String[] token = {};
    // A permit ends the critical section early, without a write.
    static final Semaphore leave = new Semaphore(0);
    static final int TTL = Integer.parseInt(env("TTL_MS")), PROCESS = Integer.parseInt(env("PROCESS"));

    static String env(String name) { return System.getenv("FENCEPOST_" + name); }

    // Each cycle takes the lock, changes the guarded value, and gives the lock back.
    static void cycles(Asked acquire, Step release) throws Exception {
        for (int cycle = Integer.parseInt(env("CYCLES")); cycle > 0; cycle--) {
            ask(JUDGE, "ACQUIRING");
            boolean isOurs = tried(acquire, "REFUSED");
            Thread.interrupted();
            if (!isOurs) continue;
            long hold = Long.parseLong(ask(JUDGE, "ACQUIRED", token));
            int next = Integer.parseInt(ask(STORAGE, "GET")) + 1;
            if (!leave.tryAcquire(hold, TimeUnit.MILLISECONDS))
                ask(STORAGE, "SET", Stream.concat(Stream.of("" + next), Stream.of(token)).toArray(String[]::new));
            ask(JUDGE, "RELEASING");
            tried(() -> { release.run(); return true; }, "LOST");
            ask(JUDGE, "RELEASED");
        }
    }

    static boolean tried(Asked step, String otherwise) throws Exception {
        try {
            if (step.run()) return true;
        } catch (IllegalMonitorStateException | ClassCastException | ConcurrentModificationException error) {
            System.err.println(error);
        } catch (Exception error) {
            System.err.println(error);
            otherwise = "UNKNOWN";
        }
        ask(JUDGE, otherwise);
        return false;
    }

    // Asks until the answer is yes.
    static boolean polled(Asked lock) throws Exception {
        while (!lock.run()) Thread.sleep(100);
        return true;
    }

    // Interrupts the thread while it asks, after AFTER ms.
    static boolean interrupted(Asked lock) throws Exception {
        var asks = Thread.currentThread();
        long after = Long.parseLong(System.getenv("AFTER"));
        var timer = new Thread(() -> {
            try { Thread.sleep(after); asks.interrupt(); }
            catch (InterruptedException done) { }
        });
        timer.start();
        try { return lock.run(); }
        finally { timer.interrupt(); }
    }

    static Socket connect(String name) {
        var url = URI.create(env(name));
        try { return new Socket(url.getHost(), url.getPort()); }
        catch (IOException error) { throw new UncheckedIOException(error); }
    }

    // Every thread but the first names itself.
    static String ask(Socket at, String word, String... more) throws IOException {
        var words = new ArrayList<>(List.of(word, "orders"));
        words.addAll(List.of(more));
        var name = Thread.currentThread().getName();
        if (!name.equals("main")) words.addAll(List.of("AS", name));
        var sent = new StringBuilder("*" + words.size() + "\r\n");
        for (var one : words) sent.append("$" + one.length() + "\r\n" + one + "\r\n");
        synchronized (at) {
            at.getOutputStream().write(sent.toString().getBytes());
            var line = line(at);
            return line.startsWith("$") ? line(at) : line.substring(1);
        }
    }

    static String line(Socket from) throws IOException {
        var line = new StringBuilder();
        for (int next; (next = from.getInputStream().read()) != '\n';) line.append((char) next);
        return line.toString().trim();
    }
}
