import type { Scenario } from "../engine/scenario.ts";

/** A reason for which several scenarios do not run on every engine. */
type NotOnEveryEngine = Extract<NonNullable<Scenario["only"]>, object>;

export const SEVERAL_ISOLATES: NotOnEveryEngine = {
  on: ["memory", "server"],
  because: "one worker of the runtime is one isolate",
};

export const TALKING: NotOnEveryEngine = {
  on: ["memory", "server"],
  because: "on Workers isolates tell each other nothing of the origin",
};

export const HANGS_UP: NotOnEveryEngine = {
  on: ["memory", "server"],
  because: "the runtime does not tell a worker whether a connection was refused or has ended without an answer",
};

export const CLOUDFLARES_STATUSES: NotOnEveryEngine = {
  on: ["runtime"],
  because: "only Cloudflare's network answers in place of an origin that gives no answer",
};

export const SHARED_VIEWS: NotOnEveryEngine = {
  on: ["memory"],
  because: "the workers of a server ask their supervisor, and one worker of the runtime is one isolate",
};

export const PUSHES: NotOnEveryEngine = {
  on: ["memory"],
  because: "the runtime pushes over connections and the server between processes: a scenario cannot decide when",
};

export const CONNECTIONS: NotOnEveryEngine = {
  on: ["memory"],
  because: "a connection is kept in time that passes by itself; test/runtime has it in the runtime",
};

export const LOST_LOG: NotOnEveryEngine = {
  on: ["memory", "server"],
  because: "one instance of the runtime cannot lose its own log; the simulated CDN does (`cdn.log.recreate`)",
};

export const BENEATH_THE_ISOLATES: NotOnEveryEngine = {
  on: ["memory"],
  because: "only in memory can a scenario decide what happens beneath the isolates",
};

export const INTERIM_RESPONSES: NotOnEveryEngine = {
  on: ["memory", "server"],
  because: "the runtime gives a worker no interim response, and sends none of its own",
};

export const WAITING_REQUESTS: NotOnEveryEngine = {
  on: ["memory", "server"],
  because: "in the runtime it is not known that a request has begun to wait",
};

export const BACKGROUND_WORK: NotOnEveryEngine = {
  on: ["memory", "server"],
  because: "the runtime does not show when the work behind an answer ends",
};

export const WAITING_ON_REAL_TIME: NotOnEveryEngine = {
  on: ["memory", "server"],
  because: "waiting is on real time in the runtime",
};
