import type { StreamedBody } from "../../worker/ports/bodies.ts";
import type { Origin, OriginAnswer, OriginRequest } from "../../worker/ports/origin.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { contentRange } from "../../worker/rules/ranges/partial-content.ts";
import { type BytePart, parseRange } from "../../worker/rules/ranges/range.ts";
import { DIRECTIVES, LONG_LIVED, languageOf } from "./directives.ts";
import { BrokenOrigin, type Fate } from "./fate.ts";
import type { Fetched } from "./history.ts";
import { identityOf } from "./identity.ts";
import { FETCH_FIELD, VALIDATION_FIELD } from "./log/answer-numbers.ts";
import { originBody, textOfFetch } from "./origin-body.ts";
import { isCrossedBy } from "./promises.ts";

export const PATHS = ["/a", "/b", "/plog/c"];
export const TAGS = ["t1", "t2", "t3"];

/** The lifetime that the site gives to one of the pages, whatever the origin says. */
const ROUTE_TTL_SECONDS = 600;
export const ROUTE = { match: "/plog/:slug", ttl: `${ROUTE_TTL_SECONDS}s`, tags: ["plog:{slug}"] };

/** An origin that hangs is given up after this time: milliseconds. */
const GIVEN_UP_MS = 8000;

/** How far a replica of the origin lags behind. */
const LAG_MS = 800;

/**
 * An origin that numbers its answers, is slow, fails, lags, cuts bodies off, and changes what it says about its pages.
 * The versions of pages change by unsafe requests and by edits.
 */
export class RandomOrigin {
  readonly #fate: Fate;
  /** The times at which each page got its versions, the newest last. */
  readonly #versions = new Map(PATHS.map((path) => [path, [{ version: 1, since: Number.NEGATIVE_INFINITY }]]));
  #fetches = 0;
  #failsUntil = 0;

  constructor(fate: Fate) {
    this.#fate = fate;
  }

  /** The origin as one isolate reaches it. */
  seenFrom(isolate: string): Origin {
    return {
      url: "http://origin.internal",
      fetch: (request) =>
        this.#fate.isStrained ? this.#answerUnderStrain(request, isolate) : this.#answer(request, isolate),
    };
  }

  failFor(ms: number): void {
    this.#failsUntil = this.#fate.faultFor(ms);
  }

  /** Changes a page. Reads from now on get the new version. Returns the event's place in the order of all events. */
  edit(path: string): number {
    const versions = this.#versions.get(path)!;
    const version = versions.length + 1;
    versions.push({ version, since: this.#fate.now() });
    this.#fate.tell(`${path} is version ${version} now`);
    return this.#fate.nextOrder();
  }

  async #give(request: OriginRequest): Promise<OriginAnswer> {
    const fate = this.#fate;
    const { method, pathAndQuery: target } = request;
    const sent = new Map(request.fields);
    const number = this.#fetches++;
    const [order, sentAt] = [fate.nextOrder(), fate.now()];
    fate.tell(
      `fetch ${number}, ${method} of ${target}, begins${sent.has("if-none-match") ? " under a condition" : ""}`,
    );
    const slowMs = fate.isCalm ? 20 : fate.pick([5, 100, 1500]);
    await fate.delay(slowMs);
    const version = this.#look(target);
    await fate.delay(slowMs);
    if (this.#isFailing()) return this.#fail(target);

    const directives = fate.pick(fate.isCalm ? LONG_LIVED : DIRECTIVES);
    const tags = TAGS.filter(() => fate.random() < 0.4);
    // One page is sometimes the same in all languages.
    const language = target === "/b" && version % 2 === 1 ? languageOf(sent.get("accept-language")) : null;
    const fetched: Fetched = {
      ...{ number, order, sentAt, receivedAt: fate.now(), target, version, tags, language },
      identity: identityOf((name) => sent.get(name)),
      audience: directives.audience,
      freshMs: (target.startsWith("/plog/") ? ROUTE_TTL_SECONDS : directives.fresh) * 1000,
      staleWhileRevalidateMs: (directives.whileRevalidate ?? 0) * 1000,
      staleIfErrorMs: (directives.ifError ?? 0) * 1000,
    };
    fate.history.fetches.set(number, fetched);
    fate.tell(`fetch ${number} gets version ${version} of ${target} (${directives.said}; ${tags})`);

    const fields = new Fields([["cache-control", directives.said]]);
    if (tags.length > 0) fields.set("cache-tag", tags.join(","));
    if (language !== null) fields.set("vary", "accept-language");
    if (fate.random() < 0.5) fields.set("date", new Date(fate.now()).toUTCString());
    const etag = `"${version}${language ?? "-"}"`;
    if (fate.random() < 0.9) fields.set("etag", etag);
    const isNotModified = sent.get("if-none-match")?.split(", ").includes(etag) ?? false;
    this.#countCrossings(fetched, isNotModified);
    fields.set(isNotModified || method === "HEAD" ? VALIDATION_FIELD : FETCH_FIELD, String(number));
    if (isNotModified) return answered(304, fields);
    if (fate.isStrained && method !== "HEAD" && fate.happens("pages without a body", 0.1)) {
      fields.set("content-length", "0");
      return answered(404, fields);
    }
    const text = textOfFetch(number);
    const part = partOf(sent.get("range"), text.length);
    if (part && fate.chance(0.7)) {
      fields.set("content-range", contentRange(part, text.length));
      return this.#withBody(`a part of fetch ${number}`, 206, text.slice(part.first, part.last + 1), fields);
    }
    if (method !== "HEAD") return this.#withBody(`fetch ${number}`, 200, text, fields);
    fields.set("content-length", String(text.length));
    return answered(200, fields);
  }

  /** The version that a replica shows. Some replicas lag, so theirs is an older one. */
  #look(target: string): number {
    const versions = this.#versions.get(target)!;
    const seenAt = this.#fate.now() - (this.#fate.chance(0.1) ? LAG_MS : 0);
    const { version } = versions.findLast(({ since }) => since <= seenAt)!;
    this.#fate.count("answers of a lagging replica", version < versions.length);
    return version;
  }

  /** A POST. It is refused, or carried out; in the latter case its answer may be lost. */
  async #take({ pathAndQuery: target }: OriginRequest, isolate: string): Promise<OriginAnswer> {
    const fate = this.#fate;
    await fate.delay(fate.pick([10, 200, 3000]));
    if (this.#isFailing()) return this.#fail(target);
    if (fate.random() < 0.15) return answered(409);
    const change = (path: string) => ({ target: path, order: this.edit(path), isolate });
    const named = fate.random() < 0.3 ? fate.pick(PATHS.filter((path) => path !== target)) : null;
    const changes = [change(target), ...(named === null ? [] : [change(named)])];
    await fate.delay(fate.pick([10, 200, 3000]));
    const isLost = this.#isFailing() || fate.random() < 0.15;
    // The edge learns of a page other than the request's own only from the answer.
    fate.history.changes.push(...(isLost ? changes.slice(0, 1) : changes));
    fate.count("changes by unsafe methods");
    fate.count("unsafe methods whose answer was lost", isLost);
    if (isLost) return { kind: "failed", because: "timed-out", cause: "simulated" };
    return answered(fate.pick([200, 201, 303]), new Fields(named === null ? [] : [["content-location", named]]));
  }

  #answer(request: OriginRequest, isolate: string): Promise<OriginAnswer> {
    return request.method === "POST" ? this.#take(request, isolate) : this.#give(request);
  }

