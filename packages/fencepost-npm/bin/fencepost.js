#!/usr/bin/env node
// Runs the fencepost program of this platform's package.
const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "fencepost.exe" : "fencepost";

function program() {
  try {
    return require.resolve(`@fencepost/${platform}/${file}`);
  } catch {
    console.error(
      `error: platform '${platform}': @fencepost/${platform} is not installed: ` +
        "reinstall fencepost with its optional dependencies, or build it with cargo",
    );
    process.exit(2);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
// Ctrl-C in a terminal also reaches fencepost, which then prints its finished results. SIGTERM does
// not reach it, so it is passed on.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("error", (error) => {
  console.error(`error: ${error.message}`);
  process.exit(2);
});
child.on("close", (status, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else process.exit(status);
});
