/** The errors of the SDK: the family of `PurgeError` for failed purges, and `TypeError`s for invalid calls. */

import type * as z from "zod/mini";
import { faultsOf } from "../wire/text/unknown-key.ts";

/** Every reason why a purge can fail. The first ten are the `code` of the edge's answer. */
export type PurgeErrorCode =
  /** 400: the request is not valid, and `errors` says which item. Nothing was purged. */
  | "invalid"
  /** 401: the token is missing or wrong. */
  | "unauthorized"
  /** 403: the token may not do this. */
  | "forbidden"
  /** 404: there is nothing at this address. */
  | "not-found"
  /** 405: the method does not fit the address. */
  | "method-not-allowed"
  /** 409: this `id` was used before for another purge. */
  | "conflict"
  /** 413: the body is too large. */
  | "too-large"
  /** 415: the body is not JSON. */
  | "unsupported-media-type"
  /** 429: too many requests; `retryAfterMs` says how long to wait. */
  | "rate-limited"
  /** 503: the purge log cannot be reached. The same call with the same `id` may succeed later. */
  | "unavailable"
  /** There is no usable endpoint or token. Nothing was sent. */
  | "not-configured"
  /** The purger had been closed. Nothing was sent. */
  | "closed"
  /** The connection failed before an answer began. */
  | "unreachable"
  /** An answer began but did not end. */
  | "incomplete-answer"
  /** The answer did not come from a Tidemark edge. */
  | "unexpected-answer"
  /** The edge answered with a 5xx that does not say whether trying again can help. */
  | "server-error"
  /** The deadline passed before the answer was complete. */
  | "timeout";

export interface PurgeErrorDetails {
  code: PurgeErrorCode;
  status?: number | undefined;
  retryable: boolean;
  attempts: number;
  cause?: unknown;
}

/**
 * A purge that failed, or whose outcome is unknown. This class itself is thrown for the codes `not-configured` and
 * `closed`, and a subclass for every other code.
 *
 * A call can also throw two things outside this family: a `TypeError` for an invalid call (an empty list, a misspelt
 * field), before anything is sent, and the reason of an aborted `AbortSignal`.
 */
export class PurgeError extends Error {
  override readonly name: string = "PurgeError";
  /** The reason, as a word that stays the same between releases. */
  readonly code: PurgeErrorCode;
  /** The HTTP status of the last answer; undefined if there was no answer. */
  readonly status: number | undefined;
  /** True if the same call may succeed later without a change. */
  readonly retryable: boolean;
  /** The number of requests that were sent. */
  readonly attempts: number;

  constructor(message: string, details: PurgeErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.status = details.status;
    this.retryable = details.retryable;
    this.attempts = details.attempts;
  }
}

/** One fault of a request. */
export interface RejectedItem {
  /** Where it is, like `tags[3]`; empty for the request as a whole. */
  path: string;
  /** What is wrong with it. */
  message: string;
}

export interface PurgeRejectedDetails {
  code: "invalid" | "too-large" | "unsupported-media-type";
  status: number;
  attempts: number;
  errors: readonly RejectedItem[];
  cause?: unknown;
}

/** The edge refused the request as invalid (400, 413, 415). Nothing was purged, not even valid items. */
export class PurgeRejected extends PurgeError {
  override readonly name: string = "PurgeRejected";
  /** Each fault and its place; empty if the edge did not say. */
  readonly errors: readonly RejectedItem[];

  constructor(message: string, details: PurgeRejectedDetails) {
    super(message, { ...details, retryable: false });
    this.errors = details.errors;
  }
}

/** The details of an error whose class tells the rest. */
export interface AttemptDetails {
  attempts: number;
  cause?: unknown;
}

/** The edge does not know the token (401). Nothing was purged. */
export class PurgeUnauthorized extends PurgeError {
  override readonly name: string = "PurgeUnauthorized";

  constructor(message: string, details: AttemptDetails) {
    super(message, { ...details, code: "unauthorized", status: 401, retryable: false });
  }
}

/** The edge knows the token, but the token may not purge (403). Nothing was purged. */
export class PurgeForbidden extends PurgeError {
  override readonly name: string = "PurgeForbidden";

  constructor(message: string, details: AttemptDetails) {
    super(message, { ...details, code: "forbidden", status: 403, retryable: false });
  }
}

/** The `id` was used before for another purge (409). The earlier purge stands; this one did not happen. */
export class PurgeConflict extends PurgeError {
  override readonly name: string = "PurgeConflict";

  constructor(message: string, details: AttemptDetails) {
    super(message, { ...details, code: "conflict", status: 409, retryable: false });
  }
}

