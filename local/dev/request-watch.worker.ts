/** What the dev command's worker records of each request: a line, if somebody reads it, and counts. */
import { isControl } from "tidemark/worker/internal";
import { EARLY_PURGES_FIELD } from "../../wire/fields.ts";
import { ownCacheStatus } from "../cdn/own-cache-status.ts";
import { pause, type purgeLogOf } from "../runtime/simulated-network.worker.ts";
import type { AcceptedPurge, EarlyPurges } from "./early-purges.ts";
import type { Answer, CurrentExchange, Exchange } from "./exchange.ts";
import { type DevSettings, ENTRY_PREFIX, type WorkerEntry } from "./request-log-entry.ts";
import { type TrafficCounts, TrafficReport } from "./traffic-report.ts";

type PushingLog = ReturnType<typeof purgeLogOf>;

/** The items of a larger purge are not read: its log line gives their numbers. */
const MAX_READ_BYTES = 64 * 1024;

/** A purge that takes longer to settle is not waited for, in milliseconds. */
const MAX_SETTLING_MS = 60_000;

/** What the log's line of a purge says that has no number. */
const NO_NUMBER = { seq: null, settlesInMs: null };

/** Tells a purge's client, at `?purge=SEQ`, which pages were fetched again and had not changed. */
export const EARLY_PURGES_PATH = "/_tidemark/dev/early-purges";

export class RequestWatch {
  readonly #current: CurrentExchange;
  readonly #earlyPurges: EarlyPurges;
  readonly #logsRequests: boolean;
  readonly #traffic = new TrafficReport((counts) => writeEntry({ kind: "traffic", ...counts }));

  constructor(current: CurrentExchange, earlyPurges: EarlyPurges, { logsRequests }: DevSettings) {
    this.#current = current;
    this.#earlyPurges = earlyPurges;
    this.#logsRequests = logsRequests;
  }

  /** Answers a request that is not a purge. A memory hit costs no promise. */
  answer(request: Request, pass: () => Answer, context: ExecutionContext): Answer {
    const startedAt = Date.now();
    let answered: Answer | undefined;
    const exchange: Exchange = {
      originMs: null,
      refetchedFor: async () => this.#purgeBehind(await answered, startedAt),
      behind: (work) => context.waitUntil(work),
    };
    answered = this.#current.run(exchange, pass);
    const note = (response: Response) => {
      this.#note(request, response, exchange.originMs, startedAt, context);
      return response;
    };
    return answered instanceof Promise ? answered.then(note) : note(answered);
  }

  #note(
    { method, url }: Request,
    { headers, status }: Response,
    originMs: number | null,
    startedAt: number,
    context: ExecutionContext,
  ): void {
    const xCache = headers.get("x-cache");
    const hits = xCache === "HIT" ? 1 : 0;
    // A hit has waited for nobody, and is not read unless it is logged.
    const own = this.#logsRequests || xCache !== "HIT" ? ownCacheStatus(headers.get("cache-status")) : null;
    const hasWaited = originMs !== null || own?.collapsed === true;
    if (!isControl(url)) this.#count({ requests: 1, hits, askedOrigin: hasWaited ? 1 : 0 }, context);
    if (!this.#logsRequests) return;
    writeEntry({
      kind: "request",
      method,
      path: pathOf(url),
      status,
      xCache,
      ageS: numberOf(headers.get("age")),
      ...own!,
      ms: Date.now() - startedAt,
      originMs,
    });
  }

  /** The purge that made a request fetch pages again, as its answer says. */
  #purgeBehind(answered: Response | undefined, startedAt: number): AcceptedPurge | null {
    const { detail } = ownCacheStatus(answered?.headers.get("cache-status") ?? null);
    const isRefetched = detail === "purged" || detail === "soft-purge";
    return isRefetched ? this.#earlyPurges.purgeBefore(startedAt) : null;
  }

  /** Answers a purge. `pushingLog`: the log that says when it has settled, if purges are pushed. */
  async answerPurge(
    request: Request,
    pass: () => Answer,
    context: ExecutionContext,
    pushingLog: PushingLog | null,
  ): Promise<Response> {
    const startedAt = Date.now();
    const { method, url } = request;
    const isShort = Number(request.headers.get("content-length") ?? Number.NaN) <= MAX_READ_BYTES;
    const readable = this.#logsRequests && method === "POST" && isShort ? request.clone() : null;
    const { promise, resolve } = Promise.withResolvers<AcceptedPurge | null>();
    const exchange = {
      originMs: null,
      refetchedFor: () => promise,
      behind: (work: Promise<unknown>) => context.waitUntil(work),
    };
    const response = await this.#current.run(exchange, async () => pass());
    const { status } = response;
    const ms = Date.now() - startedAt;
    const receipt = await receiptIn(response);
    if (receipt === null) {
      resolve(null);
      const purged = status === 200 ? [pathOf(url)] : [];
      if (this.#logsRequests) writeEntry({ kind: "purge", method, status, purged, dryRun: false, ...NO_NUMBER, ms });
      return response;
    }
    const { seq, settlesInMs, accepted, dryRun } = receipt;
    const purge = dryRun ? null : { seq, at: startedAt };
    if (purge) {
      this.#earlyPurges.accepted(purge);
      this.#count({ purges: 1 }, context);
    }
    resolve(purge);
    const log = async () => {
      const items = readable && (await readable.json<Items>());
      const purged = method === "PURGE" ? [pathOf(url)] : items ? namesOf(items) : countsOf(accepted);
      const number = dryRun ? NO_NUMBER : { seq, settlesInMs };
      writeEntry({ kind: "purge", method, status, purged, dryRun, ...number, ms });
      if (purge && pushingLog) await logSettled(receipt, startedAt, pushingLog);
    };
    if (this.#logsRequests) context.waitUntil(log());
    if (purge === null) return response;
    const told = new Response(response.body, response);
    told.headers.set(EARLY_PURGES_FIELD, `${EARLY_PURGES_PATH}?purge=${seq}`);
    return told;
  }

  #count(seen: Partial<TrafficCounts>, context: ExecutionContext): void {
    this.#traffic.add(seen, Date.now(), (ms, work) => context.waitUntil(pause(ms).then(work)));
  }
}

