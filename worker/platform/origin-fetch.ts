import type { Origin, OriginAnswer, OriginRequest } from "../ports.ts";

/*
 * The origin over the runtime's fetch. What the platform does and what is relied on:
 * - A worker's fetch is cached by file extension behind our back unless told not to: `cacheTtl: -1` says so, and adds
 *   no directive to the request (`cache: "no-store"` would).
 * - Bodies are decoded when they are read, unless told not to: `encodeResponseBody` keeps the bytes as they came.
 * - An interim 1xx answer comes back as the final one, with the real answer as its body: it counts as no answer.
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
    // The limit is on the head of the answer: a body may take as long as it takes.
    const timer = setTimeout(() => abort.abort(), this.#timeoutMs);
    try {
      const response = await fetch(this.url + request.pathAndQuery, {
        method: request.method,
        headers: request.fields.map(([name, value]) => [name, value]),
        body: request.body,
        redirect: "manual",
        encodeResponseBody: "manual",
        signal: abort.signal,
        cf: { cacheTtl: -1 },
      });
      if (response.status === 101) return { kind: "switched", response };
      if (response.status < 200 || response.status > 599) {
        await response.body?.cancel();
        return { kind: "failed", because: "bad-response", cause: `status ${response.status} as a final answer` };
      }
      return { kind: "answered", response };
    } catch (cause) {
      return { kind: "failed", because: abort.signal.aborted ? "timed-out" : "unreachable", cause };
    } finally {
      clearTimeout(timer);
    }
  }
}
