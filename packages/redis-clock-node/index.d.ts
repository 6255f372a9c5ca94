export interface Options {
  /** Replicas of the master. */
  replicas?: number;
  sentinels?: number;
  /** Data that survives RESTART. */
  persistence?: "none" | "rdb" | "aof-everysec" | "aof-always";
  /**
   * The fencepost program. By default FENCEPOST, else the package fencepost of the project, else
   * `fencepost` on the PATH.
   */
  program?: string;
}

export interface Server {
  role: "master" | "replica" | "sentinel";
  host: string;
  port: number;
  url: string;
}

export interface RedisClock {
  /** The address of the master. */
  host: string;
  port: number;
  url: string;
  /** All servers, the master first. */
  servers: Server[];
  /** Sends one admin command, such as `command("CRASH")` or `command("LAG 2s")`. */
  command(...words: (string | number)[]): Promise<unknown>;
  /** Moves all clocks by a span such as "10s"; expiries have happened when it resolves. */
  advance(span: string): Promise<unknown>;
  enter(lock: string, client: string): Promise<unknown>;
  leave(lock: string, client: string): Promise<unknown>;
  /** A line for each time that two clients were in the critical section of a lock together. */
  judge(): Promise<string[]>;
  history(): Promise<string[]>;
  /** Back to the beginning: empty servers, first clock, no history, connections closed. */
  reset(): Promise<unknown>;
  /** Ends the server. Without this call, the server ends with the process, even if it is killed. */
  stop(): Promise<void>;
}

export function redisClock(options?: Options): Promise<RedisClock>;
