import { AFTER_FIELD } from "../../wire/fields.ts";
import type { Origin, OriginAnswer, OriginFailure, OriginRequest, OriginResponse } from "../../worker/ports/origin.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { isSafeMethod } from "../../worker/rules/invalidation/safe-method.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import type { SwitchedConnection } from "../http1/tunnel.ts";
import { codeOrMessageOf } from "../message-of.ts";
import { UndiciOrigin, type UndiciOriginOptions } from "../origin/undici-origin.ts";
import { isPaused } from "../pause.ts";
import {
  CHILD_FIELD,
  PARENT_FIELD,
  PARENT_TOKEN_FIELD,
  readParent,
  type ToldByParent,
  writeChild,
  writePosition,
} from "./parent-fields.ts";

export interface ParentOriginParts {
  /** The connection to the parent. */
  readonly parent: Origin;
  /** The origin itself, which is asked while the parent fails; `null` for none. */
  readonly origin: Origin | null;
  /** One with the scope `parent`, of the parent. */
  readonly token: string;
  /** The name of this server in `CDN-Loop`. No other has it. */
  readonly node: string;
  /** The fingerprint of this server's rules. */
  readonly rules: string;
  /** The fields that the site sets for the origin alone, in lower case. */
  readonly originFields: readonly string[];
  /** How long the connection waits for the head of an answer, so that the parent answers before. Default: it is not told. */
  readonly waitsMs?: number;
  readonly now: () => number;
  /** Gets a line for the owner's log. */
  readonly say: (line: string) => void;
}

/** How long the origin is asked in place of a parent that has failed. It doubles with each further failure. */
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 16_000;

/**
 * A parent in place of the origin. Each request tells it how far it must have read the log before it may answer from
 * its store, and an answer that does not repeat this is not used.
 */
export class ParentOrigin implements Origin {
  readonly url: string;
  readonly isCache = true;
  readonly #parts: ParentOriginParts;
  readonly #originFields: ReadonlySet<string>;
  #failures = 0;
  /** Until then the origin is asked, if there is one. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** The request that finds out just now if the parent still fails. The origin is asked meanwhile, too. */
  #probe: OriginRequest | null = null;
  /** The requests at the parent that the origin can answer, too. `null` sends them there. */
  readonly #pending = new Set<PromiseWithResolvers<null>>();
  /** The state that was logged last: each is logged once. */
  #said: string | null = null;
  #saidOfLogs = false;
  #saidOfRules = false;

  constructor(parts: ParentOriginParts) {
    this.#parts = parts;
    this.#originFields = new Set([...parts.originFields, ...TOLD_OTHERWISE]);
    this.url = (parts.origin ?? parts.parent).url;
  }

  async fetch(request: OriginRequest): Promise<OriginAnswer> {
    const { origin } = this.#parts;
    if (origin && this.#failures > 0) {
      void this.#probeParent(request);
      return origin.fetch(request);
    }
    const after = writePosition(request.after ?? null);
    const asked = await this.#askParent(request, after);
    if (asked === null) return origin!.fetch(request);
    const answer = asked.kind === "answered" ? this.#check(asked.response, after, request) : asked;
    if (answer.kind !== "failed") {
      this.#works();
      return answer;
    }
    // If a connection took the request, its visitor may have left, been slow, or sent too much: of fields, too.
    const isTaken = asked.kind === "failed" && request.body !== null && !answer.wasNeverSent;
    const mayBeVisitors = isTaken || (asked.kind === "answered" && asked.response.status === FIELDS_TOO_LARGE);
    if (!mayBeVisitors) this.#fails(1, answer);
    const failed = { ...answer, isTold: true };
    if (origin === null) return failed;
    return mayBeSentAgain(request, answer) ? origin.fetch(request) : { ...failed, saysNothing: true };
  }

