import { Agent } from "node:http";
import { createPurger, type Purger, type PurgerOptions, type Receipt } from "../../sdk/index.ts";
import type { IsolateStats } from "../../wire/stats.ts";
import type { PurgeLogRuntime } from "../runtime/purge-log-runtime.ts";
import type { SimulatedIsolate } from "../runtime/simulated-isolate.ts";
import { answerFrom, type CdnAnswer } from "./answer.ts";
import { bodyText } from "./body-text.ts";
import { checkReceipt, checkRequest } from "./check-options.ts";
import { checkStart, endsWithin, FAKE_THE_DATE, withRealTimers } from "./check-timers.ts";
import { durationMs, type SimulatedDuration } from "./duration.ts";
import { exchangeBytes } from "./exchange.ts";
import { type Lifecycle, WAS_CLOSED } from "./lifecycle.ts";
import type { Pop } from "./pop.ts";
import type { ScriptedOrigin } from "./scripted-origin.ts";
import { SimulatedLog } from "./simulated-log.ts";

/** A request by a visitor. */
export interface CdnRequest<Region extends string = string> {
  /** The region that it arrives in. Default: the first region. */
  readonly from?: Region;
  /** The number of the PoP's isolate that receives it, from 0. Default 0. */
  readonly isolate?: number;
  /** The method. Default `GET`. */
  readonly method?: string;
  /** The public host. Default: that of `cdn.publicUrl`. */
  readonly host?: string;
  /** The request's fields, by name. They override those of `token` and `after`. Default: none. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The body, which is sent as UTF-8 with its `Content-Length`. Default: none. */
  readonly body?: string;
  /** The visitor's country for the platform: ISO 3166-1 in capitals, like `DE`. Default: unknown. */
  readonly country?: string;
  /** The visitor's address, or that of the proxy in front of the edge. Default `192.0.2.7`. */
  readonly address?: string;
  /** A token for `Authorization: Bearer`. Default: none. */
  readonly token?: string;
  /** A receipt, or its token: the answer shows nothing that the purge removed. Default: none. */
  readonly after?: Receipt | string;
}

/** The parts of a CDN; `startCdn` puts them together. */
export interface CdnParts {
  readonly pops: readonly Pop[];
  readonly logRuntime: PurgeLogRuntime;
  /** `null` if the origin is a URL. */
  readonly origin: ScriptedOrigin | null;
  readonly clock: { now: number };
  readonly lifecycle: Lifecycle;
  readonly publicUrl: string;
  readonly token: string;
  /** Whether its isolates keep connections to the log, over which it pushes purges. */
  readonly isPushedTo: boolean;
  /** Removes the remaining files once all parts have stopped. */
  readonly cleanUp: () => Promise<void>;
}

/** A whole CDN on this machine: PoPs, their purge log, an origin, and a time that moves only on command. */
export class Cdn<Region extends string = string> implements AsyncDisposable {
  /** Where visitors find the site: scheme and host, as in cache keys. */
  readonly publicUrl: string;
  /** The token for the control plane of every PoP. */
  readonly token: string;
  /** The purge log, with the faults that it can have. */
  readonly log: SimulatedLog;
  readonly #parts: CdnParts;
  readonly #pops: ReadonlyMap<string, Pop>;
  readonly #agent = new Agent({ keepAlive: false });
  readonly #purgers: Purger[] = [];
  /** Ends the purges that have not ended by themselves. */
  readonly #purgesEnd = new AbortController();
  #purger: Purger | undefined;
  /** The requests under way. */
  readonly #asked = new Set<Promise<CdnAnswer>>();
  #closing: Promise<void> | undefined;

  constructor(parts: CdnParts) {
    this.#parts = parts;
    this.publicUrl = parts.publicUrl;
    this.token = parts.token;
    this.#pops = new Map(parts.pops.map((pop) => [pop.name, pop]));
    this.log = new SimulatedLog(parts.logRuntime, parts.pops, parts.lifecycle);
  }

  /** The names of its PoPs, in the order in which they were given. */
  get regions(): readonly Region[] {
    return this.#parts.pops.map(({ name }) => name as Region);
  }

  /** The CDN's time: epoch milliseconds. A PoP's own clock may be skewed. */
  get now(): number {
    return this.#parts.clock.now;
  }

