import type { Origin, OriginAnswer, OriginFailure, OriginRequest, OriginResponse } from "../ports/origin.ts";
import type { Fields } from "../rules/fields/fields.ts";
import { logsInConnection } from "../rules/identity/connection-login.ts";
import { isSafeMethod } from "../rules/invalidation/safe-method.ts";
import { announcedBytes } from "../rules/storing/framing.ts";
import { fromWebResponse, toWebHeaders } from "./web-answer.ts";
import { streamOf } from "./web-bodies.ts";

/** Whoever takes nothing of a body for so long has left before its head: milliseconds. */
const UNREAD_MS = 2_000;

/** With these, Cloudflare's network answers in place of an origin that gives it no answer, or a broken one. */
const NO_ANSWER = /^5(?:2[0-7]|30)$/;
/** With this one, where it was asked and took too long. */
const TOO_LATE = 524;

/** The largest page that a worker may change as it sends it. */
const MAX_CHANGED_BYTES = 8 * 1024 ** 2;

/*
 * The origin over the runtime's fetch. The platform's guarantees, on which this code relies:
 * - The platform caches a worker's fetches by file extension. `cacheTtl: -1` turns that off, and adds no directive to
 *   the request, as `cache: "no-store"` would.
 * - It decodes bodies that are read. `encodeResponseBody: "manual"` keeps the bytes as they came.
 * - It returns an interim 1xx response as the final one, with the real response as its body. That counts as a failure.
 * - A refused or reset connection rejects, or the network answers in the origin's place, with a status of its own.
 * - It keeps connections for other visitors, and ends none when asked to. So no visitor may log in to one.
 * - The body of an answer whose client has left before it is neither read nor cancelled.
 */
export class OriginFetch implements Origin {
  readonly url: string;
  readonly #timeoutMs: number;
  readonly #service: Fetcher | null;
  readonly #wholeBytes: number;
  readonly #tellsEnd: boolean;

  /**
   * `service`: a worker in the origin's place. `wholeBytes`: the largest body that is stored with its head. `tellsEnd`: whether
   * all answers have `ended`, for which bodies are copied. Those of unknown length to unsafe requests always have it.
   */
  constructor(url: string, timeoutMs: number, service: Fetcher | null, wholeBytes: number, tellsEnd: boolean) {
    this.url = url;
    this.#timeoutMs = timeoutMs;
    this.#service = service;
    this.#wholeBytes = Math.max(wholeBytes, MAX_CHANGED_BYTES);
    this.#tellsEnd = tellsEnd;
  }

  async fetch(request: OriginRequest): Promise<OriginAnswer> {
    const abort = new AbortController();
    // The limit is for the head of the response. A body may take any length of time.
    const timer = setTimeout(() => abort.abort(), this.#timeoutMs);
    try {
      const init: RequestInit = {
        method: request.method,
        headers: toWebHeaders(request.fields.filter((field) => !logsInConnection(field))),
        body: request.body && streamOf(request.body),
        redirect: "manual",
        encodeResponseBody: "manual",
        signal: request.cutOff ? AbortSignal.any([abort.signal, request.cutOff]) : abort.signal,
        // A worker gets it as that of its request.
        cf: this.#service === null ? { cacheTtl: -1 } : ((request.visitor ?? {}) as CfProperties),
      };
      const response = await (this.#service === null
        ? fetch(this.url + request.pathAndQuery, init)
        : this.#service.fetch(publicUrlOf(request) + request.pathAndQuery, init));
      if (response.status === 101) return { kind: "switched", connection: response };
      const because = this.#failureOf(response.status);
      if (because !== null) {
        await response.body?.cancel();
        return { kind: "failed", because, cause: `status ${response.status} as a final response` };
      }
      const answered = fromWebResponse(response);
      if (this.#service !== null) sayFraming(answered.fields, this.#wholeBytes);
      const tellsEnd = this.#tellsEnd || (!isSafeMethod(request.method) && lengthOf(answered) === null);
      return { kind: "answered", response: tellsEnd ? withEnd(answered, response.body) : answered };
    } catch (cause) {
      return { kind: "failed", because: abort.signal.aborted ? "timed-out" : "unreachable", cause };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Why a response with this status is no answer of the origin; `null` if it is one. */
  #failureOf(status: number): OriginFailure["because"] | null {
    if (status < 200 || status > 599) return "bad-response";
    if (this.#service !== null || !NO_ANSWER.test(String(status))) return null;
    return status === TOO_LATE ? "timed-out" : "unreachable";
  }
}

/** The answer with a body that tells when all of it has come, or that nobody reads it. */
function withEnd(answered: OriginResponse, body: ReadableStream | null): OriginResponse {
  if (body === null) return answered;
  const lengthBytes = lengthOf(answered);
  const { readable, writable } =
    lengthBytes === null ? new IdentityTransformStream() : new FixedLengthStream(lengthBytes);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  void pass(body, writable, end).then(end, end); // its reader sees that it was cut off
  const cancel = readable.cancel.bind(readable);
  // The runtime may not tell the other side.
  readable.cancel = (reason) => {
    end();
    return cancel(reason);
  };
  return { ...answered, body: readable, ended: () => ended };
}

function lengthOf({ fields }: OriginResponse): number | null {
  return announcedBytes((name) => fields.get(name));
}

/** Passes a body on. Calls `tellEnd` early if there is none, or if its first piece is not taken in time. */
async function pass(body: ReadableStream, writable: WritableStream, tellEnd: () => void): Promise<void> {
  const reader = body.getReader();
  const writer = writable.getWriter();
  let timer: ReturnType<typeof setTimeout> | null = null;
  try {
    const { value, done } = await reader.read();
    if (done) tellEnd(); // Nobody may take an empty body, either.
    timer = setTimeout(tellEnd, UNREAD_MS);
    if (value) await writer.write(value);
  } catch (cause) {
    // A pipe to a body that nobody wants any more would not end, and neither may these.
    for (const ending of [reader.cancel(cause), writer.abort(cause)]) void ending.catch(() => undefined);
    return;
  } finally {
    clearTimeout(timer);
  }
  reader.releaseLock();
  writer.releaseLock();
  await body.pipeTo(writable);
}

/**
 * The length in a service's answer means little: the runtime ignores it, and a worker that changes a page leaves that of the
 * old one there. Only a body that is stored apart needs it, and nobody changes so large a page. A body that is cut off fails
 * while it is read.
 */
function sayFraming(fields: Fields, wholeBytes: number): void {
  if (Number(fields.get("content-length")) > wholeBytes) return;
  fields.delete("content-length");
  fields.set("transfer-encoding", "chunked");
}

/** The address that the visitor has asked, which the edge writes into each request: a worker makes its links from it. */
function publicUrlOf({ fields }: OriginRequest): string {
  const field = (wanted: string) => fields.find(([name]) => name === wanted)?.[1];
  return `${field("x-forwarded-proto")}://${field("x-forwarded-host")}`;
}
