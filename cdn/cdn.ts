import { Agent } from "node:http";
import { createPurger, type Purger, type PurgerOptions, type Receipt } from "../sdk/index.ts";
import { answerFrom, type CdnAnswer } from "./answer.ts";
import { durationMs, type SimulatedDuration } from "./duration.ts";
import { exchange } from "./exchange.ts";
import type { IsolateStats } from "./isolate-stats.ts";
import type { Pop } from "./pop.ts";
import { PopTable } from "./pop-table.ts";
import type { PurgeLogRuntime } from "./runtime/purge-log-runtime.ts";
import type { ScriptedOrigin } from "./scripted-origin.ts";
import { SimulatedLog } from "./simulated-log.ts";

/** A request of a visitor. */
export interface CdnRequest<Region extends string = string> {
  /** Where it arrives. Default: the first region. */
  readonly from?: Region;
  /** Which isolate of the PoP takes it, from 0. Default 0. */
  readonly isolate?: number;
  /** Default `GET`. */
  readonly method?: string;
  /** The public host. Default: that of `cdn.publicUrl`. */
  readonly host?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A token for `Authorization: Bearer`. Default: none. */
  readonly token?: string;
  /** A receipt, or its token: the answer is at least as far along as that purge. Default: none. */
  readonly after?: Receipt | string;
}

/** What makes a CDN; `startCdn` puts it together. */
export interface CdnParts {
  readonly pops: readonly Pop[];
  readonly logRuntime: PurgeLogRuntime;
  /** `null` where the origin is somebody else's. */
  readonly origin: ScriptedOrigin | null;
  readonly clock: { now: number };
  readonly publicUrl: string;
  readonly token: string;
  /** Removes what is left when all has been stopped. */
  readonly cleanUp: () => Promise<void>;
}

/** A whole CDN on this machine: PoPs, their purge log, an origin, and a time that moves only when told. */
export class Cdn<Region extends string = string> implements AsyncDisposable {
  /** Where visitors find the site: scheme and host, as they stand in keys. */
  readonly publicUrl: string;
  /** Opens the control plane of every PoP. */
  readonly token: string;
  /** The purge log, and what can happen to it. */
  readonly log: SimulatedLog;
  readonly #parts: CdnParts;
  readonly #pops: PopTable;
  readonly #agent = new Agent({ keepAlive: false });
  readonly #purgers: Purger[] = [];
  #purger: Purger | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: CdnParts) {
    this.#parts = parts;
    this.publicUrl = parts.publicUrl;
    this.token = parts.token;
    this.#pops = new PopTable(parts.pops);
    this.log = new SimulatedLog(parts.logRuntime, parts.pops);
  }

  get regions(): readonly Region[] {
    return this.#parts.pops.map(({ name }) => name as Region);
  }

  /** The CDN's time: epoch milliseconds. A PoP's own may be skewed. */
  get now(): number {
    return this.#parts.clock.now;
  }

  /** The scripted origin: what it answers, and the record of what it was asked. Throws where the origin is a URL. */
  get origin(): ScriptedOrigin {
    if (this.#parts.origin) return this.#parts.origin;
    throw new Error("The origin of this CDN is a URL: it has no script, and no record of what it was asked.");
  }

  /** The scripted origin, if there is one. */
  get scriptedOrigin(): ScriptedOrigin | null {
    return this.#parts.origin;
  }

  /** A PoP, and what can happen to it. Default: the first region's. */
  pop(region?: Region): Pop {
    return this.#pops.of(region);
  }

  /** Where a region's PoP listens, without a trailing slash: for a browser, `fetch`, a backend's `TIDEMARK_ENDPOINT`. */
  url(region?: Region, isolate = 0): string {
    return this.pop(region).url(isolate).origin;
  }

  /** Gets a page. Rejects only if the PoP refuses the connection or hangs up before its answer. */
  get(path: string, request: CdnRequest<Region> = {}): Promise<CdnAnswer> {
    return this.request(path, request);
  }

  /** Sends any request. The path goes over the wire as it is given. */
  async request(path: string, request: CdnRequest<Region> = {}): Promise<CdnAnswer> {
    const { from, isolate = 0, method = "GET", host = new URL(this.publicUrl).host, body } = request;
    const pop = this.pop(from);
    const edge = pop.url(isolate);
    if (pop.isolates > 1) await pop.finishWrites();
    const asked = { method, path, host, fields: fieldsOf(request), ...(body === undefined ? {} : { body }) };
    const told = { "mf-cf-blob": JSON.stringify({ colo: pop.colo }), "cf-connecting-ip": VISITOR };
    const answer = await exchange(edge, this.#agent, { ...asked, fields: { ...told, ...asked.fields } });
    const full = answerFrom(answer, { region: pop.name, isolate, asked });
    cdns.set(full, this);
    return full;
  }

  /** The SDK's client, purging through the first region. */
  get purger(): Purger {
    this.#purger ??= this.purgerIn(this.regions[0]!);
    return this.#purger;
  }

  /** The SDK's client, purging through one region. `close` of the CDN closes it, too. */
  purgerIn(region: Region, options: PurgerOptions = {}): Purger {
    const purger = createPurger({ endpoint: this.url(region), token: this.token, ...options });
    this.#purgers.push(purger);
    return purger;
  }

  /** Moves the time of all PoPs and the log: milliseconds, or like `"1h"`. Takes milliseconds, whatever the length. */
  async advance(by: SimulatedDuration): Promise<void> {
    const ms = durationMs(by);
    if (ms < 0) throw new RangeError("time does not go back; a single PoP's clock may be behind: cdn.skew");
    this.#parts.clock.now += ms;
    const { pops, logRuntime } = this.#parts;
    await Promise.all([logRuntime, ...pops].map((each) => each.setTime(this.now)));
  }

  /** Moves the time until a purge has settled. */
  async settle({ settlesInMs }: Pick<Receipt, "settlesInMs">): Promise<void> {
    await this.advance(settlesInMs);
  }

  /** Puts one PoP's clock ahead of the others by so much; behind them by less than 0. */
  async skew(region: Region, by: SimulatedDuration): Promise<void> {
    await this.pop(region).skew(by);
  }

  /** The counters of one isolate since it started: `GET /_tidemark/stats`. */
  async stats(region?: Region, isolate = 0): Promise<IsolateStats> {
    const from = region === undefined ? {} : { from: region };
    const answer = await this.request("/_tidemark/stats", { ...from, isolate, token: this.token });
    if (answer.status !== 200) throw new Error(`the edge does not tell its counters: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body) as IsolateStats;
  }

  /** Stops everything. Nothing is left: no process, port, file or handle. */
  close(): Promise<void> {
    this.#closing ??= this.#stopAll();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #stopAll(): Promise<void> {
    const { pops, logRuntime, origin, cleanUp } = this.#parts;
    this.#agent.destroy();
    const purgers = this.#purgers.map((purger) => purger.close());
    await Promise.all([...pops.map((pop) => pop.stop()), logRuntime.stop(), origin?.goDown()]);
    await Promise.all(purgers);
    await cleanUp();
  }
}

/** A visitor's address, from the range for examples (RFC 5737). */
const VISITOR = "192.0.2.7";

const cdns = new WeakMap<CdnAnswer, Cdn>();

/** The CDN that gave an answer. */
export function cdnOf(answer: CdnAnswer): Cdn | undefined {
  return cdns.get(answer);
}

function fieldsOf({ fields = {}, token, after }: CdnRequest): Record<string, string> {
  return {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(after === undefined ? {} : { "tidemark-after": typeof after === "string" ? after : after.token }),
    ...fields,
  };
}
