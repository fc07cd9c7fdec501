import { hash } from "node:crypto";
import type { Interim, Reply } from "../../../local/cdn/scripted-origin.ts";
import { NodeCompression } from "../../../server/compression/node-compression.ts";
import { OriginNewsOffice } from "../../../server/origin/origin-news-office.ts";
import { OriginTalks } from "../../../server/origin/origin-talks.ts";
import { startControl } from "../../../worker/isolate-control.ts";
import { type LearningIsolate, startLearningIsolate } from "../../../worker/learning-isolate.ts";
import { Counters } from "../../../worker/metrics/counters.ts";
import type { Tokens } from "../../../worker/ports/access.ts";
import type { InterimResponse } from "../../../worker/ports/origin.ts";
import type { ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { toWebResponse } from "../../../worker/runtime/web-answer.ts";
import { compressionSettings } from "../../../worker/site/compression-settings.ts";
import { compileSite, type Site } from "../../../worker/site/site.ts";
import type { SiteInput } from "../../../worker/site/site-input.ts";
import { CLIENT_ADDRESS } from "../beginning.ts";
import { decodedText } from "../decoded-body.ts";
import { encodeNow } from "../encode-now.ts";
import type { ClientAnswer, Engine } from "../engine.ts";
import { heldIn } from "../held-in.ts";
import { Holds } from "../holds.ts";
import { BEGINNING, type ClientRequest, HOST, type SiteChange, siteAt, TOKEN } from "../scenario.ts";
import { Scheduler, type Underway } from "../scheduler.ts";
import { memoryBodies } from "./memory-bodies.ts";
import { MemoryLog, newLogWorld } from "./memory-log.ts";
import { HONEST, MemoryNotes } from "./memory-notes.ts";
import { MemoryOrigin } from "./memory-origin.ts";
import { MemorySharedTier, type Treachery } from "./memory-shared-tier.ts";

/** The real corridor, view, log and control plane in this process. The seed decides the order of events. */
export function startMemoryEngine(
  site: SiteChange,
  seed: number,
  treachery: Treachery = { lostPuts: 0, evictions: 0, missesAtOnce: seed % 2 === 0 },
  tokens: Tokens = oneToken,
): Engine {
  const scheduler = new Scheduler(seed, BEGINNING);
  const holds = new Holds();
  const origin = new MemoryOrigin(scheduler);
  const logs = newLogWorld(holds);
  const tiers = new Map<string, MemorySharedTier>();
  const compile = (change: SiteChange) => {
    const whole = { ...site, ...change };
    return { site: compiled(siteAt(origin.url, whole)), compresses: compressionSettings(whole) };
  };
  /** The settings of isolates that start now. Notes belong to one PoP and one log. */
  const latest = { ...compile({}), log: new MemoryLog(scheduler, logs), notes: new Map<string, MemoryNotes>() };
  origin.timeoutMs = latest.site.limits.originTimeoutMs;
  const clocks = new Map<string, number>();
  let started = 0;
  const news = new OriginNewsOffice();
  const start = (name: string): LearningIsolate => {
    const pop = name.split("/").at(-2) ?? "";
    const { compresses } = latest;
    const { memoryBytes } = latest.site.limits;
    return startLearningIsolate(latest.site, {
      ...(compresses && {
        compression: new NodeCompression({
          settings: compresses,
          memoryBytes,
          files: null,
          encode: encodeNow,
          digest: async (body) => hash("sha256", body, "base64url"),
        }),
      }),
      clock: {
        now: () => scheduler.now() + (clocks.get(name) ?? 0),
        wait: (ms) => scheduler.wait(ms),
      },
      random: () => scheduler.random(),
      sharedTier: heldIn(tiers, pop, () => new MemorySharedTier(scheduler, treachery, holds)),
      notes: heldIn(latest.notes, pop, () => new MemoryNotes(scheduler, HONEST, holds)),
      origin,
      originTalk: new OriginTalks(news.connect(), "secret").of("the origin"),
      log: latest.log,
      audit: latest.log,
      ledger: { client: latest.log, isolate: `isolate-${++started}`, pop },
      bodies: memoryBodies,
      control: (...of) => startControl(...of, ({ request }) => request as Request),
      fingerprint: async (text) => text,
      tokens,
      reporter: new Counters(origin.url, () => undefined),
    });
  };
  const isolates = new Map<string, LearningIsolate>();
  const work: { readonly of: Underway; readonly promise: Promise<unknown> }[] = [];
  const learners = () =>
    [...isolates.values()].map((isolate) => {
      const background = {
        run: (promise: Promise<unknown>) => void work.push({ of: { isCancelled: false }, promise }),
      };
      return (delta: ViewDelta) => isolate.learn(delta, background);
    });
  const underway = new WeakMap<Promise<ClientAnswer>, Underway>();
  return {
    name: "memory",
    get seen() {
      return origin.seen;
    },
    send: (request) => {
      const of: Underway = { isCancelled: false };
      const background = { run: (promise: Promise<unknown>) => void work.push({ of, promise }) };
      const answer = scheduler.as(of, async () => {
        const name = request.isolate ?? "a";
        const isolate = heldIn(isolates, name, () => start(name));
        const interims: Interim[] = [];
        const inform = (interim: InterimResponse) => void interims.push(shownInterim(interim));
        const hint = (link: string) => inform({ status: 103, fields: Fields.of(["link", link]) });
        const incoming = Object.assign(toRequest(request), { inform, hint });
        // The target as it came over the wire, as in the runtime. A `Request` shows less.
        const url = `http://${request.host ?? HOST}${request.path}`;
        const arrival = {
          request: incoming,
          url,
          background,
          clientAddress: request.address ?? CLIENT_ADDRESS,
          country: request.country ?? null,
        };
        const answer = await readAnswer(toWebResponse(await isolate.fetch(arrival)), latest.compresses !== null);
        return { ...answer, interims };
      });
      underway.set(answer, of);
      return answer;
    },
    settle: (promise) => scheduler.settle(promise),
    advance: (ms) => scheduler.advance(ms),
    answerBy: (answering) => origin.answerBy(answering),
    reply: (target: string, replies: readonly Reply[]) => origin.reply(target, replies),
    release: (hold) => {
      origin.release(hold);
      holds.release(hold);
    },
    originSees: (target, count) => origin.hasSeen(target, count),
    originDown: async () => origin.goDown(),
    originUp: async () => origin.comeUp(),
    restartIsolate: async () => {
      isolates.clear();
    },
    finishWork: () => scheduler.advance(0),
    emptySharedTier: async () => tiers.get("")?.empty(),
    get bodyBytesRead() {
      return tiers.get("")?.bodyBytesRead ?? 0;
    },
    setLogReachable: (reachable) => {
      logs.isReachable = reachable;
    },
    makeLogAnew: async () => latest.log.makeAnew(),
    beneath: {
      changeLog: (change) => {
        if (change === "saved") latest.log.save();
        if (change === "set back") latest.log.setBack();
        if (change === "taken over") latest.log = latest.log.successor();
        if (change === "pushes") logs.learners = learners;
        if (change !== "renamed") return;
        latest.log = new MemoryLog(scheduler, logs);
        latest.notes = new Map(); // The platform's notes are stored under the log's own object.
      },
      setLogDelay: (ms) => {
        logs.takesMs = ms;
      },
      holdNext: (held, until) => holds.holdNext(held, until),
      holdAll: (held, until) => holds.holdAll(held, until),
      get pushes() {
        return latest.log.pushes;
      },
      setClock: (isolate, aheadMs) => void clocks.set(isolate, aheadMs),
      deploy: (change) => {
        Object.assign(latest, compile(change));
      },
      cancel: (answer) => {
        underway.get(answer)!.isCancelled = true;
      },
    },
    get choicesBetweenRequests() {
      return scheduler.choicesBetweenRequests;
    },
    stop: async () => {
      await scheduler.advance(60_000);
      // Background work must end and must not fail. Cancelled work just ends.
      const rest = work.filter(({ of }) => !of.isCancelled);
      await scheduler.settle(Promise.all(rest.map(({ promise }) => promise)));
      logs.storages.giveBack();
    },
  };
}

/** Sites are plain data, and nobody changes the compiled site, so each is compiled once for all its runs. */
const sites = new Map<string, Site>();

function compiled(input: SiteInput): Site {
  return heldIn(sites, JSON.stringify(input), () => compileSite(input, {}));
}

/** Compares tokens without hashing, which Node does on other threads: the seed would not decide their timing. */
const oneToken: Tokens = {
  check: async (token) =>
    token === TOKEN ? { kind: "allowed", name: "test" } : { kind: "refused", because: "unauthorized" },
};

function toRequest({ method = "GET", path, host = HOST, fields = {}, body }: ClientRequest): Request {
  const url = `http://${host}${path}`;
  // On the wire there is TRACE, and a GET may have a body; the Request of Node allows neither.
  if (body === undefined && method !== "TRACE") return new Request(url, { method, headers: fields });
  const request = new Request(url, { method: "POST", headers: fields, body: body ?? null });
  return method === "POST" ? request : Object.defineProperty(request, "method", { value: method });
}

/** As one's own server writes it: what ends the message, and its date, are not among its fields. */
function shownInterim({ status, fields }: InterimResponse): Interim {
  const kept = [...fields].filter(([name]) => name !== "date" && name !== "content-length");
  return kept.length === 0 ? { status } : { status, fields: Object.fromEntries(kept) };
}

/** `decodes`: the client shows bodies without their codings. */
async function readAnswer(response: Response, decodes: boolean): Promise<ClientAnswer> {
  const fields = Object.fromEntries(response.headers);
  if (fields["set-cookie"] !== undefined) fields["set-cookie"] = response.headers.getSetCookie().join(", ");
  const length = fields["content-length"];
  const chunks: Uint8Array[] = [];
  let cutOff = false;
  try {
    for await (const chunk of response.body ?? []) chunks.push(chunk as Uint8Array);
  } catch {
    // On the wire, only a length lets the client see the cut; a chunked body appears to end.
    cutOff = length !== undefined;
  }
  const bytes = Buffer.concat(chunks);
  const body = decodes ? decodedText(bytes, fields["content-encoding"]) : bytes.toString();
  return { status: response.status, fields, body, cutOff };
}
