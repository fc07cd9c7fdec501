import { nodeBodies } from "../../server/bodies/node-bodies.ts";
import type { Answer } from "../../worker/ports/answer.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { languageOf } from "./directives.ts";
import type { Fate } from "./fate.ts";
import { type Answered, FROM_STORE, type Purged } from "./history.ts";
import { visitorFields } from "./identity.ts";
import { numbersIn } from "./log/answer-numbers.ts";
import { textOfFetch } from "./origin-body.ts";
import { isFromBefore } from "./promises.ts";
import { PATHS } from "./random-origin.ts";
import type { SimulatedIsolate } from "./simulated-isolate.ts";
import { TOLD_FIELD } from "./simulated-parent.ts";

const IDENTITIES = [null, null, null, null, null, "cookie:1", "cookie:2", "authorization:1"] as const;

/** The parts that some of twelve requests ask for, in strained worlds. */
const RANGES: readonly string[] = ["bytes=6-9", "bytes=3-", "bytes=0-"];

/** When a visitor leaves who does not read the answer to its end. */
const LEAVING = ["while waiting", "before the body", "after a piece"] as const;
const PATIENCE_MS = 400;

/** The name of a request in the record, and its arrival. */
interface Asking {
  readonly request: string;
  readonly target: string;
  readonly arrivedAt: number;
}

/** Visitors who request pages, revalidate them, and change them. */
export class Visitors {
  readonly #fate: Fate;
  #requests = 0;

  constructor(fate: Fate) {
    this.#fate = fate;
  }

  /** A request for a page, with the token of a purge if one is given. `invented`: a token that no purge has, in its place. */
  async get(
    isolate: SimulatedIsolate,
    path: string,
    after: Purged | null,
    method = "GET",
    invented: Stamp | null = null,
  ): Promise<void> {
    const fate = this.#fate;
    const identity = fate.isCalm ? null : fate.pick(IDENTITIES);
    const language = fate.pick(["", "de", "en"]);
    const asking = this.#arrive(method, path, isolate);
    const toldAtArrival = isolate.told.soFar();
    const { until } = toldAtArrival.lease;
    fate.count("lapsed leases", toldAtArrival.hasHeard && asking.arrivedAt > until);
    const fields = new Fields(Object.entries(visitorFields(identity, language)));
    const token = after ?? invented;
    if (token) this.#bring(`${token.logId}.${token.seq}`, fields);
    const range = fate.isStrained && method === "GET" && RANGES[this.#requests % 12];
    if (range) fields.set("range", range);
    const forPart = range ? ` for ${range}` : "";
    const withToken = token ? ` with the token of ${after ? after.name : "no purge"}` : "";
    fate.tell(`${asking.request} arrives from ${identity} in "${language}"${forPart}${withToken}`);
    const leaving = fate.isStrained && fate.chance(0.2) ? fate.pick(LEAVING) : null;
    const onceLeft = leaving === "while waiting" ? this.#leaveSoon() : undefined;
    const answer = await isolate.visit(method, path, fields, token !== null, onceLeft);
    if (leaving !== null) {
      fate.count("visitors who left");
      fate.tell(`${asking.request} leaves ${leaving}`);
      await leave(answer, leaving === "after a piece");
      fate.history.unanswered.delete(asking.request);
      return;
    }
    const xCache = answer.fields.get("x-cache");
    const givenBy = isolate.told.soFar();
    const chosenBy = FROM_STORE.includes(xCache) ? givenBy : toldAtArrival;
    const isWhole = await this.#isWhole(answer, asking, method, isolate);
    fate.history.unanswered.delete(asking.request);
    if (isolate.hasEnded) return fate.tell(`${asking.request} gets nothing, because the process has ended`);
    const { fetch, validation } = numbersIn(answer.fields);
    if (!isWhole || fetch === null) return fate.tell(`${asking.request} gets ${answer.status}`);
    const fetched = fate.history.fetches.get(fetch)!;
    const confirmed = validation === null ? fetched : fate.history.fetches.get(validation)!;
    fate.tell(`${asking.request} gets fetch ${fetch}${validation ? `, confirmed by ${validation}` : ""}: ${xCache}`);
    const given = answer.fields.get(TOLD_FIELD);
    const parent = given === null || FROM_STORE.includes(xCache) ? null : fate.history.parents[Number(given)]!;
    fate.count("parts from store", answer.status === 206 && xCache === "HIT");
    fate.count("hits of what a parent has given", given !== null && xCache === "HIT");
    const by = {
      request: asking.request,
      arrivedAt: asking.arrivedAt,
      identity,
      language: languageOf(language),
      after,
    };
    this.#record({ ...by, xCache, fetched, confirmed, chosenBy, givenBy, parent }, method);
  }

  /** A request with the token of a purge that the log has not accepted, so that the isolate reads the log. */
  getWithInventedToken(isolate: SimulatedIsolate, path: string, { logId, seq }: Stamp): Promise<void> {
    return this.get(isolate, path, null, "GET", { logId, seq: seq + 1 });
  }

  /** Several requests for the same page, shortly after one another. */
  async crowd(isolate: SimulatedIsolate, path: string): Promise<void> {
    const coming: Promise<void>[] = [];
    for (let number = 0; number < 6; number++) {
      coming.push(this.get(isolate, path, null));
      await this.#fate.delay(60);
    }
    await Promise.all(coming);
  }

  /**
   * An unsafe request. The origin changes the page, and perhaps another one that its answer names. Some come in pairs.
   */
  async post(isolate: SimulatedIsolate, path: string): Promise<void> {
    const fate = this.#fate;
    const { request } = this.#arrive("POST", path, isolate);
    fate.tell(`${request} arrives`);
    const answer = await isolate.visit("POST", path, new Fields());
    await textOf(answer);
    fate.history.unanswered.delete(request);
    fate.tell(`${request} is answered: ${answer.status}`);
    if (fate.chance(0.7)) return;
    await fate.delay(800);
    return this.post(isolate, path);
  }

  /** The last page that somebody has seen and that a purge covers. */
  lastSeen(purge: Purged): string | undefined {
    return this.#fate.history.answers.findLast(({ fetched }) => purge.matches(fetched))?.fetched.target;
  }

  /** Every other bearer of a token has it in a cookie, as a browser does. */
  #bring(token: string, fields: Fields): void {
    const cookies = [fields.get("cookie"), `tidemark-after=${token}`].filter((each) => each !== null);
    if (this.#requests % 2 === 0) fields.set("tidemark-after", token);
    else fields.set("cookie", cookies.join("; "));
  }

  anyPath(): string {
    return this.#fate.pick(PATHS);
  }

  /** A visitor who soon waits no longer. */
  #leaveSoon(): (tell: () => void) => () => void {
    return (tell) => {
      const patience = this.#fate.scheduler.wait(Math.floor(this.#fate.random() * PATIENCE_MS));
      void patience.over.then(tell);
      return () => patience.cancel();
    };
  }

