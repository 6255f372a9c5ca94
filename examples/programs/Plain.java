// A lock on plain sockets (java Plain.java, or javac first): see docs/own-programs.md.
import java.io.*;
import java.net.*;

class Plain {
    static final String UNLOCK = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
    final BufferedReader in; final OutputStream out;
    Plain(String name) throws IOException {
        URI url = URI.create(env(name));
        Socket socket = new Socket(url.getHost(), url.getPort());
        in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
        out = socket.getOutputStream();
    }
    static String env(String name) { return System.getenv("FENCEPOST_" + name); }
    /** The first line of the answer, or the text behind it. */
    String ask(String... words) throws IOException {
        StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
        for (String word : words) text.append("$" + word.length() + "\r\n" + word + "\r\n");
        out.write(text.toString().getBytes());
        String line = in.readLine();
        return line.startsWith("$") && !line.startsWith("$-") ? in.readLine() : line;
    }
    static void work() throws Exception {
        Plain server = new Plain("REDIS"), storage = new Plain("STORAGE"), judge = new Plain("JUDGE");
        for (int cycle = 0; cycle < Integer.parseInt(env("CYCLES")); cycle++) {
            String owner = env("PROCESS") + "-" + ProcessHandle.current().pid() + "-" + cycle;
            judge.ask("ACQUIRING", "orders");
            while (!server.ask("SET", env("LOCK"), owner, "NX", "PX", env("TTL_MS")).equals("+OK")) Thread.sleep(100);
            long hold = Long.parseLong(judge.ask("ACQUIRED", "orders").substring(1));
            long value = Long.parseLong(storage.ask("GET", "orders"));
            Thread.sleep(hold);
            storage.ask("SET", "orders", "" + (value + 1));
            judge.ask("RELEASING", "orders");
            if (!server.ask("EVAL", UNLOCK, "1", env("LOCK"), owner).equals(":1")) judge.ask("LOST", "orders");
            judge.ask("RELEASED", "orders");
        }
    }
    public static void main(String[] arguments) throws Exception { work(); }
}