export interface PurgeRateLimitedDetails {
  attempts: number;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Too many requests (429), and waiting longer would have passed the deadline or the number of retries. */
export class PurgeRateLimited extends PurgeError {
  override readonly name: string = "PurgeRateLimited";
  /** Milliseconds to wait before the next try, counted from the answer; undefined if the edge did not say. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: PurgeRateLimitedDetails) {
    super(message, { ...details, code: "rate-limited", status: 429, retryable: true });
    this.retryAfterMs = details.retryAfterMs;
  }
}

export interface PurgeUnreachableDetails {
  code:
    | "unreachable"
    | "unavailable"
    | "incomplete-answer"
    | "unexpected-answer"
    | "server-error"
    | "not-found"
    | "method-not-allowed";
  status?: number | undefined;
  retryable: boolean;
  attempts: number;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/**
 * There was no usable answer from an edge: a failed connection, a 5xx, half an answer, or an answer from some other
 * server. It is unknown whether the purge happened, unless no connection was ever made.
 */
export class PurgeUnreachable extends PurgeError {
  override readonly name: string = "PurgeUnreachable";
  /** Milliseconds to wait before the next try, counted from the answer; undefined if the answer did not say. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: PurgeUnreachableDetails) {
    super(message, details);
    this.retryAfterMs = details.retryAfterMs;
  }
}

/**
 * The deadline passed before the answer was complete; whether the purge happened is unknown, unless `attempts` is 0:
 * then it was not sent. `cause` is the error of the attempt before, if there was one. Trying again is safe, and with
 * the same `id` the purge happens once.
 */
export class PurgeTimeout extends PurgeError {
  override readonly name: string = "PurgeTimeout";

  constructor(message: string, details: AttemptDetails) {
    super(message, { ...details, code: "timeout", retryable: true });
  }
}

/**
 * Whether a purge failed for what it names, which says nothing about others: the edge refused it, or a firewall in front of
 * the edge blocked it.
 */
export function isOfItsItems(error: PurgeError): boolean {
  return error instanceof PurgeRejected || error instanceof PurgeConflict || isBlocked(error);
}

/** Whether something in front of the edge has blocked a purge, as a firewall does for a text that looks like an attack. */
export function isBlocked({ code, status }: { readonly code?: unknown; readonly status?: unknown }): boolean {
  return code === "unexpected-answer" && status === 403;
}

/** The error of a call that passed its deadline, which whoever made the call can set. `text` ends without a full stop. */
export function passedDeadline(text: string, details: AttemptDetails): PurgeTimeout {
  const timeout = new PurgeTimeout(`${text}, or set a longer deadlineMs.`, details);
  setTextWithoutCall(timeout, `${text}.`);
  return timeout;
}

/**
 * The `TypeError` for an invalid call. It names the call, and each faulty place with its fault; with `reportInput` it
 * shows the values. `otherNames`: other tools' names for keys.
 */
export function misuse(
  call: string,
  error: z.core.$ZodError,
  schema: z.core.$ZodType,
  otherNames: Readonly<Record<string, string>> = {},
): TypeError {
  const faults = faultsOf(error, schema, otherNames).map(({ path, message, input }) => ({
    path,
    message: `${message}${got(input)}`,
  }));
  const text = listFaults(faults);
  const refusal = new TypeError(`${call}: ${text}`);
  setTextWithoutCall(refusal, text);
  return refusal;
}

/** The texts of errors without the names of the call and its options. */
const textsWithoutCall = new WeakMap<Error, string>();

export function setTextWithoutCall(error: Error, text: string): void {
  textsWithoutCall.set(error, text);
}

/** The message of an error without the names of the call and its options, for readers who did not make that call. */
export function textWithoutCall(error: Error): string {
  return textsWithoutCall.get(error) ?? error.message;
}

const MAX_SHOWN_CHARACTERS = 80;

/** A value as a message shows it: as JSON, cut if it is long. */
export function shown(value: unknown): string {
  const json = String(JSON.stringify(value));
  return json.length > MAX_SHOWN_CHARACTERS ? `${json.slice(0, MAX_SHOWN_CHARACTERS)}…` : json;
}

function got(input: unknown): string {
  return typeof input === "string" || typeof input === "number" ? ` (got ${shown(input)})` : "";
}

const MAX_LISTED_FAULTS = 5;

/** The first faults in one line, and the number of the others. */
export function listFaults(faults: readonly RejectedItem[]): string {
  const listed = faults
    .slice(0, MAX_LISTED_FAULTS)
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  const rest = faults.length - listed.length;
  return rest > 0 ? `${listed.join("; ")}; and ${rest} more` : listed.join("; ");
}
