import type { Origin, OriginAnswer, OriginRequest } from "../ports/origin.ts";
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

  constructor(url: string, timeoutMs: number) {
    this.url = url;
    this.#timeoutMs = timeoutMs;
  }

  async fetch(request: OriginRequest): Promise<OriginAnswer> {
    const abort = new AbortController();
    // The limit is for the head of the response. A body may take any length of time.
    const timer = setTimeout(() => abort.abort(), this.#timeoutMs);
    try {
      const response = await fetch(this.url + request.pathAndQuery, {
        method: request.method,
        headers: toWebHeaders(request.fields),
        body: request.body && streamOf(request.body),
        redirect: "manual",
        encodeResponseBody: "manual",
        signal: abort.signal,
        cf: { cacheTtl: -1 },
      });
      if (response.status === 101) return { kind: "switched", connection: response };
      if (response.status < 200 || response.status > 599) {
        await response.body?.cancel();
        return { kind: "failed", because: "bad-response", cause: `status ${response.status} as a final response` };
      }
      return { kind: "answered", response: fromWebResponse(response) };
    } catch (cause) {
      return { kind: "failed", because: abort.signal.aborted ? "timed-out" : "unreachable", cause };
    } finally {
      clearTimeout(timer);
    }
  }
}
