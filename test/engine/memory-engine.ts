import type { Reply } from "../../local/scripted-origin.ts";
import { Counters } from "../../worker/edge/counters.ts";
import { type RunningIsolate, startIsolate } from "../../worker/isolate.ts";
import type { Tokens } from "../../worker/ports.ts";
import { compileSite } from "../../worker/site.ts";
import type { SiteInput } from "../../worker/site-input.ts";
import type { ClientAnswer, Engine } from "./engine.ts";
import { memoryBodies } from "./memory-bodies.ts";
import { MemoryLog } from "./memory-log.ts";
import { MemoryNotes } from "./memory-notes.ts";
import { MemoryOrigin } from "./memory-origin.ts";
import { MemorySharedTier, type Treachery } from "./memory-shared-tier.ts";
import { BEGINNING, type ClientRequest, HOST, TOKEN } from "./scenario.ts";
import { Scheduler } from "./scheduler.ts";

/** The real corridor, view, log and control plane in this process, with the seed deciding what happens first. */
export function startMemoryEngine(
  site: Omit<Partial<SiteInput>, "origin">,
  seed: number,
  treachery: Treachery = { lostPuts: 0, evictions: 0 },
): Engine {
  const scheduler = new Scheduler(seed, BEGINNING);
  const origin = new MemoryOrigin(scheduler);
  const log = new MemoryLog(scheduler);
  const sharedTier = new MemorySharedTier(scheduler, treachery);
  const notes = new MemoryNotes(scheduler);
  const compiled = compileSite({ origin: origin.url, hosts: [HOST], ...site }, {});
  origin.timeoutMs = compiled.limits.originTimeoutMs;
  const start = (): RunningIsolate =>
    startIsolate(compiled, {
      clock: scheduler,
      random: () => scheduler.random(),
      sharedTier,
      notes,
      origin,
      log,
      audit: log,
      bodies: memoryBodies,
      fingerprint: async (text) => text,
      tokens,
      reporter: new Counters(origin.url, () => undefined),
    });
  const isolates = new Map<string, RunningIsolate>();
  const isolateOf = (name: string) => {
    const isolate = isolates.get(name) ?? start();
    isolates.set(name, isolate);
    return isolate;
  };
  const work: Promise<unknown>[] = [];
  return {
    name: "memory",
    get seen() {
      return origin.seen;
    },
    send: async (request) => {
      const behind = { run: (promise: Promise<unknown>) => void work.push(promise) };
      const isolate = isolateOf(request.isolate ?? "a");
      const incoming = toRequest(request);
      // As in the runtime: what came over the wire, which is more than a `Request` shows.
      const url = `http://${request.host ?? HOST}${request.path}`;
      const arrival = { request: incoming, url, behind, clientAddress: "192.0.2.7" };
      const response = await isolate.fetch(arrival);
      return readAnswer(response);
    },
    settle: (promise) => scheduler.settle(promise),
    advance: (ms) => scheduler.advance(ms),
    answerBy: (answering) => origin.answerBy(answering),
    reply: (target: string, replies: readonly Reply[]) => origin.reply(target, replies),
    release: (hold) => origin.release(hold),
    originSees: (target, count) => origin.hasSeen(target, count),
    originDown: async () => origin.goDown(),
    originUp: async () => origin.comeUp(),
    restartIsolate: async () => {
      isolates.clear();
    },
    finishWork: () => scheduler.advance(0),
    emptySharedTier: async () => sharedTier.empty(),
    get bodyBytesRead() {
      return sharedTier.bodyBytesRead;
    },
    setLogReachable: (reachable) => {
      log.isReachable = reachable;
    },
    stop: async () => {
      await scheduler.advance(60_000);
      await scheduler.settle(Promise.all(work)); // What runs behind an answer must end, and must not fail.
    },
  };
}

/** Without hashing, which Node does on other threads: their timing is not the seed's. */
const tokens: Tokens = {
  check: async (token) =>
    token === TOKEN ? { kind: "allowed", name: "test" } : { kind: "refused", because: "unauthorized" },
};

function toRequest({ method = "GET", path, host = HOST, fields = {}, body }: ClientRequest): Request {
  const url = `http://${host}${path}`;
  if (body === undefined) return new Request(url, { method, headers: fields });
  const request = new Request(url, { method: "POST", headers: fields, body });
  // The runtime lets a GET have a body; here no GET can be made with one.
  return method === "POST" ? request : Object.defineProperty(request, "method", { value: method });
}

async function readAnswer(response: Response): Promise<ClientAnswer> {
  const fields = Object.fromEntries(response.headers);
  if (fields["set-cookie"] !== undefined) fields["set-cookie"] = response.headers.getSetCookie().join(", ");
  const length = fields["content-length"];
  const chunks: Uint8Array[] = [];
  let cutOff = false;
  try {
    for await (const chunk of response.body ?? []) chunks.push(chunk as Uint8Array);
  } catch {
    // On the wire only a length lets the client see the cut; a chunked body seems to end.
    cutOff = length !== undefined;
  }
  return { status: response.status, fields, body: Buffer.concat(chunks).toString(), cutOff };
}