/** `null` if the purge was refused, or came by another vendor's door, which answers as that vendor does. */
async function receiptIn(response: Response): Promise<Receipt | null> {
  if (response.status !== 200 || !response.headers.get("content-type")?.startsWith("application/json")) return null;
  const answer = await response.clone().json<object>();
  return "accepted" in answer ? (answer as Receipt) : null;
}

/** Reports when a purge has settled, and why, unless that takes very long. */
async function logSettled(receipt: Receipt, startedAt: number, log: PushingLog): Promise<void> {
  const { seq, settlesInMs, maySettleSooner } = receipt;
  if (settlesInMs > MAX_SETTLING_MS) return;
  await log.find(seq, settlesInMs + 1000);
  const afterMs = Date.now() - startedAt;
  const by = maySettleSooner && afterMs < settlesInMs ? "confirmations" : "clock";
  writeEntry({ kind: "settled", seq, afterMs, by });
}

interface Receipt {
  readonly dryRun: boolean;
  readonly seq: number;
  readonly settlesInMs: number;
  readonly maySettleSooner?: boolean;
  readonly accepted: Items<number>;
}

/** The items of a purge, or the number of each kind. */
interface Items<List = readonly string[]> {
  readonly urls?: List;
  readonly tags?: List;
  readonly prefixes?: List;
  readonly hosts?: List;
  readonly everything?: boolean;
}

/** The items by name, written as `tidemark purge -` reads them. */
function namesOf({ urls = [], tags = [], prefixes = [], hosts = [], everything = false }: Items): string[] {
  return [
    ...(everything ? ["everything"] : []),
    ...urls,
    ...tags.map((tag) => `tag:${tag}`),
    ...prefixes.map((prefix) => `prefix:${prefix}`),
    ...hosts.map((host) => `host:${host}`),
  ];
}

/** How many items of each kind there are, for a purge with too many to name. */
function countsOf({ urls = 0, tags = 0, prefixes = 0, hosts = 0, everything = false }: Items<number>): string[] {
  const count = (number: number, one: string, several: string) =>
    number === 0 ? [] : [`${number} ${number === 1 ? one : several}`];
  return [
    ...(everything ? ["everything"] : []),
    ...count(urls, "URL", "URLs"),
    ...count(tags, "tag", "tags"),
    ...count(prefixes, "prefix", "prefixes"),
    ...count(hosts, "host", "hosts"),
  ];
}

function writeEntry(entry: WorkerEntry): void {
  console.log(ENTRY_PREFIX + JSON.stringify(entry));
}

/** Path and query of a URL. */
export function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function numberOf(text: string | null | undefined): number | null {
  return text ? Number(text) : null;
}