  /**
   * After each pause, finds out whether the parent still fails: by a request for which no visitor waits, and which the
   * parent need not pass on. `request`: the visitor's, whose host is asked for.
   */
  async #probeParent(request: OriginRequest): Promise<void> {
    const { parent, now } = this.#parts;
    if (this.#probe !== null || isPaused(this.#pausedUntil, now(), LAST_PAUSE_MS)) return;
    const told = request.fields.filter(([name]) => TOLD_BY_PROBE.has(name));
    const fields = [...told, ["cache-control", "only-if-cached"] as const];
    const probe: OriginRequest = { method: "HEAD", pathAndQuery: "/", fields, body: null };
    this.#probe = probe;
    const after = writePosition(null);
    const asked = await parent
      .fetch(this.#asChild(probe, after))
      .catch((cause: unknown): OriginFailure => ({ kind: "failed", because: "bad-response", cause }));
    const answer = asked.kind === "answered" ? this.#check(asked.response, after, probe) : asked;
    if (answer.kind !== "failed") await discardAnswer(answer);
    if (this.#probe !== probe) return; // another answer was faster
    this.#probe = null;
    if (answer.kind === "failed") this.#fails(this.#failures + 1, answer);
    else this.#works();
  }

  /** The parent's answer; `null` if the origin is to be asked instead, because the parent turned out to be gone meanwhile. */
  async #askParent(request: OriginRequest, after: string): Promise<OriginAnswer | null> {
    const { parent, origin } = this.#parts;
    const sent = this.#asChild(request, after);
    if (origin === null || !isRepeatable(request)) return parent.fetch(sent);
    const gone = Promise.withResolvers<null>();
    this.#pending.add(gone);
    const inform: OriginRequest["inform"] = (interim) => {
      if (this.#pending.has(gone)) request.inform?.(interim);
    };
    const asked = parent.fetch({ ...sent, inform });
    try {
      const answer = await Promise.race([asked, gone.promise]);
      if (answer === null) void asked.then(discardAnswer).catch(() => undefined);
      return answer;
    } finally {
      this.#pending.delete(gone);
    }
  }

  #asChild(request: OriginRequest, after: string): OriginRequest {
    const { node, rules, token, waitsMs = null } = this.#parts;
    const sent = Fields.copy(request.fields);
    const told = {
      node,
      rules,
      scheme: sent.get("x-forwarded-proto") === "https" ? ("https" as const) : ("http" as const),
      host: sent.get("x-forwarded-host") ?? "",
      clientAddress: sent.get("x-forwarded-for"),
      country: sent.get("x-country"),
      waitsMs,
      isOfEditor: request.isOfEditor ?? false,
    };
    const fields = request.fields
      .filter(([name]) => !this.#originFields.has(name))
      .map(([name, value]) => [name, name === "cdn-loop" ? `${value}; node="${node}"` : value] as const);
    const own = [
      [PARENT_TOKEN_FIELD, token],
      [CHILD_FIELD, writeChild(told)],
      [AFTER_FIELD, after],
    ] as const;
    return { ...request, fields: [...fields, ...own] };
  }

  #check(response: OriginResponse, after: string, { after: position }: OriginRequest): OriginAnswer {
    const told = readParent(response.fields.get(PARENT_FIELD));
    if (told?.after !== after) {
      void response.body?.cancel().catch(() => undefined);
      const cause =
        told === null ? refusal(response) : "it got another request's answer, which a cache on the way had stored";
      return { kind: "failed", because: "bad-response", cause };
    }
    this.#compare(told, position ?? null);
    const fields = Fields.copy(response.fields);
    fields.delete(PARENT_FIELD);
    // Where the origin has not said where the body ends, it may have been cut off, and is not stored.
    if (!told.isFramed) for (const name of FRAMING) fields.delete(name);
    const { parentAge, isOriginLost } = told;
    const isByOtherRules = !told.hasSameRules;
    return { kind: "answered", response: { ...response, fields, parentAge, isOriginLost, isByOtherRules } };
  }

  /** Tells what makes every request go through to the origin, once. */
  #compare({ position, hasSameRules }: ToldByParent, own: Stamp | null): void {
    const { parent, say } = this.#parts;
    const hasOtherLog = position !== null && own !== null && own.logId !== "" && position.logId !== own.logId;
    if (hasOtherLog && !this.#saidOfLogs) {
      say(`the parent ${parent.url} reads another purge log, so it asks the origin for every request of this server`);
    }
    if (!hasSameRules && !this.#saidOfRules) {
      say(`the parent ${parent.url} has other rules, so it asks the origin for every request of this server`);
    }
    this.#saidOfLogs = hasOtherLog;
    this.#saidOfRules = !hasSameRules;
  }