  #arrive(method: string, target: string, isolate: SimulatedIsolate): Asking {
    const request = `${method} ${++this.#requests} of ${target} at ${isolate.name}`;
    this.#fate.history.unanswered.add(request);
    return { request, target, arrivedAt: this.#fate.now() };
  }

  /** Whether the answer is a complete page. A HEAD shows only its fields. */
  async #isWhole(answer: Answer, asking: Asking, method: string, by: SimulatedIsolate): Promise<boolean> {
    const { history } = this.#fate;
    const body = await textOf(answer);
    if (by.hasEnded) return false;
    if (answer.status >= 500) history.errors.push(asking);
    if (answer.status !== 200 && answer.status !== 206) return false;
    const isWhole = method === "HEAD" || body === promisedText(answer);
    if (!isWhole && body !== null) history.wrongBytes.push(asking.request);
    return isWhole;
  }

  #record(answer: Answered, method: string): void {
    const fate = this.#fate;
    const { purges, answers } = fate.history;
    answers.push(answer);
    const { xCache, after, arrivedAt, fetched, confirmed, givenBy } = answer;
    const isUnknown = arrivedAt > givenBy.lease.until;
    const outlived = purges.filter((purge) => isFromBefore(answer, purge));
    fate.count("hits", xCache === "HIT");
    fate.count("HEADs from store", xCache === "HIT" && method === "HEAD");
    fate.count("hits while the log was silent", xCache === "HIT" && isUnknown);
    fate.count("tokens honoured", after !== null);
    fate.count("answers from before a purge that had not settled", outlived.length > 0);
    fate.count("hits of validated pages", xCache === "HIT" && fetched !== confirmed);
    fate.count("hits of a variant", xCache === "HIT" && fetched.language !== null);
    fate.count("stale pages while they were fetched anew", xCache === "UPDATING");
    fate.count(
      "stale pages after a soft purge",
      xCache === "UPDATING" && outlived.some((purge) => purge.mode === "soft" && givenBy.heardAt(purge) !== null),
    );
    fate.count("stale pages for a failed origin", xCache === "STALE");
    fate.count("stale pages while log and origin were down", xCache === "STALE" && isUnknown);
  }
}

/** The text that an answer's fields promise: that of a fetch, or a part of it. */
function promisedText({ fields }: Answer): string {
  const text = textOfFetch(numbersIn(fields).fetch ?? Number.NaN);
  const [, first = 0, last = text.length - 1] = /^bytes (\d+)-(\d+)\/16$/.exec(fields.get("content-range") ?? "") ?? [];
  return text.slice(Number(first), Number(last) + 1);
}

/** The body of an answer; `null` if it is cut off. */
async function textOf({ body }: Answer): Promise<string | null> {
  if (body === null) return "";
  if (body instanceof Uint8Array) return UTF_8.decode(body);
  const reader = nodeBodies.readThrough(body);
  let text = "";
  try {
    for (let piece = await reader.next(); piece !== null; piece = await reader.next()) text += UTF_8.decode(piece);
  } catch {
    return null;
  }
  return text;
}

/** Reads no more than the first piece of an answer. */
async function leave({ body }: Answer, isAfterAPiece: boolean): Promise<void> {
  if (body === null || body instanceof Uint8Array) return;
  if (!isAfterAPiece) return body.cancel();
  const reader = nodeBodies.readThrough(body);
  await reader.next().catch(() => null);
  await reader.cancel();
}

const UTF_8 = new TextDecoder();
