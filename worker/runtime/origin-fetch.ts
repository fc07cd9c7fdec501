import type { Origin, OriginAnswer, OriginRequest, OriginResponse } from "../ports/origin.ts";
import type { Fields } from "../rules/fields/fields.ts";
import { announcedBytes } from "../rules/storing/framing.ts";
import { fromWebResponse, toWebHeaders } from "./web-answer.ts";
import { streamOf } from "./web-bodies.ts";

/*
 * The origin over the runtime's fetch. The platform's guarantees, on which this code relies:
 * - The platform caches a worker's fetches by file extension. `cacheTtl: -1` turns that off, and adds no directive to
 *   the request, as `cache: "no-store"` would.
 * - It decodes bodies that are read. `encodeResponseBody: "manual"` keeps the bytes as they came.
 * - It returns an interim 1xx response as the final one, with the real response as its body. That counts as a failure.
 * - A refused or reset connection rejects.
 */
export class OriginFetch implements Origin {
  readonly url: string;
  readonly #timeoutMs: number;
  readonly #service: Fetcher | null;
  readonly #tellsEnd: boolean;

  /** `service`: a worker in the origin's place. `tellsEnd`: whether answers have `ended`, for which bodies are copied. */
  constructor(url: string, timeoutMs: number, service: Fetcher | null = null, tellsEnd = false) {
    this.url = url;
    this.#timeoutMs = timeoutMs;
    this.#service = service;
    this.#tellsEnd = tellsEnd;
  }

  async fetch(request: OriginRequest): Promise<OriginAnswer> {
    const abort = new AbortController();
    // The limit is for the head of the response. A body may take any length of time.
    const timer = setTimeout(() => abort.abort(), this.#timeoutMs);
    try {
      const init: RequestInit = {
        method: request.method,
        headers: toWebHeaders(request.fields),
        body: request.body && streamOf(request.body),
        redirect: "manual",
        encodeResponseBody: "manual",
        signal: abort.signal,
        cf: { cacheTtl: -1 },
      };
      const response = await (this.#service === null
        ? fetch(this.url + request.pathAndQuery, init)
        : this.#service.fetch(publicUrlOf(request) + request.pathAndQuery, init));
      if (response.status === 101) return { kind: "switched", connection: response };
      if (response.status < 200 || response.status > 599) {
        await response.body?.cancel();
        return { kind: "failed", because: "bad-response", cause: `status ${response.status} as a final response` };
      }
      const answered = this.#tellsEnd ? withEnd(response) : fromWebResponse(response);
      if (this.#service !== null) sayFraming(answered.fields);
      return { kind: "answered", response: answered };
    } catch (cause) {
      return { kind: "failed", because: abort.signal.aborted ? "timed-out" : "unreachable", cause };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The answer with a body that tells when all of it has come. */
function withEnd(response: Response): OriginResponse {
  const answered = fromWebResponse(response);
  if (response.body === null) return answered;
  const lengthBytes = announcedBytes((name) => answered.fields.get(name));
  const { readable, writable } =
    lengthBytes === null ? new IdentityTransformStream() : new FixedLengthStream(lengthBytes);
  const ended = response.body.pipeTo(writable).catch(() => undefined); // its reader sees that it was cut off
  return { ...answered, body: readable, ended: () => ended };
}

/** A service's answer comes without the fields that frame a body. One that is cut off fails while it is read. */
function sayFraming(fields: Fields): void {
  if (!fields.has("content-length")) fields.set("transfer-encoding", "chunked");
}

/** The address that the visitor has asked, which the edge writes into each request: a worker makes its links from it. */
function publicUrlOf({ fields }: OriginRequest): string {
  const field = (wanted: string) => fields.find(([name]) => name === wanted)?.[1];
  return `${field("x-forwarded-proto")}://${field("x-forwarded-host")}`;
}
