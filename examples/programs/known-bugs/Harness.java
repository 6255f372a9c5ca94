// What the workers in Java share: their connections and the cycles. See docs/known-bugs.md.
import java.io.*;
import java.net.*;
import java.util.*;

class Harness {
    interface Asked { boolean run() throws Exception; }
    interface Step { void run() throws Exception; }

    static final Socket JUDGE = connect("JUDGE"), STORAGE = connect("STORAGE");
    static final int TTL = Integer.parseInt(env("TTL_MS")), PROCESS = Integer.parseInt(env("PROCESS"));

    static String env(String name) { return System.getenv("FENCEPOST_" + name); }

    // Each cycle takes the lock, changes the guarded value, and gives the lock back.
    static void cycles(Asked acquire, Step release) throws Exception {
        for (int cycle = Integer.parseInt(env("CYCLES")); cycle > 0; cycle--) {
            ask(JUDGE, "ACQUIRING");
            if (!tried(acquire, "REFUSED")) continue;
            long hold = Long.parseLong(ask(JUDGE, "ACQUIRED"));
            int next = Integer.parseInt(ask(STORAGE, "GET")) + 1;
            Thread.sleep(hold);
            ask(STORAGE, "SET", "" + next);
            ask(JUDGE, "RELEASING");
            tried(() -> { release.run(); return true; }, "LOST");
            ask(JUDGE, "RELEASED");
        }
    }

    static boolean tried(Asked step, String otherwise) throws Exception {
        try {
            if (step.run()) return true;
        } catch (IllegalMonitorStateException error) {
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

    static Socket connect(String name) {
        var url = URI.create(env(name));
        try { return new Socket(url.getHost(), url.getPort()); }
        catch (IOException error) { throw new UncheckedIOException(error); }
    }

    static String ask(Socket at, String word, String... more) throws IOException {
        var words = new ArrayList<>(List.of(word, "orders"));
        words.addAll(List.of(more));
        var sent = new StringBuilder("*" + words.size() + "\r\n");
        for (var one : words) sent.append("$" + one.length() + "\r\n" + one + "\r\n");
        at.getOutputStream().write(sent.toString().getBytes());
        var line = line(at);
        return line.startsWith("$") ? line(at) : line.substring(1);
    }

    static String line(Socket from) throws IOException {
        var line = new StringBuilder();
        for (int next; (next = from.getInputStream().read()) != '\n';) line.append((char) next);
        return line.toString().trim();
    }
}
