import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createClient } from "redis";

const OPTIONS = ["replicas", "sentinels", "persistence", "program"];

/** Starts `fencepost serve --clock manual` on free ports. */
export async function redisClock(chosen = {}) {
  const unknown = Object.keys(chosen).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`option '${unknown}': expected one of ${OPTIONS.join(", ")}`);
  }
  const { replicas, sentinels, persistence, program } = chosen;
  const options = Object.entries({ replicas, sentinels, persistence })
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => [`--${name}`, String(value)]);
  const chosenProgram = program ?? process.env.FENCEPOST;
  const [name, ...words] = chosenProgram === undefined ? installed() : [chosenProgram];
  words.push("serve", "--clock", "manual", "--port", "0", "--end-with-stdin", ...options);
  const server = spawn(name, words, { stdio: ["pipe", "pipe", "pipe"] });
  const ready = await firstLine(server, name);
  const addresses = ready.split(" ").slice(1).map((word) => word.split("="));
  const servers = addresses.filter(([role]) => role !== "admin").map(([role, at]) => {
    const [host, port] = at.split(":");
    return { role, host, port: Number(port), url: `redis://${at}` };
  });
  const admin = createClient({ url: `redis://${addresses.at(-1)[1]}` });
  // A command that fails says so itself; without a listener the process would end.
  admin.on("error", () => {});
  await admin.connect();
  return new RedisClock(server, admin, servers);
}

/** The command of the package fencepost, from the project or from this package, or of the PATH. */
function installed() {
  for (const base of [join(process.cwd(), "package.json"), import.meta.url]) {
    try {
      return [process.execPath, createRequire(base).resolve("fencepost/bin/fencepost.js")];
    } catch {
      continue;
    }
  }
  return ["fencepost"];
}

async function firstLine(server, name) {
  let errors = "";
  server.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
  const failed = new Promise((_, reject) => {
    server.once("error", ({ code, message }) => {
      const missing = "program not found: npm install --save-dev fencepost";
      reject(new Error(`fencepost '${name}': ${code === "ENOENT" ? missing : message}`));
    });
    server.once("close", () => reject(new Error(`fencepost serve: ${errors.trim()}`)));
  });
  const [line] = await Promise.race([once(createInterface(server.stdout), "line"), failed]);
  failed.catch(() => {});
  return line;
}

class RedisClock {
  #server;
  #admin;
  #pending = 0;
  #kill;

  constructor(server, admin, servers) {
    this.#server = server;
    this.#admin = admin;
    this.servers = servers;
    ({ host: this.host, port: this.port, url: this.url } = servers[0]);
    // A test that forgets stop() must not keep the test runner alive. The server ends with its
    // standard input, and therefore also with a process that is killed.
    this.#kill = () => server.kill();
    process.once("exit", this.#kill);
    const pipes = [server.stdin, server.stdout, server.stderr];
    for (const handle of [server, ...pipes, admin]) handle.unref();
  }

  /** Sends one admin command, such as `command("CRASH")` or `command("LAG 2s")`. */
  async command(...words) {
    this.#pending += 1;
    this.#admin.ref();
    try {
      return await this.#admin.sendCommand(words.map(String));
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0) this.#admin.unref();
    }
  }

  /** Moves all clocks by a span such as "10s"; expiries have happened when it resolves. */
  advance(span) {
    return this.command("CLOCK", "ADVANCE", span);
  }

  enter(lock, client) {
    return this.command("ENTER", lock, client);
  }

  leave(lock, client) {
    return this.command("LEAVE", lock, client);
  }

  /** A line for each time that two clients were in the critical section of a lock together. */
  judge() {
    return this.command("JUDGE");
  }

  history() {
    return this.command("HISTORY");
  }

  reset() {
    return this.command("RESET");
  }

  async stop() {
    process.off("exit", this.#kill);
    if (this.#admin.isOpen) this.#admin.destroy();
    this.#server.ref();
    if (this.#server.exitCode === null && this.#server.kill()) await once(this.#server, "exit");
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.stop();
  }
}
