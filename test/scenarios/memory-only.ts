import type { Scenario } from "../engine/scenario.ts";

/** Why a scenario runs in memory only, where several have the same reason. */
type MemoryOnly = Extract<NonNullable<Scenario["only"]>, object>;

export const SEVERAL_ISOLATES: MemoryOnly = {
  engine: "memory",
  because: "one worker of the runtime is one isolate",
};

export const LOST_LOG: MemoryOnly = {
  engine: "memory",
  because: "one instance of the runtime cannot lose its own log; the simulated CDN will",
};

export const BENEATH_THE_ISOLATES: MemoryOnly = {
  engine: "memory",
  because: "what happens beneath the isolates is ours in memory",
};

export const WAITING_REQUESTS: MemoryOnly = {
  engine: "memory",
  because: "that a request has begun to wait shows only where the order of events is ours",
};

export const BACKGROUND_WORK: MemoryOnly = {
  engine: "memory",
  because: "what goes on behind an answer ends unseen in the runtime",
};

export const WAITING_ON_REAL_TIME: MemoryOnly = {
  engine: "memory",
  because: "what waits in the runtime waits for real time",
};