  /** It sometimes hangs until its time-out, or throws. */
  async #answerUnderStrain(request: OriginRequest, isolate: string): Promise<OriginAnswer> {
    const [fate, target] = [this.#fate, request.pathAndQuery];
    if (!fate.chance(0.08)) return this.#answer(request, isolate);
    const hangs = fate.chance(0.5);
    fate.count("origins that hung", hangs);
    fate.count("origins that threw", !hangs);
    fate.tell(`the origin ${hangs ? "hangs" : "throws"} when it is asked for ${target}`);
    if (hangs) await fate.scheduler.wait(GIVEN_UP_MS).over;
    fate.history.failures.push({ target, at: fate.now() });
    if (hangs) return { kind: "failed", because: "timed-out", cause: "simulated" };
    throw new BrokenOrigin("simulated");
  }

  #isFailing(): boolean {
    return this.#fate.now() < this.#failsUntil || this.#fate.random() < 0.04;
  }

  #fail(target: string): OriginAnswer {
    this.#fate.history.failures.push({ target, at: this.#fate.now() });
    if (this.#fate.random() < 0.5) {
      return this.#fate.isStrained ? this.#withBody(`an error of ${target}`, 503, "out of order") : answered(503);
    }
    return { kind: "failed", because: "unreachable", cause: "simulated" };
  }

  #countCrossings(fetched: Fetched, isNotModified: boolean): void {
    const { purges } = this.#fate.history;
    this.#fate.count("validations", isNotModified);
    this.#fate.count("validations crossed by a purge", isNotModified && isCrossedBy(fetched, purges, "purge"));
    this.#fate.count(
      "fills crossed by an unsafe method",
      !isNotModified && isCrossedBy(fetched, purges, "invalidation"),
    );
  }

  /** An answer of which the record shows whether somebody has read it to its end or cancelled it. */
  #withBody(of: string, status: number, text: string, fields = new Fields()): OriginAnswer {
    const isCut = this.#fate.random() < 0.05;
    const isSlow = this.#fate.random() < 0.3;
    const isInPieces = isCut || isSlow || this.#fate.random() < 0.5;
    const rest = async () => {
      if (isSlow) await this.#fate.delay(2000);
      if (isCut) throw new Error("cut off");
    };
    const { openBodies } = this.#fate.history;
    const open = { of };
    openBodies.add(open);
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const onOver = () => {
      openBodies.delete(open);
      resolve();
    };
    fields.set("content-length", String(text.length));
    const body = originBody({
      bytes: new TextEncoder().encode(text),
      rest: isInPieces ? rest : null,
      isInSmallPieces: this.#fate.isStrained,
      onOver,
    });
    return answered(status, fields, body, isInPieces ? () => over : undefined);
  }
}

/** The one part that a request asks for; `null` for none. */
function partOf(range: string | undefined, lengthBytes: number): BytePart | null {
  const asked = parseRange(range ?? null, lengthBytes);
  return asked.kind === "parts" ? asked.parts[0]! : null;
}

function answered(
  status: number,
  fields = new Fields(),
  body: StreamedBody | null = null,
  ended?: () => Promise<void>,
): OriginAnswer {
  return { kind: "answered", response: { status, statusText: "", fields, body, ...(ended && { ended }) } };
}