  /** The scripted origin: its replies, and the record of its requests. Throws if the origin is a URL. */
  get origin(): ScriptedOrigin {
    if (this.#parts.origin) return this.#parts.origin;
    throw new Error(
      "The origin of this CDN is a URL, so it has no script and no record of requests. Start the CDN with a script of replies instead.",
    );
  }

  /**
   * The scripted origin, if there is one.
   * @internal
   */
  get scriptedOrigin(): ScriptedOrigin | null {
    return this.#parts.origin;
  }

  /** A PoP, with the faults that it can have. Default: the first region's. Throws a `RangeError` for an unknown region. */
  pop(region?: Region): Pop {
    const pop = this.#pops.get(region ?? this.regions[0]!);
    if (!pop) throw new RangeError(`this CDN has no region ${region}: it has ${this.regions.join(", ")}`);
    return pop;
  }

  /**
   * The isolate that answers a question about the site. Throws once the CDN is closed; `call` is for the message.
   * @internal
   */
  isolateFor(call: string): SimulatedIsolate {
    this.#parts.lifecycle.checkOpen(call);
    return this.pop().isolate();
  }

  /** The address of an isolate of a region's PoP, without a trailing slash: for a browser, `fetch`, a backend's `TIDEMARK_ENDPOINT`. */
  url(region?: Region, isolate = 0): string {
    return this.pop(region).url(isolate).origin;
  }

  /**
   * Gets a page. Rejects only if the PoP refuses the connection or closes it before its answer, if the CDN is closed, and
   * with a `TypeError` for a path or a request that cannot be sent.
   */
  get(path: string, request: CdnRequest<Region> = {}): Promise<CdnAnswer> {
    return this.request(path, request);
  }

  /** Sends any request. The path is sent exactly as it is given. */
  request(path: string, request: CdnRequest<Region> = {}): Promise<CdnAnswer> {
    const answer = this.#ask(path, request)
      .catch((error: unknown) => {
        if (!this.#closing || error instanceof TypeError) throw error;
        throw new Error(`cdn.get(${JSON.stringify(path)}): ${WAS_CLOSED}`, { cause: error });
      })
      .finally(() => this.#asked.delete(answer));
    this.#asked.add(answer);
    return answer;
  }

  async #ask(path: string, request: CdnRequest<Region>): Promise<CdnAnswer> {
    checkRequest(path, request);
    if (this.#closing) throw new Error("cdn.close was called before"); // its ports may be another program's by now
    const { from, isolate = 0, method = "GET", host = new URL(this.publicUrl).host, body, country, address } = request;
    const pop = this.pop(from);
    const edge = pop.url(isolate);
    if (pop.isolates > 1) await pop.finishWrites();
    if (this.#parts.isPushedTo && pop.isBesideLog) await this.#parts.logRuntime.finishPushes();
    const sent = { method, path, host, fields: fieldsOf(request), ...(body === undefined ? {} : { body }) };
    const place = JSON.stringify({ colo: pop.colo, country });
    const fromPlatform = { "mf-cf-blob": place, "cf-connecting-ip": address ?? VISITOR_ADDRESS };
    const outgoing = { ...sent, fields: { ...fromPlatform, ...sent.fields } };
    const { bytes, ...received } = await exchangeBytes(edge, this.#agent, outgoing);
    const text = bodyText(bytes, received.fields["content-encoding"]);
    const visitor = { ...(country !== undefined && { country }), ...(address !== undefined && { address }) };
    const answer = answerFrom(
      { ...received, body: text },
      { region: pop.name, isolate, request: { ...sent, ...visitor } },
    );
    cdnOfAnswer.set(answer, this);
    return answer;
  }

  /** The purge client of `tidemark`, through the first region. It is closed together with the CDN. */
  get purger(): Purger {
    this.#purger ??= this.purgerIn(this.regions[0]!);
    return this.#purger;
  }

  /** The same through another region, or with other options. */
  purgerIn(region: Region, options: PurgerOptions = {}): Purger {
    const { signal } = options;
    const ended = this.#purgesEnd.signal;
    const purger = createPurger({
      endpoint: this.url(region),
      token: this.token,
      ...options,
      signal: signal instanceof AbortSignal ? AbortSignal.any([signal, ended]) : (signal ?? ended),
    });
    this.#purgers.push(purger);
    return purger;
  }

  /**
   * Moves the time of all PoPs and the log, for instance by `"90s"` or `"1h"`, at once. Throws a `RangeError` for a
   * negative time.
   */
  async advance(by: SimulatedDuration): Promise<void> {
    const ms = durationMs(by);
    if (ms < 0) {
      throw new RangeError(
        `advance(${JSON.stringify(by)}): time cannot go back. To set one PoP's clock back, use cdn.skew.`,
      );
    }
    await this.#parts.lifecycle.change("cdn.advance", () => this.#moveTime(ms));
  }

  /**
   * Moves the time until a purge has settled: by `settlesInMs`, or less if the isolates confirm it before. A receipt's own
   * `settled()` would wait in real time.
   */
  async settle(
    receipt: Pick<Receipt, "settlesInMs"> & Partial<Pick<Receipt, "seq" | "maySettleSooner">>,
  ): Promise<void> {
    checkReceipt(receipt);
    const { settlesInMs, seq, maySettleSooner } = receipt;
    const { logRuntime, lifecycle } = this.#parts;
    await lifecycle.change("cdn.settle", async () => {
      let leftMs = settlesInMs;
      if (maySettleSooner && seq !== undefined) {
        await logRuntime.finishPushes();
        for (let stepMs = FIRST_STEP_MS; stepMs < leftMs; stepMs *= 2) {
          await this.#moveTime(stepMs);
          leftMs -= stepMs;
          if (await logRuntime.hasSettled(seq)) return;
        }
      }
      await this.#moveTime(leftMs);
    });
  }

  /** Sets one PoP's clock ahead of the CDN's time, or behind it: `"2s"`, `"-1h"`. `"0s"` corrects it. */
  async skew(region: Region, by: SimulatedDuration): Promise<void> {
    this.#parts.lifecycle.checkOpen("cdn.skew");
    await this.pop(region).skew(by);
  }

  /**
   * Resets the CDN to its initial state, except for its time: no page is stored, nothing was purged or counted, every
   * fault is repaired, and a scripted origin has its first replies and no record. What an owner's worker keeps itself
   * stays: its variables, KV and the like. It is for tests that share one CDN. Requests that an origin by URL does not
   * answer within 2 s end as they do when the CDN is closed.
   */
  async reset(): Promise<void> {
    const { pops, origin, lifecycle } = this.#parts;
    await lifecycle.change("cdn.reset", async () => {
      await checkStart("cdn.reset");
      this.#expectRejections();
      await origin?.reset(); // first, so that requests that wait for it end
      await Promise.all(pops.map((pop) => pop.reset()));
      await this.log.reset();
    });
  }

  /** The counters of one isolate since it started: `GET /_tidemark/stats?scope=isolate`. */
  async stats(region?: Region, isolate = 0): Promise<IsolateStats> {
    const from = region === undefined ? {} : { from: region };
    const answer = await this.request("/_tidemark/stats?scope=isolate", { ...from, isolate, token: this.token });
    if (answer.status !== 200) {
      throw new Error(`GET /_tidemark/stats?scope=isolate answered ${answer.status}, not 200: ${answer.body}`);
    }
    return JSON.parse(answer.body) as IsolateStats;
  }

  /**
   * Stops everything. No process, port, file or handle is left. Requests under way reject, without an unhandled rejection
   * if nobody waits for them: so a test that fails meanwhile shows its own error. Purges are not meant: await each, because
   * one that fake timers hold rejects.
   */
  async close(): Promise<void> {
    await withRealTimers("cdn.close", async () => {
      this.#closing ??= this.#stopAll();
      await this.#closing;
    });
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Requests under way may reject now, also if nobody waits for them. */
  #expectRejections(): void {
    for (const answer of this.#asked) answer.catch(() => {});
  }

  async #moveTime(ms: number): Promise<void> {
    this.#parts.clock.now += ms;
    const { pops, logRuntime } = this.#parts;
    await logRuntime.setTime(this.now); // before the isolates renew its leases
    await Promise.all(pops.map((pop) => pop.setTime(this.now)));
  }

  async #stopAll(): Promise<void> {
    const { pops, logRuntime, origin, lifecycle, cleanUp } = this.#parts;
    this.#expectRejections();
    await lifecycle.end();
    this.#agent.destroy();
    const purgers = Promise.all(this.#purgers.map((purger) => purger.close()));
    await origin?.goDown();
    // While the PoPs still answer. A purge that was called with fake timers waits for them, and nothing runs them now.
    if (!(await endsWithin(PURGES_END_WITHIN_S, purgers))) this.#purgesEnd.abort(new Error(PURGE_DID_NOT_END));
    await stopInTurn([...pops, logRuntime]);
    await cleanUp();
  }
}

/**
 * Ends runtimes that find each other, one after another. Each watches the folder in which they find each other. If the
 * file of a runtime that ends disappears just before another stops watching, that other starts to watch again and keeps
 * the process alive.
 */
export async function stopInTurn(runtimes: readonly { stop(): Promise<void> }[]): Promise<void> {
  for (const each of runtimes) await each.stop();
}

/**
 * The first step in the search for the time at which a purge settles; each further step is twice as long. Milliseconds.
 */
const FIRST_STEP_MS = 100;

/** How long a purge under way may take once its CDN is closed. It is less than a test runner gives a hook. */
const PURGES_END_WITHIN_S = 2;

const PURGE_DID_NOT_END =
  `cdn.purger: ${WAS_CLOSED}, and the purge had not ended ${PURGES_END_WITHIN_S} s later. One that is called while ` +
  `timers are faked never ends. ${FAKE_THE_DATE}`;

/** A visitor's address, from the range for examples (RFC 5737). */
const VISITOR_ADDRESS = "192.0.2.7";

const cdnOfAnswer = new WeakMap<CdnAnswer, Cdn>();

/** The CDN of an answer; `undefined` for other answers. */
export function cdnOf(answer: CdnAnswer): Cdn | undefined {
  return cdnOfAnswer.get(answer);
}

function fieldsOf({ fields = {}, token, after }: CdnRequest): Record<string, string> {
  return {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(after === undefined ? {} : { "tidemark-after": typeof after === "string" ? after : after.token }),
    ...fields,
  };
}