  /** `failures`: the failures in a row with this one. Requests that fail at the same time are one. */
  #fails(failures: number, { because, cause }: OriginFailure): void {
    const { parent, origin, now } = this.#parts;
    this.#failures = Math.max(this.#failures, failures);
    this.#pausedUntil = now() + Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), LAST_PAUSE_MS);
    const why = codeOrMessageOf(cause);
    const instead = origin === null ? "" : "; this server asks the origin instead";
    this.#say(`the parent ${parent.url} fails (${because}: ${why})${instead}`);
    // After another failure it may go on with what it has, as when one of its processes has ended.
    if (because === "timed-out" || why === "EHOSTUNREACH") for (const { resolve } of this.#pending) resolve(null);
  }

  #works(): void {
    this.#failures = 0;
    this.#probe = null;
    this.#pausedUntil = Number.NEGATIVE_INFINITY;
    if (this.#said !== null) this.#parts.say(`the parent ${this.#parts.parent.url} answers again`);
    this.#said = null;
  }

  #say(line: string): void {
    if (this.#said === null) this.#parts.say(line);
    this.#said = line;
  }
}

const FRAMING = ["content-length", "transfer-encoding"];

/** How much longer a parent is waited for than an origin, so that it can tell that the origin takes too long. */
const LONGER_THAN_ORIGIN_MS = 2_000;

/** A parent keeps idle connections for longer than origins do, and one that is off should not be waited for. */
export function connectToParent({ timeoutMs, ...options }: UndiciOriginOptions): UndiciOrigin {
  const timeouts = { keepAliveMs: 30_000, connectTimeoutMs: 3_000, timeoutMs: timeoutMs + LONGER_THAN_ORIGIN_MS };
  return new UndiciOrigin({ ...options, ...timeouts });
}

/** The status of a head that fits into a child, but not into its parent with what the child adds. RFC 6585 §5. */
const FIELDS_TOO_LARGE = 431;

/** The fields by which a parent finds the site, and a ring. */
const TOLD_BY_PROBE = new Set(["host", "cdn-loop", "x-forwarded-host", "x-forwarded-proto"]);

/** Fields of the edge that a parent does not believe in this form. */
const TOLD_OTHERWISE = ["x-forwarded-host", "x-forwarded-proto", "x-forwarded-port", "x-forwarded-for", "x-country"];

/** A parent says so before it carries anything out. */
const REFUSES_CHILD = "it refuses TIDEMARK_PARENT_TOKEN: none of its tokens with the scope parent is this one";

/** The reason to give for an answer that does not come from a parent, or comes from one that refuses. */
function refusal({ status, fields }: OriginResponse): string {
  const detail = /detail=([a-z-]+)/.exec(fields.get("cache-status") ?? "")?.[1];
  if (detail === "no-child") return REFUSES_CHILD;
  return `status ${status} of a server that is not a parent`;
}

/**
 * Whether a request that the parent did not answer may be sent to the origin: the parent has not carried it out, or
 * nothing changes if both do. A body that the parent has been sent is gone.
 */
function mayBeSentAgain(request: OriginRequest, { cause, wasNeverSent = false }: OriginFailure): boolean {
  return wasNeverSent || isRepeatable(request) || (request.body === null && cause === REFUSES_CHILD);
}

/** Whether nothing changes if both the parent and the origin carry a request out, and it can be sent to both. */
function isRepeatable({ method, body }: OriginRequest): boolean {
  return body === null && isSafeMethod(method);
}

/** Ends an answer that nobody gets any more. */
async function discardAnswer(answer: OriginAnswer): Promise<void> {
  if (answer.kind === "switched") (answer.connection as SwitchedConnection).socket.destroy();
  if (answer.kind === "answered") await answer.response.body?.cancel();
}
