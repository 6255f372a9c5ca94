#!/usr/bin/env node
// Runs the fencepost program of this platform's package.
const { spawnSync } = require("node:child_process");

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

// Ctrl-C reaches fencepost too, which then writes what it has.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
const { status, signal, error } = spawnSync(program(), process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`error: ${error.message}`);
  process.exit(2);
}
if (signal) process.kill(process.pid, signal);
process.exit(status);
