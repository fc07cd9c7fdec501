import { createHash } from "node:crypto";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { SYSTEM_CLOCK } from "../requests/clock.ts";
import { networkErrorText } from "../requests/network-error.ts";
import { Pace } from "../requests/pace.ts";
import { textOf } from "./charset.ts";
import { type Exchange, MAX_TEXT_BYTES } from "./exchange.ts";
import { credentialsOf, type Identity } from "./identity.ts";
import { applyInputs, type Input } from "./input.ts";
import { type HitField, provenanceOf } from "./provenance.ts";
import { type AuditedSite, type Target, withParameter } from "./target.ts";

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

/** A larger body is cut off. */
const MAX_BODY_BYTES = 64 * 1024 ** 2;

/** The fields of a plain request, like a browser's. */
const PLAIN_FIELDS = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "accept-encoding": "gzip, br",
  "accept-language": "en",
  "user-agent": "Mozilla/5.0 (compatible; tidemark-audit)",
};

/**
 * Sends the requests of the audit: only GET and HEAD, and only to the edge. Redirects are answers like others and are
 * not followed, so credentials cannot go to another origin.
 */
export class Prober {
  readonly #options: ProberOptions;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #pace: Pace;
  readonly #signal: AbortSignal;
  /** How many requests were sent. */
  requests = 0;
  /** How many of the answers say that they came from a cache. */
  fromStore = 0;

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#agent = new (options.edge.protocol === "https:" ? HttpsAgent : HttpAgent)({ keepAlive: true });
    this.#pace = new Pace(SYSTEM_CLOCK, 1000 / options.perSecond);
    this.#signal = options.signal ?? new AbortController().signal;
  }

  /** Throws `NoAnswerError`, and the signal's reason once it is aborted. */
  async ask(target: Target, who: string, buster: string | null, inputs: readonly Input[]): Promise<Exchange> {
    if (target.method !== "GET" && target.method !== "HEAD") throw new TypeError("the audit sends only GET and HEAD");
    await this.#pace.turn(this.#signal);
    this.#signal.throwIfAborted();
    const { edge, host, identities, hitFields } = this.#options;
    const plain = { ...PLAIN_FIELDS, ...credentialsOf(who, identities) };
    const { path, fields } = applyInputs(target.path, plain, inputs);
    this.requests++;
    const { incoming, body } = await this.#exchange({
      host: edge.hostname.replace(/^\[|\]$/g, ""),
      port: edge.port,
      method: target.method,
      path: buster === null ? path : withParameter(path, this.#options.buster, buster),
      headers: { host: host ?? edge.host, ...fields },
      ...serverName(edge, host),
    });
    const lines = fieldLines(incoming, buster);
    const provenance = provenanceOf(lines, hitFields);
    if (provenance === "hit") this.fromStore++;
    return {
      who,
      buster,
      inputs,
      status: incoming.statusCode ?? 0,
      fields: lines,
      ...readable(body, lines, buster),
      provenance,
    };
  }

  close(): void {
    this.#agent.destroy();
  }

  async #exchange(options: RequestOptions): Promise<RawAnswer> {
    const { timeoutMs } = this.#options;
    const late = AbortSignal.timeout(timeoutMs);
    const until = AbortSignal.any([this.#signal, late]);
    try {
      const first = await this.#send({ ...options, signal: until });
      // The server may have closed a connection just when it was used again. GET and HEAD may be sent again (RFC 9110 §9.2.2).
      const answer = first.kind === "connection-was-over" ? await this.#send({ ...options, signal: until }) : first;
      if (answer.kind === "answer") return answer;
      throw answer.cause;
    } catch (error) {
      this.#signal.throwIfAborted();
      const cause = error as Error & { code?: string };
      if (late.aborted) throw new NoAnswerError(`no answer within ${timeoutMs / 1000} s`, { cause });
      throw new NoAnswerError(networkErrorText(cause) ?? `no answer (${cause.code ?? cause.message})`, { cause });
    }
  }

  #send(options: RequestOptions): Promise<RawAnswer | ConnectionWasOver> {
    const send = this.#options.edge.protocol === "https:" ? httpsRequest : httpRequest;
    const { promise, resolve, reject } = Promise.withResolvers<RawAnswer | ConnectionWasOver>();
    let hasAnswer = false;
    const outgoing = send({ ...options, agent: this.#agent }, (incoming) => {
      hasAnswer = true;
      readBody(incoming).then((body) => resolve({ kind: "answer", incoming, body }), reject);
    });
    outgoing.on("error", (cause: Error & { code?: string }) => {
      const wasOver = outgoing.reusedSocket && !hasAnswer && /^(?:ECONNRESET|EPIPE)$/.test(cause.code ?? "");
      if (wasOver) resolve({ kind: "connection-was-over", cause });
      else reject(cause);
    });
    outgoing.end();
    return promise;
  }
}

interface RawAnswer {
  readonly kind: "answer";
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
}

interface ConnectionWasOver {
  readonly kind: "connection-was-over";
  readonly cause: Error;
}

/** The server's name for TLS, which its certificate has to have. An address is not a name (RFC 6066 §3). */
function serverName(edge: URL, host: string | null): { servername?: string } {
  const name = (host ?? edge.hostname).replace(/:\d+$/, "");
  return edge.protocol === "https:" && !isIP(name.replace(/^\[|\]$/g, "")) ? { servername: name } : {};
}

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

function fieldLines(
  { rawHeaders }: IncomingMessage,
  buster: string | null,
): Readonly<Record<string, readonly string[]>> {
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
  buster: string | null,
): Pick<Exchange, "text" | "isTooLong" | "bytes" | "digest"> {
  const plain = decoded(body, fields["content-encoding"]?.join() ?? "");
  const contentType = fields["content-type"]?.[0] ?? "";
  const bytes = plain.length;
  const digestOf = (content: Buffer | string) => createHash("sha256").update(content).digest("base64");
  if (textOf(plain.subarray(0, 4096), contentType).includes("\0")) return { text: "", bytes, digest: digestOf(plain) };
  const text = withoutBuster(textOf(plain, contentType), buster);
  const digest = digestOf(text);
  if (!isWords(contentType)) return { text: "", bytes, digest };
  return bytes > MAX_TEXT_BYTES ? { text: "", isTooLong: true, bytes, digest } : { text, bytes, digest };
}

function isWords(contentType: string): boolean {
  return !/^(?:image\/(?!svg)|video\/|audio\/|font\/|application\/(?:zip|pdf|octet-stream|wasm))/i.test(contentType);
}

function decoded(body: Buffer, coding: string): Buffer {
  const options = { maxOutputLength: MAX_BODY_BYTES };
  try {
    if (/^(x-)?gzip$/i.test(coding)) return gunzipSync(body, options);
    if (/^br$/i.test(coding)) return brotliDecompressSync(body, options);
    if (/^deflate$/i.test(coding)) return inflateSync(body, options);
    if (/^zstd$/i.test(coding)) return zstdDecompressSync(body, options);
  } catch {
    // A body that cannot be decoded is compared as it came.
  }
  return body;
}

function withoutBuster(text: string, buster: string | null): string {
  return buster === null ? text : text.replaceAll(buster, "BUSTER");
}
