import { createHash } from "node:crypto";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { setTimeout as wait } from "node:timers/promises";
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import type { Exchange } from "./exchange.ts";
import type { Identity } from "./identity.ts";
import { applyInputs, type Input } from "./input.ts";
import { type HitField, provenanceOf } from "./provenance.ts";
import { type AuditedSite, type Target, withBuster } from "./target.ts";

/** A request had no answer. The message says why, without anything that was sent. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

export interface ProberOptions extends AuditedSite {
  /** The name of the parameter that is the cache-buster. */
  readonly buster: string;
  readonly identities: readonly Identity[];
  readonly hitFields: readonly HitField[];
  /** How many requests may begin in a second. */
  readonly perSecond: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** A body beyond this is read, so that a cache stores it, and compared by its digest alone. */
const MAX_TEXT_BYTES = 2 * 1024 ** 2;
/** A body beyond this is cut off. */
const MAX_BODY_BYTES = 64 * 1024 ** 2;

/** What a plain request has, like one of a browser. */
const PLAIN_FIELDS = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "accept-encoding": "gzip, br",
  "accept-language": "en",
  "user-agent": "Mozilla/5.0 (compatible; tidemark-audit)",
};

/**
 * Sends the requests of the walk: GET and HEAD alone, to the edge alone. Redirects are answers like others and are not
 * followed, so credentials cannot go to another origin. Nothing is sent a second time by itself.
 */
export class Prober {
  readonly #options: ProberOptions;
  readonly #agent: HttpAgent | HttpsAgent;
  #nextAt = 0;
  /** How many requests were sent. */
  requests = 0;
  /** How many of the answers say that they came from a store. */
  fromStore = 0;

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#agent = new (options.edge.protocol === "https:" ? HttpsAgent : HttpAgent)({ keepAlive: true });
  }

  /** Throws `NoAnswerError`, and the signal's reason once it is aborted. */
  async ask(target: Target, who: string, buster: string, inputs: readonly Input[]): Promise<Exchange> {
    if (target.method !== "GET" && target.method !== "HEAD") throw new TypeError("the audit sends GET and HEAD alone");
    await this.#turn();
    const { edge, host, identities, hitFields } = this.#options;
    const credentials = identities.find(({ name }) => name === who)?.credentials ?? {};
    const { path, fields } = applyInputs(target.path, { ...PLAIN_FIELDS, ...credentials }, inputs);
    this.requests++;
    const { incoming, body } = await this.#exchange({
      host: edge.hostname.replace(/^\[|\]$/g, ""),
      port: edge.port,
      method: target.method,
      path: withBuster(path, this.#options.buster, buster),
      headers: { host: host ?? edge.host, ...fields },
      ...(edge.protocol === "https:" && { servername: (host ?? edge.hostname).replace(/:\d+$/, "") }),
    });
    const lines = fieldLines(incoming, buster);
    const { text, bytes, digest } = readable(body, lines, buster);
    const provenance = provenanceOf(lines, hitFields);
    if (provenance === "hit") this.fromStore++;
    return {
      who,
      buster,
      inputs,
      status: incoming.statusCode ?? 0,
      fields: lines,
      text,
      digest,
      bytes,
      provenance,
    };
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Resolves when the next request may begin. */
  async #turn(): Promise<void> {
    const { perSecond, signal } = this.#options;
    signal?.throwIfAborted();
    const now = performance.now();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + 1000 / perSecond;
    if (at > now) await wait(at - now, undefined, signal ? { signal } : {});
  }

  #exchange(options: RequestOptions): Promise<{ incoming: IncomingMessage; body: Buffer }> {
    const { edge, timeoutMs, signal } = this.#options;
    const send = edge.protocol === "https:" ? httpsRequest : httpRequest;
    const late = AbortSignal.timeout(timeoutMs);
    const { promise, resolve, reject } = Promise.withResolvers<{ incoming: IncomingMessage; body: Buffer }>();
    const outgoing = send(
      { ...options, agent: this.#agent, signal: signal ? AbortSignal.any([signal, late]) : late },
      (incoming) => void readBody(incoming).then((body) => resolve({ incoming, body }), reject),
    );
    outgoing.on("error", reject);
    outgoing.end();
    return promise.catch((cause: Error & { code?: string }) => {
      signal?.throwIfAborted();
      if (late.aborted) throw new NoAnswerError(`no answer within ${timeoutMs / 1000} s`, { cause });
      throw new NoAnswerError(REASONS[cause.code ?? ""] ?? `no answer (${cause.code ?? cause.message})`, { cause });
    });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name of the host could not be looked up",
  ECONNRESET: "the connection ended in the middle of an answer",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is signed by itself; NODE_EXTRA_CA_CERTS can name it",
  CERT_HAS_EXPIRED: "its certificate has expired",
};

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function fieldLines({ rawHeaders }: IncomingMessage, buster: string): Readonly<Record<string, readonly string[]>> {
  const lines: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    lines[name] = [...(lines[name] ?? []), withoutBuster(rawHeaders[at + 1]!, buster)];
  }
  return lines;
}

/** The body for comparisons: without its coding, and without the buster that the page repeats. */
function readable(
  body: Buffer,
  fields: Readonly<Record<string, readonly string[]>>,
  buster: string,
): { text: string; bytes: number; digest: string } {
  const plain = decoded(body, fields["content-encoding"]?.join() ?? "");
  const digestOf = (content: Buffer | string) => createHash("sha256").update(content).digest("base64");
  const isText = plain.length <= MAX_TEXT_BYTES && !plain.subarray(0, 4096).includes(0);
  if (!isText) return { text: "", bytes: plain.length, digest: digestOf(plain) };
  const text = withoutBuster(plain.toString(), buster);
  return { text: isWords(fields) ? text : "", bytes: plain.length, digest: digestOf(text) };
}

function isWords(fields: Readonly<Record<string, readonly string[]>>): boolean {
  return !/^(?:image\/(?!svg)|video\/|audio\/|font\/|application\/(?:zip|pdf|octet-stream|wasm))/i.test(
    fields["content-type"]?.[0] ?? "",
  );
}

function decoded(body: Buffer, coding: string): Buffer {
  const options = { maxOutputLength: MAX_BODY_BYTES };
  try {
    if (/^(x-)?gzip$/i.test(coding)) return gunzipSync(body, options);
    if (/^br$/i.test(coding)) return brotliDecompressSync(body, options);
    if (/^deflate$/i.test(coding)) return inflateSync(body, options);
    if (/^zstd$/i.test(coding)) return zstdDecompressSync(body, options);
  } catch {
    // What cannot be decoded is compared as it came.
  }
  return body;
}

function withoutBuster(text: string, buster: string): string {
  return text.replaceAll(buster, "BUSTER");
}
