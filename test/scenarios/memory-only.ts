import type { Scenario } from "../engine/scenario.ts";

/** A reason for which several scenarios run in memory only. */
type MemoryOnly = Extract<NonNullable<Scenario["only"]>, object>;

export const SEVERAL_ISOLATES: MemoryOnly = {
  on: ["memory"],
  because: "one worker of the runtime is one isolate",
};

export const PUSHES: MemoryOnly = {
  on: ["memory"],
  because: "the runtime pushes over connections and the server between processes: a scenario cannot decide when",
};

export const CONNECTIONS: MemoryOnly = {
  on: ["memory"],
  because: "a connection is kept in time that passes by itself; test/platform has it in the runtime",
};

export const LOST_LOG: MemoryOnly = {
  on: ["memory"],
  because: "one instance of the runtime cannot lose its own log; the simulated CDN does (`cdn.log.recreate`)",
};

export const BENEATH_THE_ISOLATES: MemoryOnly = {
  on: ["memory"],
  because: "only in memory can a scenario decide what happens beneath the isolates",
};

export const WAITING_REQUESTS: MemoryOnly = {
  on: ["memory"],
  because: "only in memory is it known that a request has begun to wait",
};

export const BACKGROUND_WORK: MemoryOnly = {
  on: ["memory"],
  because: "the runtime does not show when the work behind an answer ends",
};

export const WAITING_ON_REAL_TIME: MemoryOnly = {
  on: ["memory"],
  because: "waiting is on real time in the runtime",
};
