// A lock on plain sockets that a second thread renews (java Plain.java, or javac first): see docs/own-programs.md.
import java.io.*; import java.net.*; class Plain {
    static final String IF_OWN = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call(unpack(ARGV,2)) end return 0";
    final String name; Socket socket;
    Plain(String name) { this.name = name; }
    static String env(String name) { return System.getenv("FENCEPOST_" + name); }
    synchronized String ask(String... words) { // the first line of the answer, or the text behind it
        StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
        for (String word : words) text.append("$" + word.length() + "\r\n" + word + "\r\n");
        URI url = URI.create(env(name));
        try {
            if (socket == null) socket = new Socket(url.getHost(), url.getPort());
            socket.getOutputStream().write(text.toString().getBytes());
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            String line = in.readLine();
            if (line != null) return line.startsWith("$") && !line.startsWith("$-") ? in.readLine() : line;
        } catch (IOException error) { }
        socket = null; // the connection is lost
        return "";
    }
    public static void main(String[] arguments) throws Exception {
        Plain server = new Plain("REDIS"), storage = new Plain("STORAGE"), judge = new Plain("JUDGE");
        for (int cycle = 0; cycle < Integer.parseInt(env("CYCLES")); cycle++) {
            String owner = env("PROCESS") + "-" + ProcessHandle.current().pid() + "-" + cycle, key = env("LOCK"), ttl = env("TTL_MS");
            judge.ask("ACQUIRING", "orders");
            while (!server.ask("SET", key, owner, "NX", "PX", ttl).equals("+OK")) Thread.sleep(100);
            Thread renewing = new Thread(() -> {
                try { while (true) { Thread.sleep(500); server.ask("EVAL", IF_OWN, "1", key, owner, "PEXPIRE", key, ttl); } } catch (Exception over) { }
            });
            renewing.start();
            long hold = Long.parseLong(judge.ask("ACQUIRED", "orders").substring(1)), value = Long.parseLong(storage.ask("GET", "orders"));
            Thread.sleep(hold);
            storage.ask("SET", "orders", "" + (value + 1)); judge.ask("RELEASING", "orders");
            renewing.interrupt();
            String removed = server.ask("EVAL", IF_OWN, "1", key, owner, "DEL", key);
            if (!removed.equals(":1")) judge.ask(removed.equals(":0") ? "LOST" : "UNKNOWN", "orders");
            judge.ask("RELEASED", "orders");
        }
    }
}
